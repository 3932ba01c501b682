#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::data {

/// A piece of a template.
struct TemplateToken {
  enum class Kind {
    kData,         ///< text between tags, as it is written
    kOutputBegin,  ///< {{
    kOutputEnd,
    kBlockBegin,  ///< {%
    kBlockEnd,
    kName,
    kText,  ///< a quoted text, without quotes and escapes
    kInteger,
    kNumber,
    kOperator,
    kEnd,  ///< of the template
  };
  Kind kind = Kind::kEnd;
  std::string text = {};
  int line = 1;
  int64_t integer = 0;
  double number = 0.0;
};

/// Returns the tokens of a template. White space beside tags is treated as transformers does: a line end behind a block
/// is left out (trim_blocks), and so is white space between the begin of a line and a block (lstrip_blocks).
/// Requires: `source` is valid UTF-8. Throws: Error(kBadData), "NAME: line 3: ...".
[[nodiscard]] std::vector<TemplateToken> template_tokens(std::string_view source, const std::string& name);

/// Throws: Error(kBadData), "NAME: line LINE: MESSAGE".
[[noreturn]] void fail_at(const std::string& name, int line, const std::string& message);

}  // namespace dragoman::data
