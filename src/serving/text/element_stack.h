#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::serving {

/// Returns whether HTML has rules of its own for an element: blocks, parts of tables, controls, embedded files.
[[nodiscard]] bool is_special_element(std::string_view name);

/// Returns whether an element of HTML has no content and no end tag. Source: HTML, section 13.1.2.
[[nodiscard]] bool is_void_element(std::string_view name);

/// The open elements of HTML at one place of the text. End tags may be left out: an element ends with its parent, or at
/// the start tag of a sibling. Formatting elements are not opened again after a block that ends inside them.
/// Source: WHATWG HTML Living Standard, sections 13.1.2.4 and 13.2.4.2.
class ElementStack {
 public:
  struct Element {
    std::string name;         ///< in lower case
    size_t keeper = 0;        ///< the element around this one whose content is not translated; 0 = none
    bool is_keeper = false;   ///< it is that element itself
    bool says_kept = false;   ///< its own name or attributes say that its content is not translated
    bool is_final = false;    ///< nothing inside is translated
    bool is_foreign = false;  ///< svg, math, or inside one of them
    unsigned traits = 0;      ///< set by `open`
  };

  /// Ends the elements that end at the start tag `name`.
  void end_before(std::string_view name);

  /// Ends the head, which has no words.
  void end_before_words();

  /// Opens an element inside the innermost one. Returns it.
  const Element& open(Element element);

  /// Ends the innermost element with this name and all inside it. Only a formatting element, such as b, does not end
  /// the blocks inside it; then it is no longer around them. Returns the element, or one without a name if the end tag
  /// ends none.
  Element close(std::string_view name);

  /// Returns the innermost element, or an element without a name.
  [[nodiscard]] const Element& innermost() const { return elements_.back(); }

  /// Returns whether an element opened now is one of svg or math, with their rules.
  [[nodiscard]] bool is_inside_foreign() const;

 private:
  template <typename IsWanted>
  [[nodiscard]] size_t outermost(unsigned barrier, IsWanted is_wanted) const;
  void leave_foreign();
  [[nodiscard]] bool has_survivors(size_t at) const;
  Element take_out(size_t at);

  std::vector<Element> elements_ = {Element{}};
};

}  // namespace dragoman::serving
