#include "decoding/translator.h"

#include <algorithm>

#include "base/error.h"
#include "decoding/translation_parts.h"

namespace dragoman::decoding {
namespace {

// The phrases that a translation cut before its end does not hold.
std::string missing_phrases(const EncodedPart& part, const Translation& translation) {
  std::string missing;
  for (size_t i = 0; i < part.phrase_texts.size(); ++i) {
    if (std::ranges::search(translation.ids, part.request.phrases[i]).empty()) {
      missing += fmt::format("{}\"{}\"", missing.empty() ? "" : ", ", part.phrase_texts[i]);
    }
  }
  return missing;
}

// Why one of the parts of a line failed; empty when none did. A wrong request is thrown on.
std::string error_of(std::span<const SearchOutput> parts) {
  const auto failed = std::ranges::find_if(parts, [](const SearchOutput& part) { return part.error != nullptr; });
  if (failed == parts.end()) {
    return "";
  }
  try {
    std::rethrow_exception(failed->error);
  } catch (const base::Error& error) {
    if (error.kind() == base::ErrorKind::kUsage) {
      throw;
    }
    return error.what();
  } catch (const std::bad_alloc&) {
    return "the system refused memory; use smaller batches";
  } catch (const std::exception& error) {
    return error.what();
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
  Submitted(const Translator& translator, EncodedLine line, Done done)
      : translator_(translator), line_(std::move(line)), done_(std::move(done)), outputs_(line_.parts.size()) {}

  const EncodedLine& line() const { return line_; }

  void take(size_t part, SearchOutput output, const std::exception_ptr& error) {
    {
      const std::lock_guard lock(mutex_);
      outputs_[part] = std::move(output);
      error_ = error_ != nullptr ? error_ : error;
      if (++n_done_ < outputs_.size()) {
        return;
      }
    }
    answer();
  }

  void answer() {
    Translation translation;
    try {
      if (error_ == nullptr) {
        translation = translator_.finish(line_, outputs_);
      }
    } catch (...) {
      error_ = std::current_exception();
    }
    done_(std::move(translation), error_);
  }

 private:
  const Translator& translator_;
  EncodedLine line_;
  Done done_;
  std::mutex mutex_;
  std::vector<SearchOutput> outputs_;
  size_t n_done_ = 0;
  std::exception_ptr error_;
};

Translator::Translator(std::shared_ptr<const models::Transformer> model, data::Vocabulary source,
                       data::Vocabulary target, const SearchOptions& defaults)
    : Translator(ParallelSearch::Models{std::move(model)}, std::move(source), std::move(target), defaults) {}

Translator::Translator(ParallelSearch::Models models, data::Vocabulary source, data::Vocabulary target,
                       const SearchOptions& defaults, std::shared_ptr<const Shortlist> shortlist)
    : source_(std::move(source)),
      target_(std::move(target)),
      search_(models, std::move(shortlist)),
      defaults_(defaults) {
  for (const auto& model : models) {
    check_vocabulary("source", source_.size(), model->config().source_vocab_size);
    check_vocabulary("target", target_.size(), model->config().target_vocab_size);
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
  std::vector<EncodedLine> lines;
  std::vector<std::vector<int32_t>> sources;
  std::vector<SentenceRequest> asked;
  for (const TranslationRequest& request : requests) {
    lines.push_back(encode_request(request, source_, target_, static_cast<size_t>(search_.max_positions())));
    for (const EncodedPart& part : lines.back().parts) {
      sources.push_back(part.source);
      asked.push_back(part.request);
    }
  }
  const std::vector<SearchOutput> outputs = search_.run(sources, options, asked, on_error);
  std::vector<Translation> translations;
  size_t first_part = 0;
  for (size_t line = 0; line < lines.size(); ++line) {
    const size_t n_parts = lines[line].parts.size();
    const std::span<const SearchOutput> parts = std::span(outputs).subspan(first_part, n_parts);
    std::string error = error_of(parts);
    translations.push_back(error.empty() ? finish(lines[line], parts) : Translation());
    translations.back().error = std::move(error);
    first_part += n_parts;
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
  EncodedLine line = encode_request(request, source_, target_, static_cast<size_t>(search_.max_positions()));
  const auto submitted = std::make_shared<Submitted>(*this, std::move(line), std::move(done));
  if (submitted->line().parts.empty()) {
    return submitted->answer();
  }
  std::call_once(service_started_, [&] { service_ = std::make_unique<SearchService>(search_, options); });
  std::list<SearchTask> tasks;
  for (size_t part = 0; part < submitted->line().parts.size(); ++part) {
    const EncodedPart& encoded = submitted->line().parts[part];
    tasks.push_back(
        {encoded.source, options, encoded.request, [submitted, part](SearchOutput output, std::exception_ptr error) {
           submitted->take(part, std::move(output), error);
         }});
  }
  service_->submit(std::move(tasks));
}

// Joins the parts of a line and says what had to be done.
Translation Translator::finish(const EncodedLine& line, std::span<const SearchOutput> outputs) const {
  std::vector<Translation> parts;
  std::vector<std::string> warnings = line.warnings;
  for (size_t part = 0; part < outputs.size(); ++part) {
    parts.push_back(build(line.parts[part].source, outputs[part]));
    if (const std::string missing = missing_phrases(line.parts[part], parts.back()); !missing.empty()) {
      warnings.push_back(fmt::format("the translation ended without {}", missing));
    }
  }
  const bool split = parts.size() > 1;
  Translation translation = join_parts(std::move(parts));
  if (split) {
    warnings.push_back(fmt::format("{} tokens, the model takes {}: translated in {} parts", line.tokens,
                                   search_.max_positions(), outputs.size()));
  }
  if (line.stream != nullptr) {
    line.stream->end();
  }
  translation.warning = fmt::format("{}", fmt::join(warnings, "; "));
  return translation;
}

Translation Translator::build(std::span<const int32_t> source, const SearchOutput& output) const {
  std::vector<Translation> candidates;
  for (size_t rank = 0; rank < output.hypotheses.size(); ++rank) {
    candidates.push_back(build_candidate(output.hypotheses[rank]));
    if (!output.alignments.empty()) {
      candidates.back().alignment = output.alignments[rank];
    }
  }
  Translation best = std::move(candidates.front());
  for (const int32_t id : source) {
    best.source_pieces.push_back(source_.piece(id));
  }
  best.alternatives.assign(std::make_move_iterator(candidates.begin() + 1), std::make_move_iterator(candidates.end()));
  return best;
}

Translation Translator::build_candidate(const Hypothesis& hypothesis) const {
  Translation candidate;
  candidate.text = target_.decode(hypothesis.ids);
  candidate.ids = hypothesis.ids;
  for (const int32_t id : hypothesis.ids) {
    candidate.pieces.push_back(target_.piece(id));
  }
  candidate.token_scores = hypothesis.token_scores;
  candidate.score = hypothesis.score;
  candidate.normalised_score = hypothesis.normalised_score;
  candidate.finish_reason = hypothesis.finish_reason;
  return candidate;
}

std::shared_ptr<const models::Transformer> make_inference_model(const models::Transformer& model) {
  auto copy = std::make_shared<models::Transformer>(model.config());
  copy->parameters().share_values(model.parameters());
  copy->parameters().pack_weights();
  return copy;
}

}  // namespace dragoman::decoding
