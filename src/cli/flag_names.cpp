#include "cli/flag_names.h"

#include <map>

#include "decoding/search/options.h"
#include "models/transformer/transformer_config.h"
#include "training/train_options.h"

namespace dragoman::cli {
namespace {

using FlagNames = std::map<std::string, std::string>;

template <typename Options>
void add_names(FlagNames& names) {
  base::for_each_part<Options>([&](auto part) {
    base::PartOf<Options, decltype(part)>::fields(
        [&](const auto& field) { names.emplace(field.name, field.flag_spelling()); });
  });
}

// The flags of fields whose flag is not their name, among others.
const FlagNames& names_of_flags() {
  static const FlagNames names = [] {
    FlagNames all;
    add_names<decoding::SearchOptions>(all);
    add_names<training::TrainOptions>(all);
    add_names<models::TransformerConfig>(all);
    return all;
  }();
  return names;
}

}  // namespace

std::string flag_of(const CLI::App& command, const std::string& field) {
  const auto found = names_of_flags().find(field);
  const std::string flag = found == names_of_flags().end() ? base::flag_spelling(field) : found->second;
  for (const std::string& name : {flag, flag + "s"}) {  // `tune --beam-sizes` takes several of --beam-size
    if (command.get_option_no_throw(name) != nullptr) {
      return name;
    }
  }
  return field;
}

}  // namespace dragoman::cli
