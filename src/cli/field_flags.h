#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/fields.h"

namespace dragoman::cli {

/// Adds a flag whose value has a name. `value` holds the default, and the choice later on.
template <base::Chosen T>
CLI::Option* add_choice(CLI::App& command, const std::string& flag, T& value, const std::string& help,
                        const std::vector<std::string>& choices = base::choices<T>()) {
  const auto choose = [&value](const std::string& name) { value = base::from_name<T>(name); };
  return command.add_option_function<std::string>(flag, choose, help)
      ->check(CLI::IsMember(choices))
      ->default_str(std::string(base::name_of(value)));
}

/// Adds the flag of a field. `value` holds the default, and what the command line gives later on.
template <typename Struct, typename Value>
CLI::Option* add_field(CLI::App& command, const base::Field<Struct, Value>& field, Value& value,
                       const std::string& note = "") {
  const std::string flag = field.flag_spelling();
  const std::string help = field.description() + note;
  if constexpr (base::Chosen<Value>) {
    return add_choice(command, flag, value, help)->group(field.title());
  } else {
    if constexpr (std::is_same_v<Value, bool>) {
      if (field.flag == base::Flag::kSwitch) {
        return command.add_flag(flag, value, help)->group(field.title());
      }
    }
    return command.add_option(flag, value, help)->group(field.title());
  }
}

/// The flags of fields of `Options` and of its parts. A flag that is not given leaves a field as it is. Must live until
/// the command has run.
template <typename Options>
class FieldFlags {
 public:
  /// @param shown  the defaults that --help shows
  explicit FieldFlags(CLI::App& command, Options shown = {}) : command_(command), given_(std::move(shown)) {}
  FieldFlags(const FieldFlags&) = delete;
  FieldFlags& operator=(const FieldFlags&) = delete;

  /// Adds the flag of one field of `part`: a member pointer such as &TrainOptions::adam, or std::identity().
  template <typename Part, typename Struct, typename Value>
  CLI::Option* add(const base::Field<Struct, Value>& field, Part part, const std::string& note = "") {
    const auto place = [part, field](Options& options) -> Value& { return std::invoke(part, options).*field.member; };
    CLI::Option* option = add_field(command_, field, place(given_), note);
    fields_.emplace_back(field.name);
    apply_if_given(option, place);
    return option;
  }

  /// Adds the flags of all fields that have one, those of the groups included.
  /// @param note_of  what --help says beside a field's own help: a function of its name
  template <typename NoteOf>
  void add_all(NoteOf note_of) {
    base::for_each_part<Options>([&](auto part) {
      base::PartOf<Options, decltype(part)>::fields([&](const auto& field) {
        if (field.flag != base::Flag::kNone) {
          add(field, part, note_of(field.name));
        }
      });
    });
  }
  void add_all() {
    add_all([](std::string_view) { return ""; });
  }

  /// Adds a flag of the command's own for a member of `Options`.
  template <typename Value>
  CLI::Option* add_value(const char* flag, Value Options::*member, const std::string& help) {
    CLI::Option* option = command_.add_option(flag, given_.*member, help);
    apply_if_given(option, member);
    return option;
  }

  /// Adds a flag for a member that has some of the names of its type only.
  template <base::Chosen Value>
  CLI::Option* add_some_choices(const char* flag, Value Options::*member, const std::string& help,
                                const std::vector<std::string>& choices) {
    CLI::Option* option = add_choice(command_, flag, given_.*member, help, choices);
    apply_if_given(option, member);
    return option;
  }

  /// Adds a flag whose text `set` lays over the options.
  /// @param shown  the default that --help shows
  CLI::Option* add_text(const char* flag, const std::string& shown,
                        std::function<void(Options&, const std::string&)> set, const std::string& help) {
    const auto text = std::make_shared<std::string>(shown);
    CLI::Option* option = command_.add_option(flag, *text, help);
    appliers_.push_back([option, text, set = std::move(set)](Options& options) {
      if (option->count() > 0) {
        set(options, *text);
      }
    });
    return option;
  }

  /// Whether the field of this name has its flag here.
  bool has(std::string_view field) const { return std::ranges::find(fields_, field) != fields_.end(); }

  /// Returns: `defaults` with the flags that were given laid over.
  Options over(Options defaults) const {
    for (const auto& apply : appliers_) {
      apply(defaults);
    }
    return defaults;
  }

 private:
  template <typename Place>
  void apply_if_given(const CLI::Option* option, Place place) {
    appliers_.push_back([this, option, place](Options& options) {
      if (option->count() > 0) {
        std::invoke(place, options) = std::invoke(place, given_);
      }
    });
  }

  CLI::App& command_;
  Options given_;
  std::vector<std::string> fields_;
  std::vector<std::function<void(Options&)>> appliers_;
};

}  // namespace dragoman::cli
