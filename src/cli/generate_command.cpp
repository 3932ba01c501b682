#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/lap.h"
#include "cli/chat_session.h"
#include "cli/command.h"
#include "cli/device_flag.h"
#include "cli/prompt.h"
#include "cli/search_flags.h"
#include "cli/text_output.h"
#include "data/text/text_file.h"
#include "decoding/drawn_or_searched.h"
#include "decoding/load_model.h"

namespace dragoman::cli {
namespace {

using decoding::Continuation;
using decoding::GenerationRequest;

constexpr size_t kLinesTogether = 256;

struct GenerateArguments {
  std::string model;
  std::optional<std::string> prompt;
  std::string input;
  std::string output;
  std::string device = "cpu";
  bool json = false;
  bool scores = false;
  bool chat = false;
  std::string system;
  int samples = 1;
  std::optional<kernels::Precision> precision;  // none: as the folder stores the weights
  decoding::GenerationOptions options;
};

nlohmann::json tokens_json(const data::Vocabulary& vocabulary, std::span<const int32_t> ids) {
  nlohmann::json tokens = nlohmann::json::array();
  for (const int32_t id : ids) {
    tokens.push_back(id < vocabulary.size() ? vocabulary.decode({&id, 1}) : "");
  }
  return tokens;
}

// One line of text, whatever it holds.
std::string on_one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    line += c == '\n' ? "\\n" : c == '\\' ? "\\\\" : std::string(1, c);
  }
  return line + "\n";
}

class Generate {
 public:
  explicit Generate(const GenerateArguments& arguments)
      : arguments_(arguments),
        generator_(decoding::load_generator(arguments.model, arguments.precision)),
        output_(arguments.output) {}

  int run() {
    base::Lap lap;
    if (arguments_.chat) {
      chat();
    } else if (arguments_.prompt) {
      continue_prompt(*arguments_.prompt);
    } else if (arguments_.input.empty() && isatty(STDIN_FILENO) == 1) {
      converse();
    } else {
      continue_lines();
    }
    output_.finish();
    const double seconds = lap();
    say_status(fmt::format("generated {} tokens in {:.1f} s ({:.0f} tokens/s)\n", tokens_, seconds,
                           static_cast<double>(tokens_) / std::max(seconds, 1e-9)));
    return failed_ > 0 ? 1 : 0;
  }

 private:
  // A prompt of the command line: its text goes on as it is generated. Samples are generated together, and the first
  // one is seen growing.
  void continue_prompt(const std::string& prompt) {
    if (arguments_.json) {
      return answer({{1, prompt}});
    }
    std::vector<GenerationRequest> requests;
    for (int sample = 0; sample < arguments_.samples; ++sample) {
      requests.push_back({.prompt = prompt, .sample = static_cast<uint64_t>(sample)});
    }
    bool is_begun = false;  // the prompt is not printed before the model has taken it
    const auto begin = [&] {
      if (!std::exchange(is_begun, true)) {
        output_.write(prompt);
      }
    };
    requests.front().on_part = [&](const decoding::GeneratedPart& part) {
      begin();
      output_.write(part.text);
      return true;
    };
    const std::vector<Continuation> continuations = generator_->generate(requests, arguments_.options);
    begin();
    for (const Continuation& continuation : continuations) {
      if (&continuation != &continuations.front()) {
        output_.write("---\n" + prompt + continuation.text);
      }
      output_.write("\n");
      tokens_ += continuation.ids.size();
      say_scores(continuation);
    }
  }

  // Each message is a line of the terminal or of standard input.
  void chat() {
    ChatSession session(arguments_.model, arguments_.system);
    const auto answer_line = [&](const std::string& line) {
      try {
        tokens_ += session.answer(line, *generator_, arguments_.options, output_);
      } catch (const base::Error& error) {
        ++failed_;
        say_note(error.what());
      }
    };
    if (arguments_.prompt) {
      return answer_line(*arguments_.prompt);
    }
    if (isatty(STDIN_FILENO) != 1) {
      data::LineReader reader(STDIN_FILENO, "standard input");
      for (std::string line; reader.next(line);) {
        answer_line(line);
      }
      return;
    }
    output_.write("Type a message and press Enter; Ctrl-D ends.\n");
    Prompt prompt("> ");
    for (std::string line; prompt.next(line);) {
      answer_line(line);
      failed_ = 0;  // who sees the note can write another message
    }
  }

  void converse() {
    output_.write("Type the beginning of a text and press Enter; Ctrl-D ends.\n");
    Prompt prompt("> ");
    for (std::string line; prompt.next(line);) {
      try {
        continue_prompt(line);
      } catch (const base::Error& error) {
        say_note(error.what());
      }
    }
    output_.write("\n");
  }

  void continue_lines() {
    const bool from_standard_input = arguments_.input.empty() || arguments_.input == "-";
    data::LineReader reader = from_standard_input ? data::LineReader(STDIN_FILENO, "standard input")
                                                  : data::LineReader(std::filesystem::path(arguments_.input));
    std::vector<Line> lines;
    for (std::string line; reader.next(line);) {
      lines.push_back({reader.lines_read(), std::move(line)});
      if (lines.size() == kLinesTogether || !reader.ready()) {
        answer(lines);
        lines.clear();
      }
    }
    answer(lines);
    say_note(reader.repairs());
  }

  struct Line {
    uint64_t number;
    std::string prompt;
  };

  void answer(const std::vector<Line>& lines) {
    std::vector<GenerationRequest> requests;
    for (const Line& line : lines) {
      for (int sample = 0; sample < arguments_.samples; ++sample) {
        requests.push_back({.prompt = line.prompt, .sample = static_cast<uint64_t>(sample)});
      }
    }
    const auto continuations = generator_->generate(requests, arguments_.options, decoding::OnError::kReport);
    std::string text;
    for (size_t i = 0; i < continuations.size(); ++i) {
      const Line& line = lines[i / static_cast<size_t>(arguments_.samples)];
      tokens_ += continuations[i].ids.size();
      if (!continuations[i].error.empty()) {
        ++failed_;
        say(fmt::format("dragoman: line {} is not continued: {}\n", line.number, continuations[i].error));
      }
      text += arguments_.json ? json_line(line, i, continuations[i]) : on_one_line(continuations[i].text);
    }
    if (!text.empty()) {
      output_.write(text);
    }
  }

  std::string json_line(const Line& line, size_t index, const Continuation& continuation) const {
    nlohmann::json tree = {{"line", line.number},
                           {"sample", index % static_cast<size_t>(arguments_.samples) + 1},
                           {"prompt", line.prompt},
                           {"text", continuation.text},
                           {"ids", continuation.ids},
                           {"tokens", tokens_json(generator_->vocabulary(), continuation.ids)},
                           {"prompt_tokens", continuation.prompt_ids.size()},
                           {"finish_reason", name_of(continuation.finish_reason)}};
    if (arguments_.scores) {
      tree["token_scores"] = continuation.token_scores;
      tree["score"] = continuation.score;
    }
    if (!continuation.error.empty()) {
      tree["error"] = continuation.error;
    }
    return base::dump_json(tree) + "\n";
  }

  void say_scores(const Continuation& continuation) const {
    if (arguments_.scores && !continuation.token_scores.empty()) {
      say(fmt::format("log-probability {:.4f}, {:.4f} a token\n", continuation.score,
                      continuation.score / static_cast<double>(continuation.token_scores.size())));
    }
  }

  const GenerateArguments& arguments_;
  std::unique_ptr<decoding::Generator> generator_;
  TextOutput output_;
  uint64_t tokens_ = 0;
  uint64_t failed_ = 0;
};

int generate(GenerateArguments& arguments) {
  arguments.options.search.output.scores = arguments.scores;
  const DeviceChoice device(arguments.device);
  return Generate(arguments).run();
}

void add_sampling_flags(CLI::App& command, GenerateArguments& arguments) {
  using decoding::RuleOptions;
  using decoding::SamplingOptions;
  decoding::SamplingOptions& sampling = arguments.options.search.sampling;
  add_field(command, base::field_of(&SamplingOptions::temperature).under("--temperature"), sampling.temperature);
  add_field(command, base::field_of(&SamplingOptions::top_k).under("--top-k"), sampling.top_k);
  add_field(command, base::field_of(&SamplingOptions::top_p).under("--top-p"), sampling.top_p);
  add_field(command, base::field_of(&SamplingOptions::min_p).under("--min-p"), sampling.min_p);
  add_field(command, base::field_of(&SamplingOptions::seed), sampling.seed);
  decoding::RuleOptions& rules = arguments.options.search.rules;
  add_field(command, base::field_of(&RuleOptions::repetition_penalty), rules.repetition_penalty);
  add_field(command, base::field_of(&RuleOptions::no_repeat_ngram), rules.no_repeat_ngram);
}

void choose_search(const CLI::App& command, GenerateArguments& arguments) {
  decoding::SearchOptions& search = arguments.options.search;
  decoding::settle_drawn_or_searched(search, command.get_option("--temperature")->count() > 0);
  base::check_usage(!arguments.chat || (arguments.samples == 1 && !arguments.json && arguments.input.empty()),
                    "--chat writes one answer to each message; leave out --samples, --json and --input");
  base::check_usage(arguments.samples >= 1 && (arguments.samples == 1 || search.samples()),
                    "samples is {}, must be 1 where nothing is drawn; give a temperature above 0", arguments.samples);
  arguments.options.check();
}

}  // namespace

void add_generate_command(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<GenerateArguments>();
  CLI::App* command = add_command(app, "generate", "Continue text with a language model: a prompt, files or pipes",
                                  "dragoman generate --model my-gpt --prompt \"ROMEO:\" --max-tokens 200");
  begin_group(*command, base::kMostUsed);
  command->add_option("-m,--model", arguments->model, "Model folder of a language model")->type_name("DIR")->required();
  command->add_option("-p,--prompt", arguments->prompt, "Text to continue, which is printed as it grows")
      ->type_name("TEXT");
  command
      ->add_option("-i,--input", arguments->input,
                   "File of prompts, one a line; each continuation is one line of output, line ends as \\n; - = "
                   "standard input")
      ->type_name("FILE")
      ->excludes("--prompt");
  command->add_option("-o,--output", arguments->output, "File for what is generated; - = standard output")
      ->type_name("FILE");
  command->add_option("-n,--max-tokens", arguments->options.max_tokens,
                      "New tokens at most; without --context-shift never more than the context has room for");
  command->add_flag("--context-shift", arguments->options.context_shift,
                    "When the context is full, its older half leaves and the text goes on");
  command
      ->add_option("--context-keep", arguments->options.context_keep,
                   "Tokens at the beginning of the text that --context-shift leaves in place")
      ->type_name("TOKENS");
  add_sampling_flags(*command, *arguments);
  command->add_option("--stop", arguments->options.stop, "A text ends before this; may be given several times")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  command->add_option("--samples", arguments->samples, "Continuations of each prompt, drawn independently");
  add_field(*command, base::field_of(&decoding::SearchOptions::beam_size), arguments->options.search.beam_size);
  auto* const chat = command->add_flag("--chat", arguments->chat,
                                       "Hold a conversation in the form of the model's chat template; each line is a "
                                       "message");
  command->add_option("--system", arguments->system, "With --chat: how the model shall answer")
      ->type_name("TEXT")
      ->needs(chat);
  command->add_flag("--json", arguments->json, "One JSON object a continuation: text, tokens, why it ended");
  command->add_flag("--scores", arguments->scores, "Compute log-probabilities");
  add_search_flag(*command, &decoding::ExecutionOptions::workers, arguments->options.search.execution.workers);
  add_team_flag(*command, arguments->options.search.execution.threads_per_worker);
  add_precision_flag(*command, arguments->precision);
  add_device_flag(*command, arguments->device);
  command->callback([arguments, command, &run] {
    choose_search(*command, *arguments);
    run = [arguments] { return generate(*arguments); };
  });
}

}  // namespace dragoman::cli
