#include "training/translation_validation.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "data/encoded_corpus.h"
#include "data/text/text_file.h"
#include "decoding/translator.h"
#include "evaluation/evaluate.h"
#include "models/architectures/architectures.h"
#include "training/attention_maps.h"

namespace dragoman::training {
namespace {

constexpr size_t kShownSentences = 5;  // sentences in the report

std::vector<std::string> read_all(const std::vector<std::filesystem::path>& files) {
  std::vector<std::string> lines;
  for (const auto& file : files) {
    for (std::string& line : data::read_lines(file)) {
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

// A warning if BLEU takes whole sentences of the references for words; empty when all is well.
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

}  // namespace

TranslationValidation::TranslationValidation(const TrainOptions& options, data::VocabularyPair vocabularies)
    : vocabularies_(std::move(vocabularies)),
      tokenize_(options.run.tokenize),
      beam_size_(static_cast<int>(options.run.validation_beam)),
      workers_(options.run.workers) {
  if (options.valid_source.empty()) {
    return;
  }
  const int64_t longest = options.model.sizes().max_positions;
  data::EncodingOptions encoding;
  encoding.max_length = static_cast<int32_t>(longest - 1);
  const data::EncodedCorpus corpus(data::ParallelCorpus(options.valid_source, options.valid_target),
                                   vocabularies_.source, vocabularies_.target, encoding);
  batches_ = data::all_batches(corpus, std::max(options.batch.batch_tokens / 2, longest + 1));
  sources_ = read_all(options.valid_source);
  references_ = read_all(options.valid_target);
}

ValidationResult TranslationValidation::run(DataParallel& replicas, const models::Model& model,
                                            distributed::ProcessGroup& processes,
                                            const ValidationLimits& limits) const {
  ValidationResult result;
  result.sums = replicas.evaluate(batches_);
  if (limits.gives_back) {
    replicas.give_back_memory();
  }
  decoding::ExecutionOptions execution;
  execution.workers = workers_;
  execution.batch_tokens = limits.search_tokens.value_or(execution.batch_tokens);
  const std::vector<std::string> translations = translate(model, processes, execution);
  std::array<double, 2> scores{evaluation::corpus_bleu(translations, {references_}, {.tokenize = tokenize_}).score,
                               evaluation::corpus_chrf(translations, {references_}).score};
  processes.broadcast(scores);  // processors may differ in the last bit, decisions must not
  result.bleu = scores[0];
  result.chrf = scores[1];
  for (size_t index = 0; index < std::min(kShownSentences, translations.size()); ++index) {
    result.samples.push_back({sources_[index], references_[index], translations[index]});
  }
  return result;
}

std::vector<std::string> TranslationValidation::warnings() const {
  const std::string warning = tokenizer_warning(tokenize_, references_);
  return warning.empty() ? std::vector<std::string>() : std::vector<std::string>{warning};
}

std::vector<report::HeatMap> TranslationValidation::pictures(const models::Model& model) const {
  return attention_maps(model, vocabularies_, sources_.front(), references_.front());
}

// Each process translates a contiguous part of the sentences.
std::vector<std::string> TranslationValidation::translate(const models::Model& model,
                                                          distributed::ProcessGroup& processes,
                                                          const decoding::ExecutionOptions& execution) const {
  const auto border = [&](int rank) {
    return sources_.size() * static_cast<size_t>(rank) / static_cast<size_t>(processes.size());
  };
  const size_t begin = border(processes.rank()), end = border(processes.rank() + 1);
  decoding::SearchOptions search;
  search.beam_size = beam_size_;
  search.execution = execution;
  const decoding::Translator translator(models::make_inference_model(model), vocabularies_.source,
                                        vocabularies_.target);
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
