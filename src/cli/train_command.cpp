#include <fmt/core.h>
#include <fmt/ranges.h>

#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/field_json.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/signals.h"
#include "cli/command.h"
#include "cli/device_flag.h"
#include "cli/field_flags.h"
#include "cli/text_language.h"
#include "cli/text_output.h"
#include "cli/train_options_of.h"
#include "cli/usage_error.h"
#include "cli/warnings_only.h"
#include "distributed/join_processes.h"
#include "models/architectures/architectures.h"
#include "models/convolutional/convolutional_config.h"
#include "models/decoder_only/decoder_only_config.h"
#include "models/encoder_only/encoder_only_config.h"
#include "models/recurrent/recurrent_config.h"
#include "serving/watch.h"
#include "training/gpu_choices.h"
#include "training/presets.h"
#include "training/tasks.h"
#include "training/trainer.h"

namespace dragoman::cli {
namespace {

using training::TrainOptions;

using Flags = FieldFlags<TrainOptions>;
using ShapeFlags = FieldFlags<models::TransformerConfig>;

void add_files(Flags& flags) {
  flags
      .add_value("--source", &TrainOptions::source,
                 "Training text, source side: one sentence a line; several files are joined")
      ->type_name("FILE");
  flags.add_value("--target", &TrainOptions::target, "Training text, target side: line n translates line n")
      ->type_name("FILE");
  flags.add_value("--valid-source", &TrainOptions::valid_source, "Validation text, source side")->type_name("FILE");
  flags.add_value("--valid-target", &TrainOptions::valid_target, "Validation text, target side")->type_name("FILE");
  flags
      .add_value(
          "--text", &TrainOptions::text,
          "Training text of a language model or an encoder; several files are joined. classify: a label, a tab and a "
          "text (or two, with a tab between them) a line; tag: a word, a tab and its tag a line, an empty line "
          "behind each sentence; embed: two texts that mean the same, with a tab between them, or --source and "
          "--target")
      ->type_name("FILE");
  flags.add_value("--valid-text", &TrainOptions::valid_text, "Validation text of a language model or an encoder")
      ->type_name("FILE");
  flags
      .add_value("--tokenizer", &TrainOptions::tokenizer,
                 "Tokenizer to use: a SentencePiece model or, for a language model or an encoder, a tokenizer.json or "
                 "vocab.txt of BERT; not given: one is learned")
      ->type_name("FILE")
      ->group(data::VocabularyOptions::kTitle);
  flags
      .add_value("--target-tokenizer", &TrainOptions::target_tokenizer,
                 "Tokenizer of the target side, with --joint-vocab false; --tokenizer is then of the source side")
      ->type_name("FILE")
      ->group(data::VocabularyOptions::kTitle);
  flags
      .add_value("-m,--model", &TrainOptions::model_folder,
                 "Folder for the model; the same command resumes what it holds")
      ->type_name("DIR")
      ->required();
  flags
      .add_value("--initial-model", &TrainOptions::initial_model,
                 "Model to start from, to fit it to other text: its weights, shape and vocabulary")
      ->type_name("DIR")
      ->group(models::TransformerConfig::kTitle);
}

// The options that `flag` makes pointless: a model that is there has its shape and its vocabulary already.
template <typename Struct>
void exclude_fields(CLI::App& command, const char* flag) {
  Struct::fields([&](const auto& field) {
    if (field.flag != base::Flag::kNone && !models::is_dropout(field.name)) {
      command.get_option(flag)->excludes(command.get_option(field.flag_spelling()));
    }
  });
}

// The shape of a model: a preset's with flags laid over, or a file's, which may be of any architecture. Architectures
// share the flags of fields with the same name.
class ShapeOptions {
 public:
  explicit ShapeOptions(CLI::App& command)
      : command_(command),
        flags_(command, shape_of(training::preset_options("tiny"))),
        decoder_only_(command),
        recurrent_(command),
        convolutional_(command),
        encoder_only_(command) {
    file_option_ = command.add_option("--model-config", file_,
                                      "Shape of the model: the config.json of any model; sizes of vocabularies are "
                                      "those of the run");
    file_option_->type_name("FILE")->group(models::TransformerConfig::kTitle);
    flags_.add_all();
    add_missing<models::DecoderOnlyConfig>(decoder_only_, kOfLanguageModels);
    add_missing<models::RecurrentConfig>(recurrent_);
    add_missing<models::ConvolutionalConfig>(convolutional_);
    add_missing<models::EncoderOnlyConfig>(encoder_only_, kOfEncoders);
  }

  // Lays the flags that were given over the model of `options`.
  void lay_over(TrainOptions& options) const {
    if (!file_.empty()) {
      options.model = models::config_from_json(base::read_file(file_), file_.string());
    }
    nlohmann::json tree = nlohmann::json::parse(options.model.with_vocabulary_sizes(kAnySize, kAnySize).to_json());
    bool is_changed = false;
    const auto lay = [&](const auto& flags, auto config) {
      const auto given = flags.over(config);
      for_each_flag<decltype(config)>([&](const auto& field, auto part) {
        if (command_.get_option(field.flag_spelling())->count() > 0 && flags.has(field.name)) {
          base::check_usage(options.model.has_field(field.name), "{} does not belong to a model of architecture {}; {}",
                            field.flag_spelling(), options.model.architecture(), instead_of(field.name, options.model));
          base::check_field(field, std::invoke(part, given));  // JSON has no NaN
          tree[field.name] = base::json_of(std::invoke(part, given).*field.member);
          is_changed = true;
        }
      });
    };
    lay(flags_, models::TransformerConfig());
    lay(decoder_only_, models::DecoderOnlyConfig());
    lay(recurrent_, models::RecurrentConfig());
    lay(convolutional_, models::ConvolutionalConfig());
    lay(encoder_only_, models::EncoderOnlyConfig());
    if (is_changed) {
      options.model = changed(tree);
    }
  }

 private:
  static constexpr const char* kOfLanguageModels = "Shape of a language model";
  static constexpr const char* kOfEncoders = "Shape of an encoder";
  // Options of the number of layers, and their flags.
  static constexpr std::pair<const char*, const char*> kLayers[] = {
      {"decoder_layers", "--decoder-layers"}, {"encoder_layers", "--encoder-layers"}, {"layers", "--layers"}};
  static constexpr int64_t kAnySize = 1000;  // of vocabularies, which are known later

  static models::TransformerConfig shape_of(const TrainOptions& options) {
    return *options.model.get_if<models::TransformerConfig>();
  }

  // Calls visit(field, part) for each field that has a flag.
  template <typename Config, typename Visit>
  static void for_each_flag(Visit visit) {
    base::for_each_part<Config>([&](auto part) {
      base::PartOf<Config, decltype(part)>::fields([&](const auto& field) {
        if (field.flag != base::Flag::kNone) {
          visit(field, part);
        }
      });
    });
  }

  // What to give in place of an option of another architecture: "its option is --layers" for encoder_layers.
  static std::string instead_of(std::string_view name, const models::ModelConfig& model) {
    std::vector<std::string> flags;
    for (const auto& [own, flag] : kLayers) {
      if (name.ends_with("layers") && model.has_field(own)) {
        flags.emplace_back(flag);
      }
    }
    return flags.empty()       ? "leave it out"
           : flags.size() == 1 ? "its option is " + flags.front()
                               : fmt::format("its options are {}", fmt::join(flags, " and "));
  }

  // Adds the flags of an architecture that no other has added. @param title  in --help; null = that of the field
  template <typename Config>
  void add_missing(FieldFlags<Config>& flags, const char* title = nullptr) {
    for_each_flag<Config>([&](const auto& field, auto part) {
      if (command_.get_option_no_throw(field.flag_spelling()) == nullptr) {
        CLI::Option* option = flags.add(field, part);
        option->group(title == nullptr ? option->get_group() : title);
      }
    });
  }

  static models::ModelConfig changed(const nlohmann::json& tree) try {
    return models::config_from_json(tree.dump(), "train");
  } catch (const base::Error& error) {  // what is wrong is a flag, not a file
    base::fail(base::ErrorKind::kUsage, "{}", error.what());
  }

  CLI::App& command_;
  ShapeFlags flags_;
  FieldFlags<models::DecoderOnlyConfig> decoder_only_;
  FieldFlags<models::RecurrentConfig> recurrent_;
  FieldFlags<models::ConvolutionalConfig> convolutional_;
  FieldFlags<models::EncoderOnlyConfig> encoder_only_;
  std::filesystem::path file_;
  CLI::Option* file_option_ = nullptr;
};

void exclude_pointless(CLI::App& command) {
  for (const char* flag : {"--model-config", "--initial-model"}) {
    exclude_fields<models::TransformerConfig>(command, flag);
    exclude_fields<models::DecoderOnlyConfig>(command, flag);
    exclude_fields<models::RecurrentConfig>(command, flag);
    exclude_fields<models::ConvolutionalConfig>(command, flag);
    exclude_fields<models::EncoderOnlyConfig>(command, flag);
    exclude_fields<nn::LayerOptions>(command, flag);
  }
  for (const char* flag : {"--initial-model", "--tokenizer"}) {
    exclude_fields<data::VocabularyOptions>(command, flag);
  }
  command.get_option("--initial-model")->excludes(command.get_option("--tokenizer"));
  const auto joint = base::field_of(&TrainOptions::joint_vocabulary).flag_spelling();
  command.get_option("--initial-model")->excludes(command.get_option(joint));
  command.get_option("--initial-model")->excludes(command.get_option("--model-config"));
}

// A number, or auto.
void set_batch_tokens(TrainOptions& options, const std::string& text) {
  options.batch.fit = text == "auto";
  if (!options.batch.fit) {
    const bool digits = !text.empty() && text.size() <= 9 && text.find_first_not_of("0123456789") == std::string::npos;
    base::check_usage(digits, "--batch-tokens is \"{}\", must be a whole number or auto", text);
    options.batch.batch_tokens = std::stoll(text);
  }
}

void set_memory(TrainOptions& options, const std::string& size) {
  options.run.memory = base::parse_size("--memory", size);
  options.batch.fit = true;
}

// Flags that say more than the value of their field, or less.
void add_special(Flags& flags) {
  const auto precision = base::field_of(&TrainOptions::precision);
  flags
      .add_some_choices(precision.flag_spelling().c_str(), precision.member, precision.help,
                        {"auto", "float32", "bfloat16"})
      ->group(precision.title());
  flags
      .add_text("--memory", "half of what is free", set_memory,
                "Memory to take, e.g. 8GiB; batches are cut to fit, as with --batch-tokens auto")
      ->group(training::RunOptions::kSpeed);
  const auto tokens = base::field_of(&training::BatchOptions::batch_tokens);
  flags
      .add_text(tokens.flag_spelling().c_str(), base::text_of(training::BatchOptions().*tokens.member),
                set_batch_tokens, tokens.description())
      ->group(tokens.title());
}

constexpr const char* kStoppedEarly =
    "dragoman: train: stopped by a signal with no update under way; run the same command to go on\n";

// The port at which a run is shown while it trains; none: it is not shown.
using WatchPort = std::optional<uint16_t>;

std::unique_ptr<serving::RunWatcher> watch_run(const TrainOptions& options, WatchPort port) {
  if (!port.has_value()) {
    return nullptr;
  }
  auto watcher = std::make_unique<serving::RunWatcher>(
      serving::WatchOptions{.folder = options.model_folder, .listen = {.port = *port}});
  say(fmt::format("watch the run at {}; later \"dragoman watch --model {}\" shows it again\n", watcher->address(),
                  options.model_folder.string()));
  return watcher;
}

int run_training(const TrainOptions& options, WatchPort port, distributed::ProcessGroup& processes) {
  // Before the first update there is nothing to save, and learning a vocabulary cannot be interrupted in any other way.
  const base::EndOnSignal before_updates(processes.leads() ? kStoppedEarly : "");
  const auto watcher = watch_run(options, processes.leads() ? port : std::nullopt);
  WarningsOnly warnings;
  std::ostream few(&warnings);
  training::Trainer trainer(options, processes, is_quiet() ? few : std::cerr);
  trainer.run();
  return trainer.exit_status();
}

// What one of several processes cannot go on after ends all of them.
int train(TrainOptions options, const std::string& device, WatchPort port, const std::string& note) {
  if (is_gpu(device)) {
    training::choose_for_gpu(options);
  }
  const DeviceChoice chosen(device);
  const auto processes = distributed::join_processes({options.run.rank_timeout});
  if (processes->leads()) {
    say_note(note);
  }
  try {
    return run_training(options, port, *processes);
  } catch (const base::Error& error) {
    processes->end_all(error.exit_status(), error.what());
    throw;
  } catch (const std::exception& error) {
    processes->end_all(static_cast<int>(base::ErrorKind::kRuntime), error.what());
    throw;
  }
}

// The flags of `train` and what they are given. Lives until the command has run.
struct TrainArguments {
  std::string preset = "tiny";
  std::string task;
  std::string device = "cpu";
  WatchPort watch_port;
  std::unique_ptr<Flags> flags;
  std::unique_ptr<ShapeOptions> shape;

  TrainOptions options() const {
    TrainOptions options = flags->over(training::preset_options(preset, task));
    shape->lay_over(options);
    return options;
  }
};

std::shared_ptr<TrainArguments> add_arguments(CLI::App& command) {
  const auto arguments = std::make_shared<TrainArguments>();
  begin_group(command, base::kMostUsed);
  command.add_option("--preset", arguments->preset, "Recipe to start from")
      ->check(CLI::IsMember(training::preset_names()));
  command
      .add_option("--task", arguments->task,
                  "What the text files mean, if not what the preset says: span-corruption or text-to-text (INPUT TAB "
                  "TARGET) of t5-mini; classify, tag, embed or masked-language-model of an encoder")
      ->type_name("TASK");
  arguments->flags = std::make_unique<Flags>(command, training::preset_options("tiny"));
  add_files(*arguments->flags);
  arguments->shape = std::make_unique<ShapeOptions>(command);
  arguments->flags->add_all();
  add_special(*arguments->flags);
  exclude_pointless(command);
  add_device_flag(command, arguments->device);
  command
      .add_option_function<uint16_t>(
          "--watch", [arguments = arguments.get()](const uint16_t& port) { arguments->watch_port = port; },
          "Show the run in the browser while it trains, at this port of 127.0.0.1: curves, samples, attention; 0 = one "
          "that is free")
      ->type_name("PORT");
  return arguments;
}

}  // namespace

void add_train_command(CLI::App& app, Run& run) {
  CLI::App* command =
      add_command(app, "train",
                  "Train a Transformer: a translation model from parallel text, a language model from text, or an "
                  "encoder from text with labels. Defaults are those of the preset; the ones shown are tiny's",
                  "dragoman train --preset tiny-hour --source train.en --target train.de \\\n"
                  "    --valid-source valid.en --valid-target valid.de --model my-model\n"
                  "dragoman train --preset gpt-mini --text train.txt --valid-text valid.txt --model my-gpt\n"
                  "dragoman train --preset bert-mini --task classify --text train.tsv --valid-text valid.tsv \\\n"
                  "    --model my-classifier");
  const auto arguments = add_arguments(*command);
  command->callback([&run, arguments, command] {
    run = [=] {
      TrainOptions options = arguments->options();
      const std::string note = choose_training_options(given_to(*command), options);
      return train(options, arguments->device, arguments->watch_port, note);
    };
  });
}

training::TrainOptions train_options_of(const std::vector<std::string>& arguments) {
  CLI::App app;
  CLI::App* command = app.add_subcommand("train");
  command->option_defaults()->always_capture_default();
  const auto given = add_arguments(*command);
  std::vector<std::string> words = {"train", "--model=model"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  parse_words(app, words);
  try {
    TrainOptions options = given->options();
    options.schedule.total_seconds = options.run.total_minutes * 60.0;  // as Trainer does
    options.check();
    training::check_task(options);
    return options;
  } catch (const base::Error& error) {
    base::fail(error.kind(), "{}", in_flags(*command, error.what()));
  }
}

}  // namespace dragoman::cli
