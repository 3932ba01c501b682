#include "serving/text/html_tokens.h"

#include <algorithm>
#include <span>

#include "base/ascii.h"
#include "serving/text/element_stack.h"
#include "serving/text/html_text.h"
#include "serving/text/html_tokenizer.h"
#include "serving/text/numbered_tags.h"
#include "serving/text/xml_lexemes.h"

namespace dragoman::serving {
namespace {

using Kind = HtmlToken::Kind;

// Elements inside a sentence: the phrasing content of HTML and older elements, without embedded pictures, controls and
// programs.
constexpr std::string_view kInline[] = {"a",     "abbr", "acronym", "b",  "bdi",  "bdo",   "big",  "cite",   "code",
                                        "data",  "del",  "dfn",     "em", "font", "i",     "img",  "ins",    "kbd",
                                        "label", "mark", "q",       "s",  "samp", "small", "span", "strike", "strong",
                                        "sub",   "sup",  "time",    "tt", "u",    "var",   "wbr"};
// Elements of HTML whose content is no markup, and how it is read.
constexpr std::pair<std::string_view, HtmlContent> kRaw[] = {
    {"title", HtmlContent::kRcdata},     {"textarea", HtmlContent::kRcdata}, {"style", HtmlContent::kRawtext},
    {"xmp", HtmlContent::kRawtext},      {"iframe", HtmlContent::kRawtext},  {"noembed", HtmlContent::kRawtext},
    {"noframes", HtmlContent::kRawtext}, {"script", HtmlContent::kScript},   {"plaintext", HtmlContent::kPlaintext}};
constexpr std::string_view kNeverTranslated[] = {"script", "style",   "textarea", "xmp",
                                                 "iframe", "noembed", "noframes", "plaintext"};
constexpr std::string_view kUsuallyKept[] = {"code", "pre"};
constexpr std::string_view kXmlNeverTranslated[] = {"script", "style", "textarea"};
constexpr std::string_view kControls[] = {"button", "object", "select"};  // special, but inside a sentence
constexpr std::string_view kXmlBlocks[] = {"script", "style", "textarea", "pre"};

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::string_view attribute_of(const Lexeme& tag, std::string_view name) {
  const auto found = std::ranges::find(tag.attributes, name, &Lexeme::Attribute::name);
  return found == tag.attributes.end() ? std::string_view() : std::string_view(found->value);
}

bool has_attribute(const Lexeme& tag, std::string_view name) {
  return std::ranges::find(tag.attributes, name, &Lexeme::Attribute::name) != tag.attributes.end();
}

bool has_class(const Lexeme& tag, std::string_view name) {
  std::string_view rest = attribute_of(tag, "class");
  while (!rest.empty()) {
    const size_t end = std::min(rest.find_first_of(kHtmlBlanks), rest.size());
    if (rest.substr(0, end) == name) {
      return true;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

// What an element says of its content.
enum class Rule { kAsAround, kTranslated, kKept, kAlwaysKept };

Rule rule_of(const Lexeme& tag, const MarkupOptions& options) {
  const bool is_never = options.is_xml ? contains(kXmlNeverTranslated, tag.name) : contains(kNeverTranslated, tag.name);
  if (is_never || contains(options.left_alone, tag.name)) {
    return Rule::kAlwaysKept;
  }
  const std::string translate = base::ascii_lower_case(attribute_of(tag, "translate"));
  if (translate == "no" || has_class(tag, "notranslate")) {
    return Rule::kKept;
  }
  if (translate == "yes" || (translate.empty() && has_attribute(tag, "translate"))) {
    return Rule::kTranslated;
  }
  return contains(kUsuallyKept, tag.name) ? Rule::kKept : Rule::kAsAround;
}

// A lexeme, and the element around it whose content is not translated: the number of its start tag from 1, or 0.
struct Part {
  Lexeme lexeme;
  size_t keeper = 0;
};

// What is known of an element whose content is not translated.
struct Keeper {
  std::string name;
  bool is_closed = false;  // by its end tag
  size_t runs = 0;         // of parts without a translated part between them
};

// Reads all lexemes and finds which of them are not translated.
class PartReader {
 public:
  PartReader(std::string_view markup, const MarkupOptions& options) : markup_(markup), options_(options) {}

  void read() {
    options_.is_xml ? read_xml() : read_html();
    size_t last = 0;
    for (const Part& part : parts) {
      keepers[part.keeper].runs += part.keeper != last ? 1 : 0;
      last = part.keeper;
    }
  }

  std::vector<Part> parts;
  std::vector<Keeper> keepers = {Keeper{}};  // number 0 is none

 private:
  void read_xml() {
    for (Lexeme& lexeme : xml_lexemes(markup_)) {
      add(std::move(lexeme));
    }
  }

  void read_html() {
    HtmlTokenizer tokenizer(markup_);
    while (auto lexeme = tokenizer.next()) {
      const bool is_start = lexeme->kind == Lexeme::Kind::kStartTag;
      if (is_start) {
        stack_.end_before(lexeme->name);
      } else if (lexeme->kind == Lexeme::Kind::kText && !is_blank(lexeme->bytes)) {
        stack_.end_before_words();
      }
      const std::string name = is_start ? lexeme->name : std::string();
      add(*std::move(lexeme));
      set_content(tokenizer, name);
    }
  }

  // @param start_tag  the name of the last lexeme if that is a start tag
  void set_content(HtmlTokenizer& tokenizer, std::string_view start_tag) const {
    tokenizer.set_has_cdata(stack_.innermost().is_foreign);
    const auto* const raw = std::ranges::find(kRaw, start_tag, &std::pair<std::string_view, HtmlContent>::first);
    if (raw != std::end(kRaw) && !stack_.innermost().is_foreign) {
      tokenizer.set_content(raw->second, start_tag);
    }
  }

  void add(Lexeme lexeme) {
    size_t keeper = stack_.innermost().keeper;
    if (lexeme.kind == Lexeme::Kind::kStartTag && holds_content(lexeme)) {
      keeper = open(lexeme);
    } else if (lexeme.kind == Lexeme::Kind::kEndTag && ends_element(lexeme)) {
      const ElementStack::Element closed = stack_.close(lexeme.name);
      keeper = closed.name.empty() ? keeper : closed.keeper;
      if (closed.is_keeper) {
        keepers[closed.keeper].is_closed = true;
      }
    }
    parts.push_back({std::move(lexeme), keeper});
  }

  // What follows the end of the body belongs to the body.
  bool ends_element(const Lexeme& tag) const { return options_.is_xml || (tag.name != "body" && tag.name != "html"); }

  // HTML does not close an element with "/>" outside svg and math; here it closes the elements `left_alone` too.
  bool holds_content(const Lexeme& tag) const {
    const bool may_close = options_.is_xml || stack_.is_inside_foreign() || tag.name == "svg" || tag.name == "math" ||
                           contains(options_.left_alone, tag.name);
    return !(tag.is_self_closing && may_close) && (options_.is_xml || !is_void_element(tag.name));
  }

  // Opens an element. Returns its keeper.
  size_t open(const Lexeme& tag) {
    const ElementStack::Element& around = stack_.innermost();
    const Rule rule = around.is_final ? Rule::kAsAround : rule_of(tag, options_);
    const bool is_kept = rule == Rule::kKept || rule == Rule::kAlwaysKept;
    ElementStack::Element element{.name = tag.name, .keeper = around.keeper};
    element.is_final = around.is_final || rule == Rule::kAlwaysKept;
    element.says_kept = is_kept;
    if (rule == Rule::kTranslated) {
      element.keeper = 0;
    } else if (is_kept && around.keeper == 0) {
      element.keeper = keepers.size();
      element.is_keeper = true;
      keepers.push_back({.name = tag.name});
    }
    return stack_.open(std::move(element)).keeper;
  }

  std::string_view markup_;
  const MarkupOptions& options_;
  ElementStack stack_;
};

// Returns the kind of a lexeme that is translated or stands between translated ones.
Kind kind_of(const Lexeme& lexeme, const MarkupOptions& options) {
  switch (lexeme.kind) {
    case Lexeme::Kind::kText:
      return Kind::kText;
    case Lexeme::Kind::kComment:
      return lexeme.is_closed ? Kind::kPoint : Kind::kBreak;
    case Lexeme::Kind::kCdata:
    case Lexeme::Kind::kEntity:
      return lexeme.is_closed ? Kind::kKept : Kind::kBreak;
    case Lexeme::Kind::kInstruction:
      return lexeme.bytes.starts_with("<?xml ") ? Kind::kBreak : Kind::kPoint;
    case Lexeme::Kind::kStartTag:
    case Lexeme::Kind::kEndTag:
      break;
    default:
      return Kind::kBreak;
  }
  const bool is_end = lexeme.kind == Lexeme::Kind::kEndTag;
  const bool is_numbered = lexeme.name.find_first_not_of("0123456789") == std::string::npos;
  const bool is_left_alone = contains(options.left_alone, lexeme.name) && !is_special_element(lexeme.name);
  const bool is_inline = options.is_xml || is_numbered || is_left_alone || contains(kInline, lexeme.name);
  if (!contains(options.non_splitting, lexeme.name) && (!is_inline || contains(options.splitting, lexeme.name))) {
    return Kind::kBreak;
  }
  const bool is_point = lexeme.is_self_closing || (!options.is_xml && is_void_element(lexeme.name));
  return is_end ? Kind::kEnd : is_point ? Kind::kPoint : Kind::kStart;
}

// Returns the kind of an element that is not translated.
Kind kind_of(const Keeper& keeper, const MarkupOptions& options) {
  const bool is_block = options.is_xml ? contains(kXmlBlocks, keeper.name)
                                       : is_special_element(keeper.name) && !contains(kControls, keeper.name);
  const bool is_break = is_block || contains(options.splitting, keeper.name);
  return is_break || !keeper.is_closed || keeper.runs != 1 ? Kind::kBreak : Kind::kKept;
}

// Returns the lexemes. What is not translated is joined: a kEntity may stand inside a sentence, a kDropped ends it.
std::vector<Lexeme> joined_lexemes(std::string_view html, const MarkupOptions& options) {
  PartReader reader(html, options);
  reader.read();
  std::vector<Lexeme> lexemes;
  size_t last = 0;
  for (Part& part : reader.parts) {
    const Keeper& keeper = reader.keepers[part.keeper];
    if (part.keeper == 0) {
      lexemes.push_back(std::move(part.lexeme));
    } else if (part.keeper == last) {
      std::string_view& bytes = lexemes.back().bytes;
      bytes = std::string_view(bytes.data(), bytes.size() + part.lexeme.bytes.size());
    } else {
      const bool is_inside = kind_of(keeper, options) == Kind::kKept;
      lexemes.push_back({.kind = is_inside ? Lexeme::Kind::kEntity : Lexeme::Kind::kDropped,
                         .bytes = part.lexeme.bytes,
                         .name = keeper.name});
    }
    last = part.keeper;
  }
  return lexemes;
}

// In XML, elements without words beside them are blocks: their tags end sentences.
void break_at_blocks(std::vector<HtmlToken>& tokens, const std::vector<std::string>& non_splitting) {
  struct Element {
    bool has_words = false;
    std::vector<size_t> tags = {};  // of the elements in it
  };
  std::vector<Element> open(1);
  const auto close = [&] {
    for (const size_t tag : open.back().tags) {
      const bool stays = open.back().has_words || contains(non_splitting, tokens[tag].name);
      tokens[tag].kind = stays ? tokens[tag].kind : Kind::kBreak;
    }
    open.pop_back();
  };
  for (size_t i = 0; i < tokens.size(); ++i) {
    const Kind kind = tokens[i].kind;
    if (kind == Kind::kText) {
      open.back().has_words = open.back().has_words || !is_blank(tokens[i].bytes);
    } else if (kind == Kind::kStart) {
      open.back().tags.push_back(i);
      open.emplace_back();
    } else if (kind == Kind::kEnd) {
      if (open.size() > 1) {
        close();
      }
      open.back().tags.push_back(i);
    }
  }
  while (!open.empty()) {
    close();
  }
}

}  // namespace

std::vector<HtmlToken> html_tokens(std::string_view html, const MarkupOptions& options) {
  std::vector<Lexeme> lexemes = joined_lexemes(html, options);
  lexemes = options.is_xml ? std::move(lexemes) : with_numbered_tags(std::move(lexemes));
  std::vector<HtmlToken> tokens;
  for (Lexeme& lexeme : lexemes) {
    const Kind kind = kind_of(lexeme, options);
    tokens.push_back({kind, lexeme.bytes, std::move(lexeme.name)});
  }
  if (options.is_xml) {
    break_at_blocks(tokens, options.non_splitting);
  }
  return tokens;
}

}  // namespace dragoman::serving
