#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::serving {

/// A part of a text with markup, as HtmlTokenizer and xml_lexemes find it. All lexemes together are the text, byte for
/// byte.
struct Lexeme {
  enum class Kind {
    kText,
    kStartTag,
    kEndTag,
    kComment,
    kBogusComment,  ///< what HTML reads as a comment, such as "<?x>", "<!x>" and "</ x>"
    kDoctype,
    kCdata,        ///< from "<![CDATA[" to "]]>"
    kInstruction,  ///< XML: "<?x y?>", and the XML declaration
    kEntity,       ///< XML: a reference to an entity that is not a character
    kDropped,      ///< what HTML drops: "</>", and a tag that does not end
  };
  struct Attribute {
    std::string name;
    std::string value;
  };
  struct Doctype {
    std::optional<std::string> name;
    std::optional<std::string> public_id;
    std::optional<std::string> system_id;
    bool is_correct = true;
  };

  Kind kind = Kind::kText;
  std::string_view bytes;
  std::string name = {};                   ///< of a tag; HTML: in lower case
  std::vector<Attribute> attributes = {};  ///< of a start tag
  bool is_self_closing = false;            ///< the tag ends with "/>"
  bool is_closed = true;                   ///< false if the text ends inside the lexeme
  std::string data = {};                   ///< the text of a comment or of a CDATA section
  Doctype doctype = {};
};

}  // namespace dragoman::serving
