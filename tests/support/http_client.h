#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace dragoman::test_support {

/// What came back for one request.
struct HttpAnswer {
  int status = 0;  ///< 0 = nothing, or no HTTP
  std::string head;
  std::string body;
};

/// A connection to a server on this machine that sends exactly the bytes it is given.
class HttpClient {
 public:
  explicit HttpClient(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  ~HttpClient() { close(); }
  HttpClient(HttpClient&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)),
        is_connected_(other.is_connected_),
        input_(std::move(other.input_)) {}
  HttpClient& operator=(HttpClient&& other) noexcept {
    std::swap(socket_, other.socket_);
    std::swap(is_connected_, other.is_connected_);
    std::swap(input_, other.input_);
    return *this;
  }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  bool is_connected() const { return is_connected_; }
  void close() {
    if (socket_ >= 0) {
      ::close(std::exchange(socket_, -1));
    }
  }
  void end_sending() const { ::shutdown(socket_, SHUT_WR); }

  /// False once the other side takes nothing more.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        return false;
      }
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }

  /// Waits for one whole answer: head, and body by Content-Length or chunks.
  HttpAnswer receive(std::chrono::milliseconds at_most = std::chrono::seconds(30)) {
    const auto end = std::chrono::steady_clock::now() + at_most;
    HttpAnswer answer;
    size_t head_end = 0;
    while ((head_end = input_.find("\r\n\r\n")) == std::string::npos) {
      if (!read_more(end)) {
        return answer;
      }
    }
    answer.head = input_.substr(0, head_end + 4);
    input_.erase(0, head_end + 4);
    answer.status = answer.head.starts_with("HTTP/1.1 ") ? std::atoi(answer.head.c_str() + 9) : 0;
    if (header(answer.head, "transfer-encoding") == "chunked") {
      receive_chunks(answer, end);
      return answer;
    }
    const size_t length = static_cast<size_t>(std::atoll(header(answer.head, "content-length").c_str()));
    while (input_.size() < length && read_more(end)) {
    }
    answer.body = input_.substr(0, length);
    input_.erase(0, std::min(length, input_.size()));
    return answer;
  }

  /// Sends a request with these headers and this body, and waits for the answer.
  HttpAnswer ask(const std::string& method, const std::string& path, const std::string& body = "",
                 const std::string& headers = "Content-Type: application/json\r\n") {
    send(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers +
         (method == "GET" ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n") + "\r\n" + body);
    return receive();
  }

  /// True when the other side closes within the time, nothing more having come.
  bool is_closed(std::chrono::milliseconds within = std::chrono::seconds(5)) {
    const auto end = std::chrono::steady_clock::now() + within;
    while (read_more(end)) {
    }
    return input_.empty() && has_ended_;
  }

  /// The value of a header of an answer, name in lower case.
  static std::string header(std::string_view head, std::string_view name) {
    std::string lower(head);
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
    const size_t at = lower.find("\r\n" + std::string(name) + ": ");
    if (at == std::string::npos) {
      return "";
    }
    const size_t begin = at + name.size() + 4;
    return lower.substr(begin, lower.find("\r\n", begin) - begin);
  }

 private:
  bool read_more(std::chrono::steady_clock::time_point end) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd waiting{socket_, POLLIN, 0};
    if (left.count() < 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) {
      return false;
    }
    char bytes[65536];
    const ssize_t size = ::recv(socket_, bytes, sizeof(bytes), 0);
    has_ended_ = size <= 0;
    if (size > 0) {
      input_.append(bytes, static_cast<size_t>(size));
    }
    return size > 0;
  }

  void receive_chunks(HttpAnswer& answer, std::chrono::steady_clock::time_point end) {
    while (true) {
      size_t line_end = 0;
      while ((line_end = input_.find("\r\n")) == std::string::npos) {
        if (!read_more(end)) {
          return;
        }
      }
      const size_t size = std::stoul(input_.substr(0, line_end), nullptr, 16);
      while (input_.size() < line_end + 2 + size + 2) {
        if (!read_more(end)) {
          return;
        }
      }
      answer.body += input_.substr(line_end + 2, size);
      input_.erase(0, line_end + 2 + size + 2);
      if (size == 0) {
        return;
      }
    }
  }

  int socket_;
  bool is_connected_ = false;
  bool has_ended_ = false;
  std::string input_;
};

}  // namespace dragoman::test_support
