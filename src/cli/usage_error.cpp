#include "cli/usage_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/nearest_name.h"
#include "cli/flag_names.h"
#include "cli/option_text.h"

namespace dragoman::cli {
namespace {

constexpr const char* kWholeNumber = "must be a whole number";

constexpr std::array<std::string_view, 8> kBooleans = {"true", "false", "yes", "no", "on", "off", "1", "0"};

// What other programs have as a value, and how it is asked for here.
struct OtherName {
  std::string_view option, value, here;
};
constexpr OtherName kOtherNames[] = {
    {"--optimizer", "adamw", "AdamW is adam with --weight-decay 0.1 --decayed matrices"}};

template <typename Integer>
std::string rule_of_integer(const std::string& value) {
  Integer number{};
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  const size_t digits = value.starts_with('-') ? 1 : 0;
  if (error == std::errc::result_out_of_range) {
    return "is out of range";
  }
  if (error != std::errc{} || stop != end) {
    const bool negative = std::is_unsigned_v<Integer> && value.starts_with('-');
    return negative ? "must be 0 or more" : kWholeNumber;
  }
  const bool leading_zero = value.size() > digits + 1 && value[digits] == '0';
  return leading_zero ? fmt::format("{} without leading zeros", kWholeNumber) : "";
}

std::string rule_of_number(const std::string& value) {
  char* end = nullptr;
  std::strtod(value.c_str(), &end);
  return !value.empty() && end == value.c_str() + value.size() ? "" : "must be a number";
}

std::string rule_of_choice(const std::string& option, const std::vector<std::string>& choices,
                           const std::string& value) {
  if (std::ranges::find(choices, value) != choices.end()) {
    return "";
  }
  const std::string list = "must be " + listed(choices, "or");
  for (const OtherName& other : kOtherNames) {
    if (other.option == option && other.value == CLI::detail::to_lower(value)) {
      return fmt::format("{}; {}", list, other.here);
    }
  }
  return choices.size() == 1 ? list : list + base::did_you_mean(value, choices, "");
}

// "--width", as CLI11 puts it at the start or in the middle of its messages.
bool speaks_of(const std::string& message, const std::string& name) {
  for (size_t at = message.find(name); at != std::string::npos; at = message.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || message[at - 1] == ' ') && (end == message.size() || message[end] == ':' || message[end] == ' ')) {
      return true;
    }
  }
  return false;
}

std::string missing_options(const CLI::App& command) {
  std::vector<std::string> missing;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_required() && option->count() == 0) {
      missing.push_back(with_value(*option));
    }
  }
  return fmt::format("{} {} required", listed(missing, "and"), missing.size() == 1 ? "is" : "are");
}

std::string missing_value(const CLI::Option& option) {
  const std::vector<std::string> choices = choices_of(option);
  return fmt::format("{} needs a value: {}", option.get_name(),
                     choices.empty() ? value_name(option) : listed(choices, "or"));
}

// Of the values of one option: given too often, or one that breaks its rule. Empty when neither.
std::string wrong_values(const CLI::Option& option) {
  for (const std::string& value : option.results()) {
    const std::string rule = broken_rule(option, value);
    if (!rule.empty()) {
      return fmt::format("{} is \"{}\", {}{}", option.get_name(), value, rule.starts_with("is ") ? "which " : "", rule);
    }
  }
  return "";
}

std::string excluded_option(const CLI::Option& option) {
  const auto excluded = option.get_excludes();
  const auto given = std::ranges::find_if(excluded, [](const CLI::Option* other) { return other->count() > 0; });
  return given == excluded.end() ? ""
                                 : fmt::format("{} cannot be given with {}", (*given)->get_name(), option.get_name());
}

std::string refused_option(const CLI::Option& option, const CLI::ParseError& error) {
  const std::vector<std::string> values = option.results();
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) {
    return excluded_option(option);
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return values.size() > 1 ? fmt::format("{} is given {} times, as {}; keep one", option.get_name(), values.size(),
                                           listed(values, "and"))
                             : missing_value(option);
  }
  const std::string wrong = wrong_values(option);
  if (wrong.empty() && values.size() == 1) {
    return fmt::format("{} is \"{}\", which is out of range", option.get_name(), values.front());
  }
  return wrong;
}

std::string unknown_option(const CLI::App& command, const std::string& argument) {
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    const std::vector<std::string> names = dashed_names(*option);
    known.insert(known.end(), names.begin(), names.end());
  }
  const std::string name = argument.substr(0, argument.find('='));
  if (std::ranges::find(known, name) != known.end()) {  // CLI11 looks for it only behind the command's name
    return fmt::format("{} stands before the command; the name of the command comes first", name);
  }
  return fmt::format("{}: unknown option{}", name, base::did_you_mean(name, known, ""));
}

std::string unexpected_argument(const CLI::App& command, const std::string& argument) {
  return argument.starts_with('-')
             ? unknown_option(command, argument)
             : fmt::format("\"{}\" was not expected: a value follows the name of its option", argument);
}

std::string without_command(const CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    return "a command is missing";
  }
  return arguments.front().starts_with('-') ? unknown_option(app, arguments.front())
                                            : unknown_command(app, arguments.front());
}

bool is_part_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// Where the text of a message begins, behind "tune: ".
size_t begin_of_text(const std::string& message, const std::string& command) {
  return message.starts_with(command + ": ") ? command.size() + 2 : 0;
}

// A word with an underscore is a field's name wherever it stands on its own, another one only as what is refused:
// "alpha is 9".
bool names_field(const std::string& message, size_t begin, size_t end, size_t begin_of_message) {
  const bool alone = (begin == 0 || std::string_view(" (").find(message[begin - 1]) != std::string_view::npos) &&
                     (end == message.size() || std::string_view(" ,;:)").find(message[end]) != std::string_view::npos);
  const bool is_subject = begin == begin_of_message && message.compare(end, 4, " is ") == 0;
  return alone && (is_subject || message.substr(begin, end - begin).find('_') != std::string::npos);
}

}  // namespace

std::string unknown_command(const CLI::App& app, const std::string& name) {
  std::vector<std::string> known;
  for (const CLI::App* command : commands_of(app)) {
    known.push_back(command->get_name());
  }
  return fmt::format("unknown command \"{}\"{}", name, base::did_you_mean(name, known, ""));
}

const CLI::App& command_named(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : commands_of(app)) {
    if (command->get_name() == name) {
      return *command;
    }
  }
  base::fail(base::ErrorKind::kUsage, "{}", unknown_command(app, name));
}

std::string in_flags(const CLI::App& command, const std::string& message) {
  const size_t first = begin_of_text(message, command.get_name());
  std::string text;
  for (size_t at = first; at < message.size();) {
    size_t end = at;
    while (end < message.size() && is_part_of_name(message[end])) {
      ++end;
    }
    const std::string word = message.substr(at, std::max(end, at + 1) - at);
    text += end > at && names_field(message, at, end, first) ? flag_of(command, word) : word;
    at += word.size();
  }
  return text;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (name != "help" && name != "config") {
        names.push_back(name);
      }
    }
  }
  return names;
}

std::string broken_rule(const CLI::Option& option, const std::string& value) {
  const std::string type = option.get_type_name();
  if (option.get_items_expected_max() == 0 || type == "BOOLEAN") {
    return std::ranges::find(kBooleans, CLI::detail::to_lower(value)) != kBooleans.end() ? "" : "must be true or false";
  }
  if (type == "INT") {
    return rule_of_integer<int64_t>(value);
  }
  if (type == "UINT") {
    return rule_of_integer<uint64_t>(value);
  }
  if (type == "FLOAT") {
    return rule_of_number(value);
  }
  const std::vector<std::string> choices = choices_of(option);
  return choices.empty() ? "" : rule_of_choice(option.get_name(), choices, value);
}

std::string describe_usage_error(const CLI::App& app, const CLI::ParseError& error,
                                 const std::vector<std::string>& arguments) {
  if (app.get_subcommands().empty()) {
    return without_command(app, arguments);
  }
  const CLI::App& command = *app.get_subcommands().front();
  if (!app.remaining(true).empty()) {  // rather than "--hypothesis is required" for a misspelt --hypothesis
    return unexpected_argument(command, app.remaining(true).front());
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return missing_options(command);
  }
  for (const CLI::Option* option : command.get_options()) {
    if (speaks_of(error.what(), option->get_name())) {
      const std::string text = refused_option(*option, error);
      return text.empty() ? error.what() : text;
    }
  }
  return error.what();
}

std::string describe_wrong_value(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string text = wrong_values(*option);
    if (!text.empty()) {
      return text;
    }
  }
  return "";
}

void parse_words(CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App& command = *app.get_subcommands([](CLI::App*) { return true; }).front();
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    base::fail(base::ErrorKind::kUsage, "{}", describe_usage_error(app, error, words));
  } catch (const base::Error& error) {
    base::fail(error.kind(), "{}", in_flags(command, error.what()));
  }
  const std::string wrong = describe_wrong_value(command);
  base::check_usage(wrong.empty(), "{}", wrong);
}

}  // namespace dragoman::cli
