#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "base/cpu.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/device_flag.h"
#include "cli/field_flags.h"
#include "cli/language_flags.h"
#include "cli/text_lines.h"
#include "cli/text_output.h"
#include "data/text/documents.h"
#include "decoding/load_model.h"
#include "decoding/load_translator.h"
#include "decoding/scorer.h"
#include "decoding/text_scorer.h"

namespace dragoman::cli {
namespace {

struct ScoreArguments {
  std::string model;
  std::string source;
  std::string target;
  std::string output;
  bool json = false;
  std::string device = "cpu";
  std::vector<std::filesystem::path> text;  // of a language model
  data::TextOptions running_text;
  decoding::TextScoreOptions text_score;
  decoding::ScoreOptions score;
  models::LanguagePair languages;  // empty: the only ones of the model
};

std::string format(uint64_t line, const decoding::PairScore& score, bool json) {
  if (!json) {
    return fmt::format("{:.6f}\t{:.6f}\t{}\n", score.log_prob, score.per_token(), score.tokens);
  }
  return base::dump_json({{"line", line},
                          {"log_prob", score.log_prob},
                          {"log_prob_per_token", score.per_token()},
                          {"tokens", score.tokens}}) +
         "\n";
}

std::string format_token(const std::string& token, float log_prob, bool json) {
  return json ? base::dump_json({{"token", token}, {"log_prob", log_prob}}) + "\n"
              : fmt::format("{:.6f}\t{}\n", log_prob, base::dump_json(token));
}

// The text of a language model: a line a token, and the sums.
int score_text(const ScoreArguments& arguments) {
  TextOutput output(arguments.output);
  const auto generator = decoding::load_generator(arguments.model);
  const data::Vocabulary& vocabulary = generator->vocabulary();
  const data::TokenText text = data::encode_documents(data::read_documents(arguments.text, arguments.running_text),
                                                      vocabulary, base::thread_count(arguments.score.workers));
  const decoding::TextScoreOptions& options = arguments.text_score;
  const decoding::TextScore score = decoding::score_text(generator->model(), text, options, arguments.score);
  if (!arguments.output.empty() && options.random_windows == 0) {
    for (size_t i = 0; i < score.log_probs.size(); ++i) {
      output.write(format_token(vocabulary.decode({&text.ids[i + 1], 1}), score.log_probs[i], arguments.json));
    }
    output.finish();
  }
  const double bits = score.bytes == 0 ? 0.0 : -score.log_prob / std::numbers::ln2 / static_cast<double>(score.bytes);
  say_status(fmt::format(
      "tokens {}  loss {:.4f}  perplexity {:.4f}{}  window {}  stride {}{}\n", score.tokens(), score.loss(),
      std::exp(score.loss()), score.bytes == 0 ? "" : fmt::format("  bits per byte {:.4f}", bits), score.window,
      score.stride, score.bytes == 0 ? fmt::format("  estimated from {} random windows", options.random_windows) : ""));
  return 0;
}

int score(const ScoreArguments& arguments) {
  const DeviceChoice device(arguments.device);
  if (!arguments.text.empty()) {
    return score_text(arguments);
  }
  TextOutput output(arguments.output);
  const decoding::Translator translator = decoding::load_translator(arguments.model);
  const std::vector<std::string> sources = read_lines(arguments.source);
  const std::vector<std::string> targets = read_lines(arguments.target);
  const decoding::PairEncoding encoding{{translator.source_vocabulary(), translator.target_vocabulary()},
                                        translator.choose_languages(arguments.languages).tokens};
  const auto scores = decoding::score_pairs(translator.model(), encoding, sources, targets, arguments.score);
  std::string text;
  decoding::PairScore total;
  for (size_t line = 0; line < scores.size(); ++line) {
    text += format(line + 1, scores[line], arguments.json);
    total.log_prob += scores[line].log_prob;
    total.tokens += scores[line].tokens;
  }
  output.write(text);
  output.finish();
  const std::string summary =
      fmt::format("lines {}  tokens {}  log-probability {:.6f}  perplexity {:.6f}\n", scores.size(), total.tokens,
                  total.log_prob, decoding::perplexity({&total, 1}));
  say_status(summary);
  return 0;
}

}  // namespace

void add_score_command(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<ScoreArguments>();
  CLI::App* command = add_command(app, "score", "Print how probable a model finds given translations or a text",
                                  "dragoman score --model my-model --source text.en --target text.de\n"
                                  "dragoman score --model my-gpt --text valid.txt");
  begin_group(*command, base::kMostUsed);
  command->add_option("-m,--model", arguments->model, "Model folder")->type_name("DIR")->required();
  command->add_option("--source", arguments->source, "Source text, one sentence a line")->type_name("FILE");
  command->add_option("--target", arguments->target, "Its translation, line by line")->type_name("FILE");
  add_language_flags(*command, arguments->languages);
  command->add_option("--text", arguments->text, "Text to score with a language model")->type_name("FILE");
  command
      ->add_option("-o,--output", arguments->output,
                   "File for log-probability (nats), the same a token, and tokens, tab-separated, one pair a line; of "
                   "--text log-probability and token, one token a line; - = standard output")
      ->type_name("FILE");
  command->add_flag("--json", arguments->json, "One JSON object a line instead");
  add_field(*command, base::field_of(&decoding::ScoreOptions::batch_tokens), arguments->score.batch_tokens);
  add_field(*command, base::field_of(&decoding::ScoreOptions::workers), arguments->score.workers);
  add_field(*command, base::field_of(&decoding::ScoreOptions::batch_statistics), arguments->score.batch_statistics);
  add_field(*command, base::field_of(&decoding::ScoreOptions::padded_statistics), arguments->score.padded_statistics);
  decoding::TextScoreOptions& text = arguments->text_score;
  add_field(*command, base::field_of(&decoding::TextScoreOptions::window), text.window);
  add_field(*command, base::field_of(&decoding::TextScoreOptions::stride), text.stride);
  add_field(*command, base::field_of(&decoding::TextScoreOptions::random_windows), text.random_windows);
  add_field(*command, base::field_of(&decoding::TextScoreOptions::seed), text.seed);
  add_field(*command, base::field_of(&data::TextOptions::documents), arguments->running_text.documents);
  add_field(*command, base::field_of(&data::TextOptions::document_separator),
            arguments->running_text.document_separator);
  add_device_flag(*command, arguments->device);
  command->callback([arguments, &run] {
    base::check_fields(arguments->score);
    base::check_usage(arguments->text.empty() ? !arguments->source.empty() && !arguments->target.empty()
                                              : arguments->source.empty() && arguments->target.empty(),
                      "give --source and --target, or --text for a language model");
    const decoding::ScoreOptions& options = arguments->score;
    base::check_usage(options.batch_statistics == 0 || arguments->text.empty(),
                      "--batch-statistics goes with --source and --target; models of --text have no batch norms");
    base::check_usage(!options.padded_statistics || options.batch_statistics > 0,
                      "--padded-statistics goes with --batch-statistics, the pairs of a batch");
    run = [arguments] { return score(*arguments); };
  });
}

}  // namespace dragoman::cli
