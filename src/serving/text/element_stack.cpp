#include "serving/text/element_stack.h"

#include <algorithm>
#include <span>

namespace dragoman::serving {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::string_view kSpecialNames[] = {
    "address", "applet",   "area",     "article",  "aside",  "base",    "basefont", "bgsound",    "blockquote",
    "body",    "br",       "button",   "caption",  "center", "col",     "colgroup", "dd",         "details",
    "dialog",  "dir",      "div",      "dl",       "dt",     "embed",   "fieldset", "figcaption", "figure",
    "footer",  "form",     "frame",    "frameset", "h1",     "h2",      "h3",       "h4",         "h5",
    "h6",      "head",     "header",   "hgroup",   "hr",     "html",    "iframe",   "img",        "input",
    "keygen",  "li",       "link",     "listing",  "main",   "marquee", "menu",     "meta",       "nav",
    "noembed", "noframes", "noscript", "object",   "ol",     "p",       "param",    "plaintext",  "pre",
    "script",  "search",   "section",  "select",   "source", "style",   "summary",  "table",      "tbody",
    "td",      "template", "textarea", "tfoot",    "th",     "thead",   "title",    "tr",         "track",
    "ul",      "wbr",      "xmp"};
constexpr std::string_view kFormattingNames[] = {"a", "b",     "big",    "code",   "em", "font", "i",
                                                 "s", "small", "strike", "strong", "tt", "u",    "nobr"};
constexpr std::string_view kHeadings[] = {"h1", "h2", "h3", "h4", "h5", "h6"};
constexpr std::string_view kVoidNames[] = {"area",  "base", "br",   "col",    "embed", "hr", "img",
                                           "input", "link", "meta", "source", "track", "wbr"};
// Elements that hide what is around them.
constexpr std::string_view kScopeNames[] = {"applet", "caption", "html",   "table",   "td",
                                            "th",     "marquee", "object", "template"};
constexpr std::string_view kForeignScopeNames[] = {"foreignobject", "desc"};
constexpr std::string_view kTableScopeNames[] = {"html", "table", "template"};
constexpr std::string_view kListNames[] = {"ol", "ul"};
constexpr std::string_view kPassedNames[] = {"address", "div", "p"};  // special, but items reach over them
constexpr std::string_view kTableParts[] = {"caption", "colgroup", "table", "tbody", "td",
                                            "tfoot",   "th",       "thead", "tr"};
constexpr std::string_view kForeignNames[] = {"svg", "math"};
// Elements of svg and math with HTML inside.
constexpr std::string_view kIntegrationNames[] = {"foreignobject", "desc", "title", "mi", "mo", "mn", "ms", "mtext"};
constexpr std::string_view kHeadNames[] = {"base",     "basefont", "bgsound", "link",     "meta", "noframes",
                                           "noscript", "script",   "style",   "template", "title"};
// Elements of HTML that end svg and math.
constexpr std::string_view kBreakoutNames[] = {
    "b",     "big",   "blockquote", "body",   "br",   "center", "code",  "dd", "div",  "dl",   "dt",
    "em",    "embed", "h1",         "h2",     "h3",   "h4",     "h5",    "h6", "head", "hr",   "i",
    "img",   "li",    "listing",    "menu",   "meta", "nobr",   "ol",    "p",  "pre",  "ruby", "s",
    "small", "span",  "strong",     "strike", "sub",  "sup",    "table", "tt", "u",    "ul",   "var"};

enum Trait : unsigned {
  kSpecial = 1U,
  kScope = 2U,
  kTableScope = 4U,
  kListScope = 8U,
  kButtonScope = 16U,
  kItemScope = 32U,  // what an item of a list does not reach over
};

bool is_among(Names names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

unsigned traits_of(std::string_view name, bool is_foreign) {
  const bool is_special = is_among(kSpecialNames, name);
  const bool is_scope = is_among(kScopeNames, name) || (is_foreign && is_among(kForeignScopeNames, name));
  const bool is_item_scope = (is_special && !is_among(kPassedNames, name)) || name == "ruby";
  return (is_special ? kSpecial : 0U) | (is_scope ? kScope : 0U) |
         (is_among(kTableScopeNames, name) ? kTableScope : 0U) |
         (is_scope || is_among(kListNames, name) ? kListScope : 0U) |
         (is_scope || name == "button" ? kButtonScope : 0U) | (is_item_scope ? kItemScope : 0U);
}

// Start tags, and the elements that end before them.
struct Implied {
  Names starts;
  Names ended;
  unsigned barrier;
  bool needs_ruby = false;  // only inside ruby
};
constexpr std::string_view kItem[] = {"li"};
constexpr std::string_view kTerms[] = {"dt", "dd"};
constexpr std::string_view kParagraph[] = {"p"};
constexpr std::string_view kEndsParagraph[] = {
    "address",   "article",  "aside",      "blockquote", "center",  "dd",      "details", "dialog", "dir", "div", "dl",
    "dt",        "fieldset", "figcaption", "figure",     "footer",  "form",    "h1",      "h2",     "h3",  "h4",  "h5",
    "h6",        "header",   "hgroup",     "hr",         "li",      "listing", "main",    "menu",   "nav", "ol",  "p",
    "plaintext", "pre",      "search",     "section",    "summary", "table",   "ul",      "xmp"};
constexpr std::string_view kCells[] = {"td", "th"};
constexpr std::string_view kBeforeCell[] = {"td", "th", "caption", "colgroup"};
constexpr std::string_view kRow[] = {"tr"};
constexpr std::string_view kBeforeRow[] = {"tr", "td", "th", "caption", "colgroup"};
constexpr std::string_view kGroups[] = {"tbody", "thead", "tfoot", "caption", "colgroup"};
constexpr std::string_view kBeforeGroup[] = {"tbody", "thead", "tfoot", "tr", "td", "th", "caption", "colgroup"};
constexpr std::string_view kOption[] = {"option"};
constexpr std::string_view kOptionGroup[] = {"optgroup", "hr"};
constexpr std::string_view kBeforeOptionGroup[] = {"option", "optgroup"};
constexpr std::string_view kRubyText[] = {"rt", "rp"};
constexpr std::string_view kBeforeRubyText[] = {"rt", "rp", "rb"};
constexpr std::string_view kRubyBase[] = {"rb", "rtc"};
constexpr std::string_view kBeforeRubyBase[] = {"rt", "rp", "rb", "rtc"};
constexpr std::string_view kButton[] = {"button"};
constexpr std::string_view kSelect[] = {"select"};
constexpr std::string_view kBody[] = {"body", "frameset"};
constexpr std::string_view kHead[] = {"head"};
constexpr Implied kImplied[] = {{kItem, kItem, kItemScope},
                                {kTerms, kTerms, kItemScope},
                                {kEndsParagraph, kParagraph, kButtonScope},
                                {kCells, kBeforeCell, kTableScope},
                                {kRow, kBeforeRow, kTableScope},
                                {kGroups, kBeforeGroup, kTableScope},
                                {kOption, kOption, kItemScope},
                                {kOptionGroup, kBeforeOptionGroup, kItemScope},
                                {kRubyText, kBeforeRubyText, kItemScope, true},
                                {kRubyBase, kBeforeRubyBase, kItemScope, true},
                                {kButton, kButton, kScope},
                                {kSelect, kSelect, kScope},
                                {kBody, kHead, kScope}};

// The barrier that an end tag does not reach over.
unsigned barrier_of(std::string_view name) {
  return is_among(kTableParts, name)                                         ? kTableScope
         : name == "li"                                                      ? kListScope
         : name == "p"                                                       ? kButtonScope
         : is_among(kSpecialNames, name) || is_among(kFormattingNames, name) ? kScope
                                                                             : kSpecial;
}

// No search looks at more elements, so that deep nesting costs no more than its length. Browsers nest no deeper.
constexpr size_t kFarthest = 512;

}  // namespace

bool is_special_element(std::string_view name) {
  return is_among(kSpecialNames, name);
}

bool is_void_element(std::string_view name) {
  return is_among(kVoidNames, name);
}

// Returns the outermost wanted element before a barrier, or 0. A wanted element is no barrier.
template <typename IsWanted>
size_t ElementStack::outermost(unsigned barrier, IsWanted is_wanted) const {
  size_t found = 0;
  const size_t last = elements_.size() > kFarthest ? elements_.size() - kFarthest : 1;
  for (size_t i = elements_.size(); i-- > last;) {
    if (is_wanted(elements_[i])) {
      found = i;
    } else if ((elements_[i].traits & barrier) != 0) {
      break;
    }
  }
  return found;
}

bool ElementStack::is_inside_foreign() const {
  return innermost().is_foreign && !is_among(kIntegrationNames, innermost().name);
}

void ElementStack::leave_foreign() {
  while (is_inside_foreign()) {
    elements_.pop_back();
  }
}

void ElementStack::end_before_words() {
  if (innermost().name == "head") {
    elements_.pop_back();
  }
}

void ElementStack::end_before(std::string_view name) {
  if (is_inside_foreign()) {
    if (!is_among(kBreakoutNames, name)) {
      return;
    }
    leave_foreign();
  }
  const auto is_ruby = [](const Element& element) { return element.name == "ruby"; };
  for (const Implied& implied : kImplied) {
    if (!is_among(implied.starts, name)) {
      continue;
    }
    const bool is_alone = implied.needs_ruby && outermost(kScope, is_ruby) == 0;
    const size_t ended = is_alone ? 0 : outermost(implied.barrier, [&](const Element& element) {
      return is_among(implied.ended, element.name);
    });
    if (ended != 0) {
      elements_.resize(ended);
    }
  }
  if (name == "a") {
    close(name);  // links do not nest
  }
  const bool ends_innermost = (is_among(kHeadings, name) && is_among(kHeadings, innermost().name)) ||
                              (innermost().name == "head" && !is_among(kHeadNames, name));
  if (ends_innermost) {
    elements_.pop_back();
  }
}

const ElementStack::Element& ElementStack::open(Element element) {
  element.is_foreign = is_inside_foreign() || is_among(kForeignNames, element.name);
  element.traits = traits_of(element.name, element.is_foreign);
  elements_.push_back(std::move(element));
  return innermost();
}

// Returns whether elements inside a formatting element stay open when it ends: blocks, or formatting elements alone.
bool ElementStack::has_survivors(size_t at) const {
  const auto inside = std::span(elements_).subspan(at + 1);
  const bool has_blocks = std::ranges::any_of(inside, [](const Element& e) { return (e.traits & kSpecial) != 0; });
  return has_blocks || (!inside.empty() && std::ranges::all_of(inside, [](const Element& e) {
           return is_among(kFormattingNames, e.name);
         }));
}

// Removes an element from around those inside it. It has no end of its own: it ends inside another one.
ElementStack::Element ElementStack::take_out(size_t at) {
  Element out = elements_[at];
  const Element around = elements_[at - 1];
  for (size_t i = at + 1; i < elements_.size() && !elements_[i].says_kept; ++i) {
    elements_[i].keeper = elements_[i].keeper == out.keeper ? around.keeper : elements_[i].keeper;
    elements_[i].is_final = elements_[i].is_final && (around.is_final || !out.is_final);
  }
  elements_.erase(elements_.begin() + static_cast<ptrdiff_t>(at));
  out.is_keeper = false;
  return out;
}

ElementStack::Element ElementStack::close(std::string_view name) {
  const bool is_heading = is_among(kHeadings, name);
  const unsigned barrier = barrier_of(name);
  const size_t last = elements_.size() > kFarthest ? elements_.size() - kFarthest : 1;
  for (size_t i = elements_.size(); i-- > last;) {
    const bool is_wanted = elements_[i].name == name || (is_heading && is_among(kHeadings, elements_[i].name));
    if (is_wanted) {
      if (is_among(kFormattingNames, name) && has_survivors(i)) {
        return take_out(i);
      }
      Element closed = elements_[i];
      elements_.resize(i);
      return closed;
    }
    if ((elements_[i].traits & barrier) != 0) {
      break;
    }
  }
  return {};
}

}  // namespace dragoman::serving
