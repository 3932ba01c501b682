// docs/options.md is what the field tables say. The test writes the page to options.md in its folder of the build;
// copy that file to docs/ after a change of a table.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "decoding/search/options.h"
#include "decoding/text_scorer.h"
#include "models/convolutional/convolutional_config.h"
#include "models/decoder_only/decoder_only_config.h"
#include "models/encoder_only/encoder_only_config.h"
#include "models/recurrent/recurrent_config.h"
#include "training/train_options.h"

namespace dragoman {
namespace {

// "1 to 128", "0 to 100000 pieces", "gnmt, length", "true, false".
template <typename Struct, typename Value>
std::string values_of(const base::Field<Struct, Value>& field) {
  if constexpr (base::Chosen<Value>) {
    return fmt::format("{}", fmt::join(base::choices<Value>(), ", "));
  }
  const std::string range = std::is_same_v<Value, bool> ? "true, false" : field.range.text();
  return *field.unit == '\0' ? range : fmt::format("{} {}", range, field.unit);
}

template <typename Struct, typename Value>
std::string row(const base::Field<Struct, Value>& field) {
  const std::string name = field.flag == base::Flag::kNone ? field.name : field.flag_spelling();
  return fmt::format("| `{}` | {} | {} | {} |\n", name, base::text_of(Struct().*field.member), values_of(field),
                     field.help);
}

template <typename... Structs>
std::string section(const char* title, const char* text) {
  std::string page =
      fmt::format("\n## {}\n\n{}\n\n| option | default | values | meaning |\n|---|---|---|---|\n", title, text);
  (Structs::fields([&](const auto& field) { page += row(field); }), ...);
  return page;
}

constexpr const char* kIntroduction =
    R"(# Options

Here is every option of searches, models and training, with its default and the values that it may have. The program
reads the same tables; the test `cli_options_page` compares this page with them.

A name with two dashes is a flag. Without the dashes it is a key of the file that `--config` names. A name without dashes
is a field that a command sets itself, or that only some commands have a flag for. `dragoman train --help` and the like
list the flags of a command.
)";

std::string options_page() {
  using namespace training;
  using namespace decoding;
  const char* const kTraining = "Of `dragoman train`. A preset replaces some defaults.";
  return kIntroduction +
         section<SearchOptions, RankingOptions, LengthOptions, BeamOptions, RuleOptions, SamplingOptions, OutputOptions,
                 ExecutionOptions>(
             "Search",
             "Of `dragoman translate`, `dragoman serve` and `dragoman attention`. [search.md](search.md) has more.") +
         section<models::TransformerConfig>("Model", "Of `dragoman train` and of `config.json` in a model folder.") +
         section<models::DecoderOnlyConfig>("Language model",
                                            "Of `dragoman train` and of `config.json` in the folder of a language "
                                            "model. [language_models.md](language_models.md) has more.") +
         section<models::RecurrentConfig>("Recurrent model",
                                          "Of `dragoman train` and of `config.json` in the folder of a recurrent "
                                          "model. [recurrent.md](recurrent.md) has more.") +
         section<models::ConvolutionalConfig>("Convolutional model",
                                              "Of `dragoman train` and of `config.json` in the folder of a "
                                              "convolutional model. [convolutional.md](convolutional.md) has more.") +
         section<models::EncoderOnlyConfig>("Encoder",
                                            "Of `dragoman train` and of `config.json` in the folder of an encoder. "
                                            "[encoders.md](encoders.md) has more.") +
         section<nn::LayerOptions>("Layers", "Of both kinds of models. A translation model has these defaults.") +
         section<data::TextOptions>("Text of a language model", kTraining) +
         section<data::MaskOptions>("Masked language model", kTraining) +
         section<WholeTextOptions>("Classes and vectors of texts",
                                   "Of `dragoman train`. [encoders.md](encoders.md) has more.") +
         section<TextScoreOptions>("Scores of running text", "Of `dragoman score --text`.") +
         section<data::VocabularyOptions>("Vocabulary", kTraining) +
         section<TrainOptions, ScheduleOptions, AdamOptions, ObjectiveOptions>("Updates", kTraining) +
         section<BatchOptions>("Batches", kTraining) + section<RunOptions>("Run", kTraining);
}

TEST(OptionsPage, SaysWhatTheTablesSay) {
  const std::string page = options_page();
  std::ofstream("options.md") << page;
  EXPECT_EQ(base::read_file(std::filesystem::path(DRAGOMAN_TEST_DATA) / "../../docs/options.md"), page)
      << "copy " << std::filesystem::absolute("options.md") << " to docs/";
}

}  // namespace
}  // namespace dragoman
