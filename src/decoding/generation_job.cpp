#include "decoding/generation_job.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

#include "base/error.h"

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

template <typename T>
void move_to_end(std::vector<T>& from, std::vector<T>& to) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

GenerationJob::GenerationJob(data::Vocabulary vocabulary, int64_t context, GenerationRequest request,
                             GenerationOptions options, std::vector<int32_t> prompt)
    : vocabulary_(std::move(vocabulary)),
      context_(context),
      request_(std::move(request)),
      options_(std::move(options)),
      text_(std::move(prompt)),
      stream_(vocabulary_, options_.stop) {
  base::check_usage(static_cast<int64_t>(text_.size()) < context_,
                    "prompt: {} tokens, the model takes {}, the new ones counted; give a shorter prompt", text_.size(),
                    context_);
  continuation_.prompt_ids = text_;
}

SentenceRequest GenerationJob::next_search() {
  SentenceRequest search;
  // A prompt that is scored is the beginning of what is generated.
  const bool scores_prompt = request_.scores_prompt && continuation_.ids.empty();
  search.source = scores_prompt ? std::vector{text_.front()} : text_;
  search.prefix.assign(text_.begin() + static_cast<ptrdiff_t>(search.source.size()), text_.end());
  search.special = special_tokens(vocabulary_, search.source.back());
  search.continues_source = true;
  search.sample = request_.sample;
  search.cancel = request_.cancel;
  search.deadline = request_.deadline;
  search.likeliest = request_.likeliest;
  scored_prompt_ = scored_ = unread_ = search.prefix.size();
  streamed_ = 0;
  const int64_t left =
      request_.max_tokens.value_or(options_.max_tokens) - static_cast<int64_t>(continuation_.ids.size());
  const int64_t room = context_ - static_cast<int64_t>(text_.size());
  search.max_length = std::min(left, room) + static_cast<int64_t>(scored_prompt_);
  if (request_.on_part || !options_.stop.empty()) {
    search.on_ids = [this](std::span<const int32_t> ids, bool is_end) { return take(ids, is_end); };
  }
  if (request_.on_part) {
    search.on_scores = [this](const Hypothesis& hypothesis) { take_scores(hypothesis); };
  }
  return search;
}

bool GenerationJob::take_result(const SearchResult& result) {
  if (result.error != nullptr) {
    std::rethrow_exception(result.error);
  }
  Hypothesis best = result.hypotheses.front();
  PromptScores prompt_scores = cut_prompt(best);
  if (scored_prompt_ > 0) {
    continuation_.prompt_scores = std::move(prompt_scores);
  }
  const bool is_full = best.finish_reason == FinishReason::kLengthLimit && goes_on_after(best.ids.size());
  text_.insert(text_.end(), best.ids.begin(), best.ids.end());
  append(std::move(best));
  if (is_full && !cancelled_) {
    shift();
    return true;
  }
  if (is_full) {
    continuation_.finish_reason = FinishReason::kCancelled;
  }
  if (request_.on_part && !told_end_) {  // the last search was stopped before it began
    take({}, true);
  }
  return false;
}

Continuation GenerationJob::finish() {
  continuation_.text = text_before_stop(vocabulary_, continuation_.ids, options_.stop);
  if (stream_.is_stopped()) {
    continuation_.finish_reason = FinishReason::kEndOfSentence;
  }
  return std::move(continuation_);
}

// Adds what one search has found.
void GenerationJob::append(Hypothesis part) {
  continuation_.finish_reason = part.finish_reason;
  continuation_.score += part.score;
  move_to_end(part.ids, continuation_.ids);
  move_to_end(part.token_scores, continuation_.token_scores);
  move_to_end(part.likeliest, continuation_.likeliest);
}

// Whether the text needs another search when the one under way has written this number of tokens.
bool GenerationJob::goes_on_after(size_t tokens) const {
  const auto full = static_cast<int64_t>(text_.size() + tokens) >= context_;
  const auto generated = static_cast<int64_t>(continuation_.ids.size() + tokens);
  return options_.context_shift && full && !stream_.is_stopped() &&
         generated < request_.max_tokens.value_or(options_.max_tokens);
}

// Half of the context leaves, the oldest tokens but those that are kept.
void GenerationJob::shift() {
  const bool begins_with_bos = vocabulary_.adds_bos() && text_.front() == vocabulary_.special().bos;
  const auto size = static_cast<int64_t>(text_.size());
  const int64_t keep = options_.context_keep + (begins_with_bos ? 1 : 0);
  text_.erase(text_.begin() + keep, text_.begin() + keep + std::max<int64_t>((size - keep) / 2, 1));
}

// Removes the scored part of the prompt from the hypothesis. A search that was stopped at once has none.
PromptScores GenerationJob::cut_prompt(Hypothesis& hypothesis) const {
  const size_t scored = std::min(scored_prompt_, hypothesis.ids.size());
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

void GenerationJob::take_scores(const Hypothesis& hypothesis) {
  if (unread_ > 0) {  // the first time
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

bool GenerationJob::take(std::span<const int32_t> ids, bool is_end) {
  const size_t of_prompt = std::min(unread_, ids.size());
  unread_ -= of_prompt;
  ids = ids.subspan(of_prompt);
  streamed_ += ids.size();
  GeneratedPart part{stream_.take(ids),
                     {ids.begin(), ids.end()},
                     std::exchange(token_scores_, {}),
                     std::exchange(likeliest_, {}),
                     std::exchange(prompt_scores_, {})};
  if (is_end && !goes_on_after(streamed_)) {
    part.text += stream_.finish();
    told_end_ = true;
  }
  cancelled_ = (request_.on_part && !request_.on_part(part)) || cancelled_;
  return !cancelled_ && !stream_.is_stopped();
}

}  // namespace dragoman::decoding
