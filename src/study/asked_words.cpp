#include "study/asked_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace dragoman::study {
namespace {

// Values of options and other facts, by name.
using Asked = std::map<std::string, std::string>;

// The names of the words in front of the options, by the first of them.
std::vector<std::string> names_in_front(const std::string& kind) {
  if (kind == "translate") {
    return {"do", "model", "text", "nearest-to"};
  }
  return kind == "filter" ? std::vector<std::string>{"do", "model", "source", "target", "nearest-to", "keep"}
                          : std::vector<std::string>{"do"};
}

// The words of a training behind its options: "source a+b, target c, text , from first".
void add_facts(std::string_view words, Asked& asked) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(", "), words.size());
    const std::string_view fact = words.substr(0, end);
    const size_t space = std::min(fact.find(' '), fact.size());
    const std::string name(fact.substr(0, space));
    asked[name == "from" ? "start-from" : name] = fact.substr(std::min(space + 1, fact.size()));
    words.remove_prefix(std::min(end + 2, words.size()));
  }
}

// Takes the words of a step apart.
class AskedReader {
 public:
  explicit AskedReader(const std::vector<std::string>& words) : names_(names_in_front(words.empty() ? "" : words[0])) {
    for (const std::string& word : words) {
      add(word);
    }
  }
  Asked asked() const { return asked_; }

 private:
  void add(const std::string& word) {
    if (word.starts_with("--")) {
      add_option(word.substr(2));
    } else if (!list_.empty()) {
      std::string& values = asked_[list_];
      values += (values.empty() ? "" : " ") + word;
    } else if (const size_t number = facts_++; number < names_.size()) {
      asked_[names_[number]] = word;
    } else if (asked_["do"] == "train") {
      add_facts(word, asked_);
    } else {
      asked_[fmt::format("fact {}", number)] = word;
    }
  }

  // "beam-size=4", or the name of a list, whose values follow.
  void add_option(const std::string& text) {
    const size_t equals = text.find('=');
    list_ = equals == std::string::npos ? text : "";
    asked_[text.substr(0, equals)] = equals == std::string::npos ? "" : text.substr(equals + 1);
  }

  std::vector<std::string> names_;
  Asked asked_;
  std::string list_;  // the option whose values follow; may be empty
  size_t facts_ = 0;
};

Asked asked_of(const std::vector<std::string>& words) {
  return AskedReader(words).asked();
}

}  // namespace

bool asks_the_same(const std::vector<std::string>& first, const std::vector<std::string>& second) {
  return asked_of(first) == asked_of(second);
}

std::string asked_changes(const std::vector<std::string>& before, const std::vector<std::string>& now) {
  Asked old_values = asked_of(before), new_values = asked_of(now);
  std::set<std::string> names;
  for (const Asked* each : {&old_values, &new_values}) {
    for (const auto& [name, value] : *each) {
      names.insert(name);
    }
  }
  std::vector<std::string> changes;
  for (const std::string& name : names) {
    const std::string &was = old_values[name], &is = new_values[name];
    const auto said = [](const std::string& value) { return value.empty() ? "not given" : value; };
    if (was != is) {
      changes.push_back(fmt::format("{} was {}, is {}", name, said(was), said(is)));
    }
  }
  return fmt::format("{}", fmt::join(changes, "; "));
}

}  // namespace dragoman::study
