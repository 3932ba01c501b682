#include "training/validator.h"

#include <array>
#include <sstream>

#include "data/text/text_file.h"
#include "decoding/translator.h"
#include "evaluation/evaluate.h"
#include "models/architectures/architectures.h"

namespace dragoman::training {
namespace {

std::vector<std::string> read_all(const std::vector<std::filesystem::path>& files) {
  std::vector<std::string> lines;
  for (const auto& file : files) {
    for (std::string& line : data::read_lines(file)) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

}  // namespace

std::string tokenizer_warning(evaluation::Tokenizer tokenize, std::span<const std::string> references) {
  using evaluation::Tokenizer;
  const bool cuts_chinese = tokenize == Tokenizer::kZh || tokenize == Tokenizer::kChar;
  return cuts_chinese || !evaluation::is_mostly_chinese(references)
             ? ""
             : fmt::format(
                   "the validation text is Chinese, but its BLEU is computed with the tokenizer {}, which takes "
                   "sentences without spaces for words; use --tokenize zh",
                   evaluation::tokenizer_name(tokenize));
}

double ValidationResult::score(ValidationMetric metric) const {
  switch (metric) {
    case ValidationMetric::kBleu:
      return bleu;
    case ValidationMetric::kChrf:
      return chrf;
    case ValidationMetric::kLoss:
      return -sums.nll_per_token();
  }
  return 0.0;
}

Validator::Validator(const TrainOptions& options, const data::Vocabulary& source, const data::Vocabulary& target)
    : source_vocabulary_(source),
      target_vocabulary_(target),
      tokenize_(options.run.tokenize),
      beam_size_(static_cast<int>(options.run.validation_beam)),
      workers_(options.run.workers) {
  if (options.valid_source.empty()) {
    return;
  }
  data::EncodingOptions encoding;
  encoding.max_length = static_cast<int32_t>(options.model.max_positions - 1);
  const data::EncodedCorpus corpus(data::ParallelCorpus(options.valid_source, options.valid_target), source, target,
                                   encoding);
  batches_ = data::all_batches(corpus, std::max(options.batch.batch_tokens / 2, options.model.max_positions + 1));
  sources_ = read_all(options.valid_source);
  references_ = read_all(options.valid_target);
}

ValidationResult Validator::run(DataParallel& replicas, const models::Model& model,
                                distributed::ProcessGroup& processes) const {
  ValidationResult result;
  result.sums = replicas.evaluate(batches_);
  if (alone_) {
    replicas.give_back_memory();
  }
  result.translations = translate(model, processes);
  std::array<double, 2> scores{
      evaluation::corpus_bleu(result.translations, {references_}, {.tokenize = tokenize_}).score,
      evaluation::corpus_chrf(result.translations, {references_}).score};
  processes.broadcast(scores);  // processors may differ in the last bit, decisions must not
  result.bleu = scores[0];
  result.chrf = scores[1];
  return result;
}

// Each process translates a contiguous part of the sentences.
std::vector<std::string> Validator::translate(const models::Model& model, distributed::ProcessGroup& processes) const {
  const auto border = [&](int rank) {
    return sources_.size() * static_cast<size_t>(rank) / static_cast<size_t>(processes.size());
  };
  const size_t begin = border(processes.rank()), end = border(processes.rank() + 1);
  decoding::SearchOptions search;
  search.beam_size = beam_size_;
  search.workers = workers_;
  search.batch_tokens = search_tokens_;
  const decoding::Translator translator(models::make_inference_model(model), source_vocabulary_, target_vocabulary_);
  std::string lines;
  for (const decoding::Translation& translation :
       translator.translate(std::span(sources_).subspan(begin, end - begin), search)) {
    lines += translation.text + "\n";
  }
  std::vector<std::string> translations;
  for (const std::string& part : processes.all_gather(lines)) {
    std::istringstream stream(part);
    for (std::string line; std::getline(stream, line);) {
      translations.push_back(line);
    }
  }
  return translations;
}

}  // namespace dragoman::training
