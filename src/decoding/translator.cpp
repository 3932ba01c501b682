#include "decoding/translator.h"

#include <algorithm>

#include "base/error.h"
#include "decoding/failure_text.h"
#include "decoding/search/phrase_constraints.h"
#include "decoding/translation_parts.h"

namespace dragoman::decoding {
namespace {

// The phrases that a translation cut before its end does not hold.
std::string missing_phrases(const EncodedPart& part, const Translation& translation) {
  const PhraseConstraints phrases(part.request.phrases);
  PhraseProgress progress;
  for (const int32_t id : translation.ids) {
    progress = phrases.extend(progress, id);
  }
  std::string missing;
  for (size_t i = 0; i < part.phrase_texts.size(); ++i) {
    if (phrases.lacks(progress, i)) {
      missing += fmt::format("{}\"{}\"", missing.empty() ? "" : ", ", part.phrase_texts[i]);
    }
  }
  return missing;
}

// Why a line failed. A wrong request is thrown on.
std::string message_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const base::Error& error) {
    if (error.kind() == base::ErrorKind::kUsage) {
      throw;
    }
  } catch (const std::exception&) {  // whatever it is
  }
  return failure_text(failure);
}

// Why one of the parts of a line failed; empty when none did.
std::string error_of(std::span<const SearchResult> parts) {
  const auto failed = std::ranges::find_if(parts, [](const SearchResult& part) { return part.error != nullptr; });
  return failed == parts.end() ? "" : message_of(failed->error);
}

// Calls work(line) for each line without an error. What it throws is that line's error, or thrown on with kThrow.
template <typename Work>
void for_each_good_line(std::vector<std::string>& errors, OnError on_error, const Work& work) {
  for (size_t line = 0; line < errors.size(); ++line) {
    try {
      if (errors[line].empty()) {
        work(line);
      }
    } catch (...) {
      if (on_error == OnError::kThrow) {
        throw;
      }
      errors[line] = message_of(std::current_exception());
    }
  }
}

void check_vocabulary(const char* side, int64_t in_vocabulary, int64_t in_model) {
  base::check_data(in_vocabulary == in_model,
                   "translator: the {} vocabulary has {} pieces, the model was made for {}; use the vocabulary that "
                   "was trained with the model",
                   side, in_vocabulary, in_model);
}

}  // namespace

// A request under way: as many tasks as its line has parts. The last to be done answers.
class Translator::Submitted {
 public:
  Submitted(const Translator& translator, EncodedLine line, const SearchOptions& options, Done done)
      : translator_(translator),
        line_(std::move(line)),
        options_(options),
        done_(std::move(done)),
        results_(line_.parts.size()) {}

  const EncodedLine& line() const { return line_; }

  // @param result  of the part whose number it carries
  void take(SearchResult result) {
    {
      const std::lock_guard lock(mutex_);
      error_ = error_ != nullptr ? error_ : result.error;
      const size_t part = result.sentence;
      results_[part] = std::move(result);
      if (++n_done_ < results_.size()) {
        return;
      }
    }
    answer();
  }

  void answer() {
    Translation translation;
    try {
      if (error_ == nullptr) {
        std::vector<Translation> parts = translator_.build_parts(line_, results_);
        translator_.rerank({&line_, 1}, {&parts, 1}, options_, 1);
        translation = translator_.finish(line_, std::move(parts));
      }
    } catch (...) {
      error_ = std::current_exception();
    }
    done_(std::move(translation), error_);
  }

 private:
  const Translator& translator_;
  EncodedLine line_;
  SearchOptions options_;
  Done done_;
  std::mutex mutex_;
  std::vector<SearchResult> results_;
  size_t n_done_ = 0;
  std::exception_ptr error_;
};

Translator::Translator(std::shared_ptr<const models::Model> model, data::Vocabulary source, data::Vocabulary target,
                       TranslatorSetup setup)
    : Translator(ParallelSearch::Models{std::move(model)}, std::move(source), std::move(target), std::move(setup)) {}

Translator::Translator(ParallelSearch::Models models, data::Vocabulary source, data::Vocabulary target,
                       TranslatorSetup setup)
    : source_(std::move(source)),
      target_(std::move(target)),
      search_(models, setup.shortlist),
      setup_(std::move(setup)) {
  for (const auto& model : models) {
    check_vocabulary("source", source_.size(), model->config().sizes().source_vocab_size);
    check_vocabulary("target", target_.size(), model->config().sizes().target_vocab_size);
  }
}

std::vector<Translation> Translator::translate(std::span<const std::string> lines, const SearchOptions& options) const {
  std::vector<TranslationRequest> requests(lines.size());
  for (size_t line = 0; line < lines.size(); ++line) {
    requests[line].text = lines[line];
  }
  return translate_requests(requests, options);
}

std::vector<Translation> Translator::translate_requests(std::span<const TranslationRequest> requests,
                                                        const SearchOptions& options, OnError on_error) const {
  check(options);
  std::vector<EncodedLine> lines;
  std::vector<SentenceRequest> sentences;
  for (const TranslationRequest& request : requests) {
    lines.push_back(encode(request, options));
    for (const EncodedPart& part : lines.back().parts) {
      sentences.push_back(part.request);
    }
  }
  const std::vector<SearchResult> results = search_.run(sentences, searched_with(options), on_error);
  std::vector<std::vector<Translation>> parts(lines.size());
  std::vector<std::string> errors(lines.size());
  size_t first_part = 0;
  for (size_t line = 0; line < lines.size(); ++line) {
    const auto of_line = std::span(results).subspan(first_part, lines[line].parts.size());
    errors[line] = error_of(of_line);
    parts[line] = errors[line].empty() ? build_parts(lines[line], of_line) : std::vector<Translation>();
    first_part += of_line.size();
  }
  if (!rerank_together(lines, parts, options, on_error)) {
    for_each_good_line(errors, on_error, [&](size_t line) {
      rerank({&lines[line], 1}, {&parts[line], 1}, options, 1);
    });
  }
  std::vector<Translation> translations(lines.size());
  for_each_good_line(errors, on_error,
                     [&](size_t line) { translations[line] = finish(lines[line], std::move(parts[line])); });
  for (size_t line = 0; line < lines.size(); ++line) {
    translations[line].error = std::move(errors[line]);
  }
  return translations;
}

std::future<Translation> Translator::submit(const TranslationRequest& request, const SearchOptions& options) const {
  const auto promise = std::make_shared<std::promise<Translation>>();
  std::future<Translation> future = promise->get_future();
  submit(request, options, [promise](Translation translation, const std::exception_ptr& error) {
    if (error != nullptr) {
      promise->set_exception(error);
    } else {
      promise->set_value(std::move(translation));
    }
  });
  return future;
}

void Translator::submit(const TranslationRequest& request, const SearchOptions& options, Done done) const {
  check(options);
  const auto submitted = std::make_shared<Submitted>(*this, encode(request, options), options, std::move(done));
  if (submitted->line().parts.empty()) {
    return submitted->answer();
  }
  std::call_once(service_started_,
                 [&] { service_ = std::make_unique<SearchService>(search_.models(), setup_.threads); });
  const auto searched = std::make_shared<const SearchOptions>(searched_with(options));
  std::list<SearchTask> tasks;
  for (size_t part = 0; part < submitted->line().parts.size(); ++part) {
    tasks.push_back({part, submitted->line().parts[part].request, searched,
                     [submitted](SearchResult result) { submitted->take(std::move(result)); }});
  }
  service_->submit(std::move(tasks));
}

// Where hypotheses are reranked, no token is sure before.
EncodedLine Translator::encode(const TranslationRequest& request, const SearchOptions& options) const {
  if (options.shortlist && request.languages.target) {
    base::check_usage(shortlist()->allows_always(*request.languages.target),
                      "shortlist: was learned from translations without {}; leave --shortlist out, or learn one with "
                      "dragoman shortlist --target-language",
                      target_.piece(*request.languages.target));
  }
  EncodedLine line = encode_request(request, source_, target_, static_cast<size_t>(search_.models().max_positions()));
  if (reranks(options)) {
    for (EncodedPart& part : line.parts) {
      part.request.on_ids = nullptr;
    }
  }
  return line;
}

SearchOptions Translator::searched_with(const SearchOptions& options) const {
  return reranks(options) ? Reranker::widened(options) : options;
}

std::vector<Translation> Translator::build_parts(const EncodedLine& line, std::span<const SearchResult> results) const {
  std::vector<Translation> parts;
  for (size_t part = 0; part < results.size(); ++part) {
    parts.push_back(build(line.parts[part].request.source, results[part]));
  }
  return parts;
}

// @param parts  of each line; a line with an error has none
void Translator::rerank(std::span<const EncodedLine> lines, std::span<std::vector<Translation>> parts,
                        const SearchOptions& options, int workers) const {
  if (!reranks(options)) {
    return;
  }
  std::vector<std::string> texts;
  std::vector<Translation*> translations;
  for (size_t line = 0; line < lines.size(); ++line) {
    for (size_t part = 0; part < parts[line].size(); ++part) {
      texts.push_back(lines[line].parts[part].text);
      translations.push_back(&parts[line][part]);
    }
  }
  setup_.reranker->rank(texts, translations, options, workers);
}

// @return false where it failed and errors are to be reported: by whose lines it failed, trying each alone tells
bool Translator::rerank_together(std::span<const EncodedLine> lines, std::span<std::vector<Translation>> parts,
                                 const SearchOptions& options, OnError on_error) const {
  try {
    rerank(lines, parts, options, options.execution.workers);
    return true;
  } catch (...) {
    if (on_error == OnError::kThrow) {
      throw;
    }
    return false;
  }
}

// Joins the parts of a line and says what had to be done.
Translation Translator::finish(const EncodedLine& line, std::vector<Translation> parts) const {
  std::vector<std::string> warnings = line.warnings;
  for (size_t part = 0; part < parts.size(); ++part) {
    if (const std::string missing = missing_phrases(line.parts[part], parts[part]); !missing.empty()) {
      warnings.push_back(fmt::format("the translation ended without {}", missing));
    }
    if (line.stream != nullptr && !line.parts[part].request.on_ids) {
      line.stream->take(part, parts[part].ids, true);
    }
  }
  if (parts.size() > 1) {
    warnings.push_back(fmt::format("{} tokens, the model takes {}: translated in {} parts", line.tokens,
                                   search_.models().max_positions(), parts.size()));
  }
  Translation translation = join_parts(std::move(parts));
  if (line.stream != nullptr) {
    line.stream->end();
  }
  translation.warning = fmt::format("{}", fmt::join(warnings, "; "));
  return translation;
}

Translation Translator::build(std::span<const int32_t> source, const SearchResult& result) const {
  std::vector<Translation> candidates;
  for (const Hypothesis& hypothesis : result.hypotheses) {
    candidates.push_back(build_candidate(hypothesis));
  }
  Translation best = std::move(candidates.front());
  best.source_pieces = source_.pieces(source);
  best.alternatives.assign(std::make_move_iterator(candidates.begin() + 1), std::make_move_iterator(candidates.end()));
  return best;
}

Translation Translator::build_candidate(const Hypothesis& hypothesis) const {
  Translation candidate;
  candidate.text = data::decode_line(target_, hypothesis.ids);
  candidate.ids = hypothesis.ids;
  candidate.pieces = target_.pieces(hypothesis.ids);
  candidate.token_scores = hypothesis.token_scores;
  candidate.score = hypothesis.score;
  candidate.normalised_score = hypothesis.normalised_score;
  candidate.finish_reason = hypothesis.finish_reason;
  candidate.alignment = hypothesis.alignment;
  return candidate;
}

}  // namespace dragoman::decoding
