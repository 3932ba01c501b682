#include "serving/text/xml_lexemes.h"

#include <expat.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <set>

#include "base/error.h"
#include "base/utf8.h"
#include "serving/text/character_references.h"
#include "serving/text/html_text.h"

namespace dragoman::serving {
namespace {

using LexemeKind = Lexeme::Kind;

constexpr std::string_view kRootBegin = "<text>";
constexpr std::string_view kRootEnd = "</text>";
constexpr std::string_view kXmlDoctype = "<!DOCTYPE";
constexpr std::string_view kXmlDeclaration = "<?xml";

struct FreeParser {
  void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
};
using Parser = std::unique_ptr<std::remove_pointer_t<XML_Parser>, FreeParser>;

// Returns the offset behind the blanks, comments and instructions at the front.
size_t behind_prolog(std::string_view xml) {
  size_t at = 0;
  while (true) {
    at = std::min(xml.find_first_not_of(kHtmlBlanks, at), xml.size());
    const std::string_view rest = xml.substr(at);
    const std::string_view end = rest.starts_with("<!--") ? "-->" : rest.starts_with("<?") ? "?>" : "";
    const size_t found = end.empty() ? std::string_view::npos : rest.find(end);
    if (found == std::string_view::npos) {
      return at;
    }
    at += found + end.size();
  }
}

bool is_document(std::string_view xml) {
  const std::string_view trimmed = xml.substr(std::min(xml.find_first_not_of(kHtmlBlanks), xml.size()));
  const bool is_declared = trimmed.starts_with(kXmlDeclaration) && trimmed.size() > kXmlDeclaration.size() &&
                           is_blank(trimmed.substr(kXmlDeclaration.size(), 1));
  return is_declared || xml.substr(behind_prolog(xml)).starts_with(kXmlDoctype);
}

// Reads one text. The handlers note where each lexeme begins: it ends where the next one begins.
class XmlReader {
 public:
  explicit XmlReader(std::string_view xml) : xml_(xml), parser_(XML_ParserCreate("UTF-8")) {
    if (parser_ == nullptr) {
      throw std::bad_alloc();
    }
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(parser_.get(), on_start, on_end);
    XML_SetCharacterDataHandler(parser_.get(), on_text);
    XML_SetProcessingInstructionHandler(parser_.get(), on_instruction);
    XML_SetCommentHandler(parser_.get(), on_comment);
    XML_SetCdataSectionHandler(parser_.get(), on_cdata_begin, on_cdata_end);
    XML_SetEndDoctypeDeclHandler(parser_.get(), on_doctype_end);
    XML_SetEntityDeclHandler(parser_.get(), on_declared);
    XML_SetSkippedEntityHandler(parser_.get(), on_entity);
    XML_SetDefaultHandler(parser_.get(), on_other);  // also: expand no entity
    XML_UseForeignDTD(parser_.get(), XML_TRUE);      // an unknown entity is no error
  }

  std::vector<Lexeme> lexemes() {
    if (is_document(xml_)) {
      front_ = std::min(xml_.find_first_not_of(kHtmlBlanks), xml_.size());
      parse(std::string(xml_.substr(front_)));
    } else {
      is_wrapped_ = true;
      parse(std::string(kRootBegin).append(xml_).append(kRootEnd));
    }
    if (front_ > 0) {
      lexemes_.insert(lexemes_.begin(), Lexeme{.kind = LexemeKind::kText, .bytes = {}});
      begins_.insert(begins_.begin(), 0);
    }
    for (size_t i = 0; i < lexemes_.size(); ++i) {
      const size_t end = i + 1 < begins_.size() ? begins_[i + 1] : xml_.size();
      lexemes_[i].bytes = xml_.substr(begins_[i], end - begins_[i]);
    }
    return std::move(lexemes_);
  }

 private:
  // Exceptions must not pass through the library: they wait for its end.
  template <typename Action>
  static void guarded(void* data, Action action) {
    XmlReader& reader = *static_cast<XmlReader*>(data);
    if (reader.error_) {
      return;
    }
    try {
      action(reader);
    } catch (...) {
      reader.error_ = std::current_exception();
      XML_StopParser(reader.parser_.get(), XML_FALSE);
    }
  }

  static void on_start(void* data, const char* name, const char** attributes) {
    guarded(data, [&](XmlReader& reader) { reader.start(name, attributes); });
  }
  static void on_end(void* data, const char* name) {
    guarded(data, [&](XmlReader& reader) { reader.end(name); });
  }
  static void on_text(void* data, const char* /*text*/, int /*size*/) {
    guarded(data, [](XmlReader& reader) { reader.add(LexemeKind::kText); });
  }
  static void on_instruction(void* data, const char* /*target*/, const char* /*text*/) {
    guarded(data, [](XmlReader& reader) { reader.add(LexemeKind::kInstruction); });
  }
  static void on_comment(void* data, const char* /*text*/) {
    guarded(data, [](XmlReader& reader) { reader.add(LexemeKind::kComment); });
  }
  static void on_cdata_begin(void* data) {
    guarded(data, [](XmlReader& reader) {
      reader.add(LexemeKind::kCdata);
      reader.is_inside_ = true;
    });
  }
  static void on_cdata_end(void* data) { static_cast<XmlReader*>(data)->is_inside_ = false; }
  static void on_doctype_end(void* data) { static_cast<XmlReader*>(data)->is_inside_ = false; }
  static void on_declared(void* data, const char* name, int /*is_parameter*/, const char* /*value*/, int /*size*/,
                          const char* /*base*/, const char* /*system_id*/, const char* /*public_id*/,
                          const char* /*notation*/) {
    guarded(data, [&](XmlReader& reader) { reader.declared_.insert(name); });
  }
  static void on_entity(void* data, const char* name, int is_parameter) {
    guarded(data, [&](XmlReader& reader) {
      if (is_parameter == 0) {
        reader.add(reader.is_character(name) ? LexemeKind::kText : LexemeKind::kEntity);
      }
    });
  }
  // The declaration, the DOCTYPE token by token, external entities, and blanks outside the root.
  static void on_other(void* data, const char* text, int size) {
    guarded(data, [&](XmlReader& reader) {
      const std::string_view bytes(text, static_cast<size_t>(size));
      const bool is_doctype = bytes == kXmlDoctype;
      reader.add(is_doctype                           ? LexemeKind::kDoctype
                 : bytes.starts_with(kXmlDeclaration) ? LexemeKind::kInstruction
                 : bytes.starts_with('&')             ? LexemeKind::kEntity
                                                      : LexemeKind::kText);
      reader.is_inside_ = reader.is_inside_ || is_doctype;
    });
  }

  // Returns the bytes before the text that is parsed, as an offset of the text.
  size_t here() const {
    const auto index = static_cast<size_t>(std::max<XML_Index>(XML_GetCurrentByteIndex(parser_.get()), 0));
    return index + front_ - (is_wrapped_ ? std::min(index, kRootBegin.size()) : 0);
  }

  // Whether a reference to an entity stands for a character: HTML has its name, and the text does not declare it.
  bool is_character(const std::string& name) const {
    const std::string reference = "&" + name + ";";
    const auto known = reference_at(reference, ReferencePlace::kXml);
    return !declared_.contains(name) && known && known->size == reference.size();
  }

  void add(LexemeKind kind) {
    if (is_inside_ || (kind == LexemeKind::kText && !lexemes_.empty() && lexemes_.back().kind == LexemeKind::kText)) {
      return;
    }
    lexemes_.push_back({.kind = kind, .bytes = {}});
    begins_.push_back(here());
  }

  void start(const char* name, const char** attributes) {
    const auto index = static_cast<size_t>(XML_GetCurrentByteIndex(parser_.get()));
    const auto size = static_cast<size_t>(XML_GetCurrentByteCount(parser_.get()));
    const bool is_self_closing = std::string_view(parsed_).substr(index, size).ends_with("/>");
    self_closing_.push_back(is_self_closing);
    if (is_wrapped_ && self_closing_.size() == 1) {
      return;
    }
    add(LexemeKind::kStartTag);
    lexemes_.back().name = name;
    lexemes_.back().is_self_closing = is_self_closing;
    for (; attributes[0] != nullptr; attributes += 2) {
      lexemes_.back().attributes.push_back({attributes[0], attributes[1]});
    }
  }

  void end(const char* name) {
    const bool is_part_of_start = self_closing_.back();
    self_closing_.pop_back();
    if (is_part_of_start || (is_wrapped_ && self_closing_.empty())) {
      return;
    }
    add(LexemeKind::kEndTag);
    lexemes_.back().name = name;
  }

  void parse(std::string text) {
    parsed_ = std::move(text);
    constexpr size_t kMost = size_t{1} << 30U;
    base::check_usage(parsed_.size() < kMost, "XML has {} bytes, must have fewer than {}; send it in parts",
                      parsed_.size(), kMost);
    const XML_Status status = XML_Parse(parser_.get(), parsed_.data(), static_cast<int>(parsed_.size()), XML_TRUE);
    if (error_) {
      std::rethrow_exception(error_);
    }
    if (status == XML_STATUS_OK) {
      return;
    }
    const XML_Error code = XML_GetErrorCode(parser_.get());
    if (code == XML_ERROR_NO_MEMORY) {
      throw std::bad_alloc();
    }
    const std::string_view before = xml_.substr(0, std::min(here(), xml_.size()));
    const size_t line_begin = before.rfind('\n') + 1;  // npos + 1 = 0
    base::fail(base::ErrorKind::kUsage, "Tag handling parsing failed, please check input: {} at line {}, column {}",
               XML_ErrorString(code), std::ranges::count(before, '\n') + 1,
               base::decode_utf8(before.substr(line_begin)).size() + 1);
  }

  std::string_view xml_;
  Parser parser_;
  std::string parsed_;       // the text, perhaps inside a root
  size_t front_ = 0;         // blanks before a document
  bool is_wrapped_ = false;  // a root is around the text
  bool is_inside_ = false;   // a CDATA section or a DOCTYPE, which are one lexeme
  std::vector<Lexeme> lexemes_;
  std::vector<size_t> begins_;      // of each lexeme
  std::set<std::string> declared_;  // entities
  std::vector<bool> self_closing_;  // one for each open element
  std::exception_ptr error_;
};

}  // namespace

std::vector<Lexeme> xml_lexemes(std::string_view xml) {
  return XmlReader(xml).lexemes();
}

}  // namespace dragoman::serving
