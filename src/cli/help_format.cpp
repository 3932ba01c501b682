#include "cli/help_format.h"

#include <fmt/format.h>

namespace dragoman::cli {
namespace {

constexpr size_t kDescriptionWidth = 72;

// CLI11 calls the type of an option with choices "TEXT:{bleu,chrf}".
constexpr std::string_view kChoicesMark = ":{";

// Empty for an option that has none: nothing shown is nothing assumed.
std::string default_value(const CLI::Option& option) {
  std::string text = option.get_default_str();
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    text = text.substr(1, text.size() - 2);
  }
  if (option.get_type_name() == "BOOLEAN") {
    return text == "1" ? "true" : "false";
  }
  return text == "\"\"" ? "" : text;
}

std::string wrapped(const std::string& text) {
  std::string lines;
  size_t column = 0;
  for (const std::string& word : CLI::detail::split(text, ' ')) {
    if (column > 0) {
      const bool fits = column + 1 + word.size() <= kDescriptionWidth;
      lines += fits ? " " : "\n";
      column = fits ? column + 1 : 0;
    }
    lines += word;
    column += word.size();
  }
  return lines;
}

std::string choices_note(const CLI::Option& option) {
  const std::vector<std::string> names = choices_of(option);
  return (names.size() == 1 ? "only " : "") + listed(names, "or");
}

}  // namespace

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type_name = option.get_type_name();
  const size_t mark = type_name.find(kChoicesMark);
  if (mark == std::string::npos) {
    return {};
  }
  const size_t begin = mark + kChoicesMark.size();
  return CLI::detail::split(type_name.substr(begin, type_name.find('}', begin) - begin), ',');
}

std::string value_name(const CLI::Option& option) {
  const std::string type_name = option.get_type_name();
  return option.get_type_size() == 0 ? "" : type_name.substr(0, type_name.find(kChoicesMark));
}

std::string listed(std::vector<std::string> words, const std::string& last_word) {
  if (words.size() < 2) {
    return words.empty() ? "" : words.front();
  }
  const std::string last = words.back();
  words.pop_back();
  return CLI::detail::join(words, ", ") + " " + last_word + " " + last;
}

std::string HelpFormat::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_size() == 0) {
    return "";
  }
  const bool several = option->get_expected_max() == CLI::detail::expected_max_vector_size;
  return " " + value_name(*option) + (several ? " ..." : "");
}

std::string HelpFormat::make_option_desc(const CLI::Option* option) const {
  std::vector<std::string> notes;
  const auto add_note = [&notes](const char* label, const std::string& text) {
    if (!text.empty()) {
      notes.push_back(label + text);
    }
  };
  if (option->get_type_size() != 0) {
    add_note("", option->get_required() ? "required" : "");
    add_note("", choices_note(*option));
    add_note("default: ", default_value(*option));
  }
  const std::string note = notes.empty() ? "" : " [" + CLI::detail::join(notes, "; ") + "]";
  return wrapped(option->get_description() + note);
}

}  // namespace dragoman::cli
