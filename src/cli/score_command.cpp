#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "cli/command.h"
#include "cli/field_flags.h"
#include "cli/text_lines.h"
#include "cli/text_output.h"
#include "decoding/load_translator.h"
#include "decoding/scorer.h"

namespace dragoman::cli {
namespace {

struct ScoreArguments {
  std::string model;
  std::string source;
  std::string target;
  std::string output;
  bool json = false;
  decoding::ScoreOptions score;
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

int score(const ScoreArguments& arguments) {
  TextOutput output(arguments.output);
  const decoding::Translator translator = decoding::load_translator(arguments.model);
  const std::vector<std::string> sources = read_lines(arguments.source);
  const std::vector<std::string> targets = read_lines(arguments.target);
  const auto scores = decoding::score_pairs(translator.model(), translator.source_vocabulary(),
                                            translator.target_vocabulary(), sources, targets, arguments.score);
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
  CLI::App* command = add_command(app, "score", "Print how probable a model finds given translations",
                                  "dragoman score --model my-model --source text.en --target text.de");
  begin_group(*command, base::kMostUsed);
  command->add_option("-m,--model", arguments->model, "Model folder")->type_name("DIR")->required();
  command->add_option("--source", arguments->source, "Source text, one sentence a line")->type_name("FILE")->required();
  command->add_option("--target", arguments->target, "Its translation, line by line")->type_name("FILE")->required();
  command
      ->add_option("-o,--output", arguments->output,
                   "File for log-probability (nats), the same a token, and tokens, tab-separated, one pair a line; "
                   "- = standard output")
      ->type_name("FILE");
  command->add_flag("--json", arguments->json, "One JSON object a line instead");
  add_field(*command, base::field_of(&decoding::ScoreOptions::batch_tokens), arguments->score.batch_tokens);
  add_field(*command, base::field_of(&decoding::ScoreOptions::workers), arguments->score.workers);
  command->callback([arguments, &run] {
    base::check_fields(arguments->score);
    run = [arguments] { return score(*arguments); };
  });
}

}  // namespace dragoman::cli
