#include "decoding/generator.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "decoding/failure_text.h"
#include "decoding/text_stream.h"

namespace dragoman::decoding {
namespace {

SpecialTokens special_tokens(const data::Vocabulary& vocabulary, int32_t last_of_prompt) {
  const data::SpecialIds& ids = vocabulary.special();
  SpecialTokens special;
  special.begin = last_of_prompt;
  special.ends.fill(-1);
  std::copy_n(ids.eos.begin(), std::min(ids.eos.size(), special.ends.size()), special.ends.begin());
  special.never = {ids.pad, -1};
  special.unknown = ids.unk;
  return special;
}

}  // namespace

SearchOptions GenerationOptions::generation_search() {
  SearchOptions search;
  search.beam_size = 1;
  search.length.min_length = 0;
  search.length.max_length_extra = 100'000;  // max_tokens is the limit
  search.sampling.temperature = 0.8;
  search.sampling.top_p = 0.95;
  return search;
}

void GenerationOptions::check() const {
  base::check_usage(max_tokens >= 1, "max_tokens is {}, must be 1 or more", max_tokens);
  base::check_usage(std::ranges::find(stop, "") == stop.end(), "stop: a stop string is empty; leave it out");
  base::check_usage(search.n_best == 1, "n_best is {}, must be 1 where text is generated; ask for samples instead",
                    search.n_best);
  search.check();
}

// A request under way: what it asks of the search, and the stream that its tokens go through.
class Generator::Job {
 public:
  Job(const Generator& generator, const GenerationRequest& request, const GenerationOptions& options)
      : generator_(generator), request_(request), options_(options), stream_(generator.vocabulary_, options.stop) {
    prompt_ = request.prompt_ids.empty() ? generator.prompt_ids(request.prompt) : request.prompt_ids;
    const auto used = static_cast<int64_t>(prompt_.size());
    base::check_usage(used < generator.context(),
                      "prompt: {} tokens, the model takes {}, the new ones counted; give a shorter prompt", used,
                      generator.context());
  }

  // Requires: this outlives the search.
  SentenceRequest search_request() {
    SentenceRequest search;
    // A prompt that is scored is the beginning of what is generated.
    search.source = request_.scores_prompt ? std::vector{prompt_.front()} : prompt_;
    search.prefix.assign(prompt_.begin() + static_cast<ptrdiff_t>(search.source.size()), prompt_.end());
    search.special = special_tokens(generator_.vocabulary_, search.source.back());
    search.continues_source = true;
    search.sample = request_.sample;
    search.cancel = request_.cancel;
    search.deadline = request_.deadline;
    search.likeliest = request_.likeliest;
    scored_ = unread_ = search.prefix.size();
    search.max_length = request_.max_tokens.value_or(options_.max_tokens) + static_cast<int64_t>(unread_);
    if (request_.on_part || !options_.stop.empty()) {
      search.on_ids = [this](std::span<const int32_t> ids, bool is_end) { return take(ids, is_end); };
    }
    if (request_.on_part) {
      search.on_scores = [this](const Hypothesis& hypothesis) { take_scores(hypothesis); };
    }
    return search;
  }

  Continuation finish(const SearchResult& result) const {
    if (result.error != nullptr) {
      std::rethrow_exception(result.error);
    }
    Hypothesis best = result.hypotheses.front();
    Continuation continuation;
    continuation.prompt_scores = cut_prompt(best);
    continuation.text = text_before_stop(generator_.vocabulary_, best.ids, options_.stop);
    continuation.prompt_ids = prompt_;
    continuation.ids = std::move(best.ids);
    continuation.token_scores = std::move(best.token_scores);
    continuation.likeliest = std::move(best.likeliest);
    continuation.score = best.score;
    continuation.finish_reason = stream_.is_stopped() ? FinishReason::kEndOfSentence : best.finish_reason;
    return continuation;
  }

 private:
  // Removes the scored part of the prompt from the hypothesis. A search that was stopped at once has none.
  PromptScores cut_prompt(Hypothesis& hypothesis) const {
    const size_t scored = request_.scores_prompt ? std::min(prompt_.size() - 1, hypothesis.ids.size()) : 0;
    const auto cut = [scored](auto& from) {
      const auto end = from.begin() + static_cast<ptrdiff_t>(std::min(scored, from.size()));
      std::remove_reference_t<decltype(from)> head(from.begin(), end);
      from.erase(from.begin(), end);
      return head;
    };
    cut(hypothesis.ids);
    PromptScores scores{cut(hypothesis.token_scores), cut(hypothesis.likeliest)};
    for (const float log_prob : scores.token_scores) {
      hypothesis.score -= static_cast<double>(log_prob);
    }
    return scores;
  }

  void take_scores(const Hypothesis& hypothesis) {
    if (request_.scores_prompt && unread_ > 0) {  // the first time
      Hypothesis copy = hypothesis;
      prompt_scores_ = cut_prompt(copy);
    }
    const auto begin = static_cast<ptrdiff_t>(std::min(scored_, hypothesis.token_scores.size()));
    token_scores_.assign(hypothesis.token_scores.begin() + begin, hypothesis.token_scores.end());
    if (request_.likeliest > 0) {
      const auto first = static_cast<ptrdiff_t>(std::min(scored_, hypothesis.likeliest.size()));
      likeliest_.assign(hypothesis.likeliest.begin() + first, hypothesis.likeliest.end());
    }
    scored_ = std::max(scored_, hypothesis.token_scores.size());
  }

  bool take(std::span<const int32_t> ids, bool is_end) {
    const size_t of_prompt = std::min(unread_, ids.size());
    unread_ -= of_prompt;
    ids = ids.subspan(of_prompt);
    GeneratedPart part{stream_.take(ids),
                       {ids.begin(), ids.end()},
                       std::exchange(token_scores_, {}),
                       std::exchange(likeliest_, {}),
                       std::exchange(prompt_scores_, {})};
    if (is_end) {
      part.text += stream_.finish();
    }
    const bool goes_on = !request_.on_part || request_.on_part(part);
    return goes_on && !stream_.is_stopped();
  }

  const Generator& generator_;
  GenerationRequest request_;
  const GenerationOptions options_;
  std::vector<int32_t> prompt_;
  TextStream stream_;
  size_t unread_ = 0;  // tokens of the prompt that the search will still tell
  size_t scored_ = 0;  // scores that the search has shown, those of the prompt included
  PromptScores prompt_scores_;
  std::vector<float> token_scores_;
  std::vector<std::vector<LikelyToken>> likeliest_;
};

Generator::Generator(std::shared_ptr<const models::Model> model, data::Vocabulary vocabulary, ServiceThreads threads)
    : vocabulary_(std::move(vocabulary)), search_(model), threads_(threads) {
  const models::ModelSizes sizes = model->config().sizes();
  base::check_usage(sizes.source_vocab_size == 0,
                    "generate: the model is a {}, which reads a source text; use dragoman translate",
                    model->config().architecture());
  base::check_data(vocabulary_.size() <= sizes.target_vocab_size,
                   "generate: the vocabulary has {} pieces, the model was made for {}; use the vocabulary that was "
                   "trained with the model",
                   vocabulary_.size(), sizes.target_vocab_size);
}

std::vector<int32_t> Generator::prompt_ids(const std::string& prompt) const {
  std::vector<int32_t> ids = vocabulary_.encode_checked(prompt, "prompt");
  const data::SpecialIds& special = vocabulary_.special();
  if (vocabulary_.adds_bos() && special.bos >= 0) {
    ids.insert(ids.begin(), special.bos);
  }
  if (ids.empty()) {
    ids = special.bos >= 0       ? std::vector{special.bos}
          : !special.eos.empty() ? std::vector{special.eos.front()}
                                 : vocabulary_.encode("\n");
  }
  base::check_usage(!ids.empty(),
                    "prompt: it is empty, and the vocabulary has no token that begins a text; give at "
                    "least one character");
  return ids;
}

std::vector<Continuation> Generator::generate(std::span<const GenerationRequest> requests,
                                              const GenerationOptions& options, OnError on_error) const {
  options.check();
  std::vector<Continuation> continuations(requests.size());
  std::vector<std::unique_ptr<Job>> jobs;
  std::vector<SentenceRequest> searches;
  std::vector<size_t> places;  // of each job
  const auto guard = [&](size_t place, const auto& action) {
    try {
      action();
    } catch (...) {
      if (on_error == OnError::kThrow) {
        throw;
      }
      continuations[place].error = failure_text(std::current_exception());
    }
  };
  for (size_t place = 0; place < requests.size(); ++place) {
    guard(place, [&] {
      auto job = std::make_unique<Job>(*this, requests[place], options);
      searches.push_back(job->search_request());
      jobs.push_back(std::move(job));
      places.push_back(place);
    });
  }
  const std::vector<SearchResult> results = search_.run(searches, options.search, on_error);
  for (size_t job = 0; job < jobs.size(); ++job) {
    guard(places[job], [&] { continuations[places[job]] = jobs[job]->finish(results[job]); });
  }
  return continuations;
}

void Generator::submit(const GenerationRequest& request, const GenerationOptions& options, Done done) const {
  options.check();
  const auto job = std::make_shared<Job>(*this, request, options);
  std::call_once(service_started_, [&] { service_ = std::make_unique<SearchService>(search_.models(), threads_); });
  std::list<SearchTask> tasks;
  tasks.push_back({0, job->search_request(), std::make_shared<const SearchOptions>(options.search),
                   [job, done = std::move(done)](const SearchResult& result) {
                     Continuation continuation;
                     std::exception_ptr error;
                     try {
                       continuation = job->finish(result);
                     } catch (...) {
                       error = std::current_exception();
                     }
                     done(std::move(continuation), error);
                   }});
  service_->submit(std::move(tasks));
}

}  // namespace dragoman::decoding
