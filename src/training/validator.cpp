#include "training/validator.h"

#include "data/text_file.h"
#include "decoding/translator.h"
#include "evaluation/evaluate.h"

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

ValidationResult Validator::run(DataParallel& replicas, const models::Transformer& model) const {
  ValidationResult result;
  result.sums = replicas.evaluate(batches_);
  const decoding::Translator translator(decoding::make_inference_model(model), source_vocabulary_, target_vocabulary_);
  decoding::SearchOptions search;
  search.beam_size = beam_size_;
  search.workers = workers_;
  search.batch_tokens = search_tokens_;
  if (alone_) {
    replicas.give_back_memory();
  }
  for (const decoding::Translation& translation : translator.translate(sources_, search)) {
    result.translations.push_back(translation.text);
  }
  result.bleu = evaluation::corpus_bleu(result.translations, {references_}, {.tokenize = tokenize_}).score;
  result.chrf = evaluation::corpus_chrf(result.translations, {references_}).score;
  return result;
}

}  // namespace dragoman::training
