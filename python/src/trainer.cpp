#include "training/trainer.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <ostream>
#include <streambuf>

#include "base/files.h"
#include "base/memory.h"
#include "bindings.h"
#include "cli/text_language.h"
#include "convert.h"
#include "interrupt.h"
#include "kernels/cuda/device_name.h"
#include "models/architectures/architectures.h"
#include "models/convolutional/convolutional_config.h"
#include "models/decoder_only/decoder_only_config.h"
#include "models/encoder_only/encoder_only_config.h"
#include "models/recurrent/recurrent_config.h"
#include "models/transformer/transformer_config.h"
#include "tensor/device_scope.h"
#include "training/gpu_choices.h"
#include "training/presets.h"

namespace dragoman::python {
namespace {

using training::TrainOptions;
using Files = std::map<std::string, std::vector<std::filesystem::path>>;

void set_files(const Files& files, TrainOptions& options) {
  const auto list = [&](const char* name) {
    const auto found = files.find(name);
    return found == files.end() ? std::vector<std::filesystem::path>() : found->second;
  };
  const auto one = [&](const char* name) {
    const auto all = list(name);
    return all.empty() ? std::filesystem::path() : all.front();
  };
  options.source = list("source");
  options.target = list("target");
  options.valid_source = list("valid_source");
  options.valid_target = list("valid_target");
  options.text = list("text");
  options.valid_text = list("valid_text");
  options.tokenizer = one("tokenizer");
  options.target_tokenizer = one("target_tokenizer");
  options.initial_model = one("initial_model");
  options.model_folder = one("model");
}

// The options whose values are of another kind than their fields: "auto" and "8GiB".
void take_memory_options(nlohmann::json& tree, TrainOptions& options) {
  if (const auto found = tree.find("batch_tokens"); found != tree.end() && *found == "auto") {
    options.batch.fit = true;
    tree.erase(found);
  }
  if (const auto found = tree.find("memory"); found != tree.end()) {
    base::check_usage(found->is_string(), "memory is {}, must be a size such as \"8GiB\"", found->dump());
    options.run.memory = base::parse_size("memory", found->get<std::string>());
    options.batch.fit = true;
    tree.erase(found);
  }
}

// Moves the options of the model's shape from `tree` into the model of `options`.
void take_shape(nlohmann::json& tree, const std::vector<std::string>& of_the_run, TrainOptions& options) {
  constexpr int64_t kAnySize = 1000;  // of vocabularies, which are known later
  nlohmann::json shape = nlohmann::json::parse(options.model.with_vocabulary_sizes(kAnySize, kAnySize).to_json());
  bool is_changed = false;
  for (auto given = tree.begin(); given != tree.end();) {
    const bool is_of_shape = options.model.has_field(given.key()) && std::ranges::count(of_the_run, given.key()) == 0;
    if (is_of_shape) {
      shape[given.key()] = given.value();
      is_changed = true;
    }
    given = is_of_shape ? tree.erase(given) : std::next(given);
  }
  if (is_changed) {
    try {
      options.model = models::config_from_json(shape.dump(), "train");
    } catch (const base::Error& error) {  // what is wrong is an argument, not a file
      base::fail(base::ErrorKind::kUsage, "{}", error.what());
    }
  }
}

// A model to start from has its shape and its vocabulary already, and a given tokenizer is a vocabulary.
void check_has_effect(const nlohmann::json& tree, const Files& files, const TrainOptions& options) {
  const bool has_model = files.contains("initial_model");
  const char* given = has_model ? "initial_model" : "tokenizer";
  const std::vector<std::string> of_vocabularies = base::names_of_fields<data::VocabularyOptions>(kEveryField);
  for (const auto& [name, value] : tree.items()) {
    const bool is_of_shape = options.model.has_field(name) && !models::is_dropout(name);
    const bool is_of_vocabulary = std::ranges::count(of_vocabularies, name) != 0;
    const bool is_joint = name == base::field_of(&TrainOptions::joint_vocabulary).name;
    const bool is_pointless =
        has_model ? is_of_shape || is_of_vocabulary || is_joint : files.contains("tokenizer") && is_of_vocabulary;
    base::check_usage(!is_pointless, "train: {0} has its own {1}; leave out {1}", given, name);
  }
}

// Where the options of a run begin.
struct Recipe {
  std::string preset;
  std::string task;  // what the text files mean; empty = that of the preset
  std::string device = "cpu";
};

// @param note  what was chosen by the language of the text
TrainOptions options_of(const Recipe& recipe, const Files& files, const nb::dict& given, std::string& note) {
  TrainOptions options = training::preset_options(recipe.preset, recipe.task);
  set_files(files, options);
  if (const auto config = files.find("model_config"); config != files.end()) {
    const std::filesystem::path& file = config->second.front();
    options.model = models::config_from_json(base::read_file(file), file.string());
  }
  nlohmann::json tree = json_of_options(given);
  take_memory_options(tree, options);
  check_has_effect(tree, files, options);
  const std::vector<std::string> of_the_run = base::names_of_fields<TrainOptions>(kEveryField);
  take_shape(tree, of_the_run, options);
  const base::JsonFields object(tree, "train", base::ErrorKind::kUsage);
  object.check_known(of_the_run);
  base::read_fields(object, options, kEveryField);
  note = cli::choose_training_options(
      [&](const char* flag) {
        std::string name = std::string(flag).substr(2);
        std::ranges::replace(name, '-', '_');
        return tree.contains(name) || files.contains(name);
      },
      options);
  base::check_fields(options);
  return options;
}

// Hands each whole line to a function.
class LineBuffer final : public std::streambuf {
 public:
  explicit LineBuffer(std::function<void(const std::string&)> take) : take_(std::move(take)) {}

 protected:
  int overflow(int character) override {
    if (character == '\n' || character == '\r') {
      if (!line_.empty()) {
        take_(line_);
      }
      line_.clear();
    } else if (character != EOF) {
      line_ += static_cast<char>(character);
    }
    return character;
  }

 private:
  std::function<void(const std::string&)> take_;
  std::string line_;
};

// All fields of a report of the run, by name.
template <base::HasFields Report>
nb::dict dict_of(const Report& report) {
  nb::dict facts;
  Report::fields([&](const auto& field) { facts[field.name] = report.*field.member; });
  return facts;
}

// The Python functions that follow a run. What the first of them raises ends the run after saving, and is kept.
class Followers {
 public:
  Followers(nb::object on_update, nb::object on_validation, nb::object on_line)
      : on_update_(std::move(on_update)), on_validation_(std::move(on_validation)), on_line_(std::move(on_line)) {}

  bool updated(const report::Progress& progress) {
    const nb::gil_scoped_acquire acquired;
    bool goes_on = true;
    call([&] { goes_on = nb::cast<bool>(on_update_(dict_of(progress))); });
    return goes_on && error_ == nullptr;
  }
  void validated(const report::ValidationRow& row) {
    const nb::gil_scoped_acquire acquired;
    call([&] { on_validation_(dict_of(row)); });
  }
  void told(const std::string& line) {
    const nb::gil_scoped_acquire acquired;
    call([&] { on_line_(nb::bytes(line.data(), line.size()).attr("decode")("utf-8", "replace")); });
  }
  // Throws what was raised.
  void rethrow() const {
    if (error_ != nullptr) {
      std::rethrow_exception(error_);
    }
  }

 private:
  template <typename Action>
  void call(Action action) {
    try {
      action();
    } catch (...) {
      error_ = error_ == nullptr ? std::current_exception() : error_;
    }
  }

  nb::object on_update_, on_validation_, on_line_;
  std::exception_ptr error_;
};

struct Outcome {
  std::string reason;
  int exit_status = 0;
  int64_t step = 0, best_step = 0;
  double best_score = 0.0, seconds = 0.0;
};

// @param device  that trains
Outcome run(const TrainOptions& options, tensor::Device device, Followers& followers) {
  LineBuffer lines([&](const std::string& line) { followers.told(line); });
  std::ostream terminal(&lines);
  // The text is read and the vocabulary learned here; Ctrl-C is heard afterwards.
  auto trainer = run_interruptibly([&](const std::stop_token&) {
    const tensor::DeviceScope scope(device);
    return std::make_unique<training::Trainer>(options, terminal);
  });
  const nb::gil_scoped_release released;
  const tensor::DeviceScope scope(device);
  trainer->listen({.on_update = [&](const report::Progress& progress) { return followers.updated(progress); },
                   .on_validation = [&](const report::ValidationRow& row) { followers.validated(row); }});
  const training::StopReason reason = trainer->run();
  const training::RunState& state = trainer->state();
  const Outcome outcome = {training::stop_text(reason),
                           trainer->exit_status(),
                           state.step,
                           state.best_step,
                           state.best_score,
                           state.seconds};
  trainer.reset();
  return outcome;
}

nb::dict train(const Recipe& recipe, const Files& files, const nb::dict& given, nb::object on_update,
               nb::object on_validation, nb::object on_line) {
  std::string note;
  TrainOptions options = options_of(recipe, files, given, note);
  const tensor::Device device = kernels::cuda::open_named_device(recipe.device, "device");
  if (!device.is_host()) {
    training::choose_for_gpu(options);
  }
  Followers followers(std::move(on_update), std::move(on_validation), std::move(on_line));
  if (!note.empty()) {
    followers.told(note);
  }
  const Outcome outcome = run(options, device, followers);
  followers.rethrow();
  nb::dict facts;
  facts["reason"] = outcome.reason;
  facts["exit_status"] = outcome.exit_status;
  facts["step"] = outcome.step;
  facts["best_step"] = outcome.best_step;
  facts["best_score"] = outcome.best_score;
  facts["seconds"] = outcome.seconds;
  return facts;
}

}  // namespace

void bind_trainer(nb::module_& module) {
  using nb::arg;
  module.def(
      "train",
      [](const std::string& preset, const std::string& task, const Files& files, const nb::dict& options,
         nb::object on_update, nb::object on_validation, nb::object on_line, const std::string& device) {
        return train({preset, task, device}, files, options, std::move(on_update), std::move(on_validation),
                     std::move(on_line));
      },
      arg("preset"), arg("task"), arg("files"), arg("options"), arg("on_update"), arg("on_validation"), arg("on_line"),
      arg("device"),
      nb::sig("def train(preset: str, task: str, files: collections.abc.Mapping[str, "
              "collections.abc.Sequence[str | os.PathLike]], options: dict, on_update: "
              "typing.Any, on_validation: typing.Any, on_line: typing.Any, device: str) -> "
              "dict[str, typing.Any]"));
  module.def("preset_names", &training::preset_names);
  module.def(
      "train_option_rows",
      [](const std::string& preset) {
        nb::list rows;
        append_option_rows(rows, training::preset_options(preset));
        return rows;
      },
      arg("preset"), nb::sig("def train_option_rows(preset: str) -> list[tuple[str, str, str, list[str], str]]"));
  module.def(
      "shape_option_rows",
      [] {
        nb::list rows;
        append_option_rows(rows, models::TransformerConfig());
        append_option_rows(rows, models::DecoderOnlyConfig());
        append_option_rows(rows, models::RecurrentConfig());
        append_option_rows(rows, models::ConvolutionalConfig());
        append_option_rows(rows, models::EncoderOnlyConfig());
        return rows;
      },
      nb::sig("def shape_option_rows() -> list[tuple[str, str, str, list[str], str]]"));
}

}  // namespace dragoman::python
