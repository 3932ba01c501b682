#include "serving/http/charset.h"

#include <fmt/format.h>
#include <unicode/ucnv.h>
#include <unicode/unistr.h>

#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"
#include "serving/http/header_parameter.h"

namespace dragoman::serving {
namespace {

// ICU would look for a file of a name that it does not know, so a name is opened only if it is in ICU's table.
UConverter* open_converter(const std::string& name) {
  UErrorCode error = U_ZERO_ERROR;
  if (ucnv_countAliases(name.c_str(), &error) == 0 || U_FAILURE(error)) {
    return nullptr;
  }
  UConverter* const converter = ucnv_open(name.c_str(), &error);
  return U_FAILURE(error) ? nullptr : converter;
}

std::string_view name_of(const UConverter* converter) {
  UErrorCode error = U_ZERO_ERROR;
  const char* const name = ucnv_getName(converter, &error);
  return U_FAILURE(error) ? std::string_view() : std::string_view(name);
}

}  // namespace

void Charset::Close::operator()(UConverter* converter) const {
  ucnv_close(converter);
}

Charset::Charset(std::string_view name) {
  if (name.empty() || base::equal_ignoring_ascii_case(name, "utf-8")) {
    return;
  }
  converter_.reset(open_converter(std::string(name)));
  if (converter_ == nullptr) {
    throw HttpError(status::kUnsupportedMediaType,
                    fmt::format("the charset \"{}\" is not known; send UTF-8", base::repair_utf8(name)));
  }
  if (const std::string_view known = name_of(converter_.get()); known == "UTF-8") {
    converter_.reset();
  } else if (known == "ISO-8859-1" || known == "US-ASCII") {
    converter_.reset(open_converter("windows-1252"));
  }
}

Charset::~Charset() = default;

bool Charset::has_ascii() const {
  std::string ascii;
  for (char c = ' '; c <= '~'; ++c) {
    ascii += c;
  }
  return to_utf8(ascii) == ascii;
}

std::string Charset::to_utf8(std::string_view bytes) const {
  if (converter_ == nullptr) {
    return std::string(bytes);
  }
  UErrorCode error = U_ZERO_ERROR;
  ucnv_reset(converter_.get());
  const icu::UnicodeString text(bytes.data(), static_cast<int32_t>(bytes.size()), converter_.get(), error);
  std::string result;
  if (U_SUCCESS(error)) {
    text.toUTF8String(result);
  }
  return result;
}

std::string charset_of(const Request& request) {
  return header_parameter(request.header("Content-Type"), "charset").value_or("");
}

std::string document_as_utf8(std::string_view bytes, std::string_view charset) {
  constexpr std::pair<std::string_view, std::string_view> kMarks[] = {{base::kByteOrderMark, "UTF-8"},
                                                                      {std::string_view("\xFF\xFE\0\0", 4), "UTF-32LE"},
                                                                      {std::string_view("\0\0\xFE\xFF", 4), "UTF-32BE"},
                                                                      {"\xFF\xFE", "UTF-16LE"},
                                                                      {"\xFE\xFF", "UTF-16BE"}};
  for (const auto& [mark, name] : kMarks) {
    if (bytes.starts_with(mark)) {
      return Charset(name).to_utf8(bytes.substr(mark.size()));
    }
  }
  return Charset(charset).to_utf8(bytes);
}

}  // namespace dragoman::serving
