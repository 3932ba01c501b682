#pragma once

#include <string>
#include <vector>

namespace dragoman::serving {

/// Bytes that must be refused with this status, after which the connection is closed. Behind each are bytes that a more
/// lenient server would read as a second request.
struct FramingCase {
  std::string what;
  std::string bytes;
  int status = 400;
};

inline std::vector<FramingCase> framing_cases() {
  using namespace std::string_literals;
  const std::string line = "POST /translate HTTP/1.1\r\n";
  const std::string start = line + "Host: a\r\n";
  const std::string hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string chunks = "0\r\n\r\n" + hidden;
  const auto with = [&](const std::string& headers, const std::string& rest) {
    return start + headers + "\r\n" + rest;
  };
  const std::string chunked = "Transfer-Encoding: chunked\r\n";
  std::vector<FramingCase> cases = {
      {"length and chunked", with("Content-Length: 5\r\n" + chunked, chunks)},
      {"chunked and length", with(chunked + "Content-Length: 5\r\n", chunks)},
      {"length 0 and chunked", with("Content-Length: 0\r\n" + chunked, chunks)},
      {"two lengths", with("Content-Length: 5\r\nContent-Length: 6\r\n", "hello" + hidden)},
      {"two equal lengths", with("Content-Length: 5\r\nContent-Length: 5\r\n", "hello" + hidden)},
      {"length as a list", with("Content-Length: 5, 5\r\n", "hello" + hidden)},
      {"length with a plus", with("Content-Length: +5\r\n", "hello" + hidden)},
      {"negative length", with("Content-Length: -5\r\n", hidden)},
      {"hexadecimal length", with("Content-Length: 0x5\r\n", "hello" + hidden)},
      {"length with a fraction", with("Content-Length: 5.0\r\n", "hello" + hidden)},
      {"length with an exponent", with("Content-Length: 5e0\r\n", "hello" + hidden)},
      {"length with a space inside", with("Content-Length: 1 0\r\n", "hello" + hidden)},
      {"empty length", with("Content-Length:\r\n", hidden)},
      {"length beyond 64 bits", with("Content-Length: 18446744073709551621\r\n", "hello" + hidden)},
      {"length in words", with("Content-Length: five\r\n", "hello" + hidden)},
      {"length in other digits", with("Content-Length: \xD9\xA5\r\n", "hello" + hidden)},
      {"length with a NUL", with("Content-Length: 5\0\r\n"s, "hello" + hidden)},
      {"space before the colon of the length", with("Content-Length : 5\r\n", "hello" + hidden)},
      {"tab before the colon of the length", with("Content-Length\t: 5\r\n", "hello" + hidden)},
      {"space before the colon of the coding", with("Transfer-Encoding : chunked\r\n", chunks)},
      {"coding twice", with(chunked + chunked, chunks)},
      {"coding twice, one unknown", with(chunked + "Transfer-Encoding: x\r\n", chunks)},
      {"coding unknown", with("Transfer-Encoding: x\r\n", hidden)},
      {"coding as a list", with("Transfer-Encoding: gzip, chunked\r\n", chunks)},
      {"chunked not last", with("Transfer-Encoding: chunked, identity\r\n", chunks)},
      {"chunked with a comma", with("Transfer-Encoding: ,chunked\r\n", chunks)},
      {"chunked in quotes", with("Transfer-Encoding: \"chunked\"\r\n", chunks)},
      {"xchunked", with("Transfer-Encoding: xchunked\r\n", chunks)},
      {"chunked with a parameter", with("Transfer-Encoding: chunked;q=1\r\n", chunks)},
      {"chunked with a vertical tab", with("Transfer-Encoding: \x0B"
                                           "chunked\r\n",
                                           chunks)},
      {"identity", with("Transfer-Encoding: identity\r\nContent-Length: 5\r\n", "hello" + hidden)},
      {"empty coding", with("Transfer-Encoding:\r\n", hidden)},
      {"chunked in HTTP/1.0", "POST /translate HTTP/1.0\r\n" + chunked + "\r\n" + chunks},
      {"coding in a second line", with("X: y\r\n Transfer-Encoding: chunked\r\n", chunks)},
      {"value in a second line", with("Transfer-Encoding:\r\n chunked\r\n", chunks)},
      {"value in a second line after a tab", with("X: y\r\n\tz\r\n", hidden)},
      {"first header folded", line + " Host: a\r\n\r\n" + hidden},
      {"bare LF after the request line", "POST /translate HTTP/1.1\nHost: a\r\n\r\n" + hidden},
      {"bare LF after a header", line + "Host: a\nContent-Length: 5\r\n\r\nhello" + hidden},
      {"bare LF in a value", with("X: y\nContent-Length: 40\r\n", hidden)},
      {"bare CR in a value", with("X: y\rContent-Length: 40\r\n", hidden)},
      {"bare CR before the end", line + "Host: a\r\r\n\r\n" + hidden},
      {"NUL in a name", with("X\0Y: z\r\n"s, hidden)},
      {"NUL in a value", with("X: y\0z\r\n"s, hidden)},
      {"control character in a value", with("X: y\x01\r\n", hidden)},
      {"DEL in a value", with("X: y\x7F\r\n", hidden)},
      {"header without a colon", with("X\r\n", hidden)},
      {"header without a name", with(": y\r\n", hidden)},
      {"header with a space in its name", with("X Y: z\r\n", hidden)},
      {"header with parentheses in its name", with("X(Y): z\r\n", hidden)},
      {"name in other letters", with("Contentlength\xC3\xA4: 5\r\n", hidden)},
      {"no Host", line + "\r\n" + hidden},
      {"two Hosts", with("Host: b\r\n", hidden)},
      {"Host with a path", line + "Host: a/b\r\n\r\n" + hidden},
      {"Host with a user", line + "Host: u@a\r\n\r\n" + hidden},
      {"Host with a space", line + "Host: a b\r\n\r\n" + hidden},
      {"no version", "POST /translate\r\nHost: a\r\n\r\n" + hidden},
      {"version with a tab", "POST /translate\tHTTP/1.1\r\nHost: a\r\n\r\n" + hidden},
      {"two spaces before the version", "POST /translate  HTTP/1.1\r\nHost: a\r\n\r\n" + hidden},
      {"space in the target", "POST /trans late HTTP/1.1\r\nHost: a\r\n\r\n" + hidden},
      {"space before the method", " POST /translate HTTP/1.1\r\nHost: a\r\n\r\n" + hidden},
      {"no method", "/translate HTTP/1.1\r\nHost: a\r\n\r\n" + hidden},
      {"method with a colon", "PO:ST /translate HTTP/1.1\r\nHost: a\r\n\r\n" + hidden},
      {"target without a slash", "POST translate HTTP/1.1\r\nHost: a\r\n\r\n" + hidden},
      {"absolute target with a user", "POST http://u@a/translate HTTP/1.1\r\nHost: a\r\n\r\n" + hidden},
      {"absolute target without a host", "POST http:///translate HTTP/1.1\r\nHost: a\r\n\r\n" + hidden},
      {"absolute target with a port alone", "POST http://:80/translate HTTP/1.1\r\nHost: a\r\n\r\n" + hidden},
      {"absolute target of another scheme", "POST ftp://a/translate HTTP/1.1\r\nHost: a\r\n\r\n" + hidden},
      {"absolute target without Host", "POST http://a/translate HTTP/1.1\r\n\r\n" + hidden},
      {"target of a proxy", "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n" + hidden},
      {"target with a fragment", "POST /a#b HTTP/1.1\r\nHost: a\r\n\r\n" + hidden},
      {"target in other letters", "POST /\xC3\xA4 HTTP/1.1\r\nHost: a\r\n\r\n" + hidden},
      {"version in lower case", "POST /translate http/1.1\r\nHost: a\r\n\r\n" + hidden},
      {"bare LF first", "\nPOST /translate HTTP/1.1\r\nHost: a\r\n\r\n" + hidden},
      {"bare CR first", "\rPOST /translate HTTP/1.1\r\nHost: a\r\n\r\n" + hidden},
      {"two CR first", "\r\r\nPOST /translate HTTP/1.1\r\nHost: a\r\n\r\n" + hidden},
      {"bytes of TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xFC\x03\x03\r\n\r\n"s},
      {"version 2", "POST /translate HTTP/2.0\r\nHost: a\r\n\r\n" + hidden, 505},
      {"version 1.2", "POST /translate HTTP/1.2\r\nHost: a\r\n\r\n" + hidden, 505},
      {"preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"gzip", with("Content-Encoding: gzip\r\nContent-Length: 5\r\n", "hello" + hidden), 415},
      {"another expectation", with("Expect: 200-ok\r\n", hidden), 417},
  };
  const std::vector<std::pair<std::string, std::string>> bodies = {
      {"negative chunk", "-2\r\nab\r\n0\r\n\r\n"},
      {"chunk size with 0x", "0x2\r\nab\r\n0\r\n\r\n"},
      {"chunk size beyond 64 bits", "10000000000000002\r\nab\r\n0\r\n\r\n"},
      {"chunk size with a space before", " 2\r\nab\r\n0\r\n\r\n"},
      {"chunk size missing", "\r\nab\r\n0\r\n\r\n"},
      {"chunk size in words", "two\r\nab\r\n0\r\n\r\n"},
      {"chunk longer than its size", "2\r\nabc\r\n0\r\n\r\n"},
      {"chunk line that ends in LF", "2\nab\n0\n\n"},
      {"bare CR in a chunk line", "2\rX\r\nab\r\n0\r\n\r\n"},
  };
  for (const auto& [what, body] : bodies) {
    cases.push_back({what, with(chunked, body + hidden)});
  }
  return cases;
}

}  // namespace dragoman::serving
