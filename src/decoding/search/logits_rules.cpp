#include "decoding/search/logits_rules.h"

#include <algorithm>

#include "decoding/search/banned_phrases.h"

namespace dragoman::decoding {
namespace {

// Whether `history` ends with the first run.size() - 1 pieces of `run`.
bool last_is_next(std::span<const int32_t> history, std::span<const int32_t> run) {
  const size_t before = run.size() - 1;
  return history.size() >= before && std::ranges::equal(history.last(before), run.first(before));
}

}  // namespace

bool LogitsRules::bans() const {
  return options_.rules.banned != nullptr && !options_.rules.banned->empty();
}

std::vector<int32_t> LogitsRules::text_of(std::span<const int32_t> history) const {
  std::vector<int32_t> text = context_;
  text.insert(text.end(), history.begin(), history.end());
  return text;
}

void LogitsRules::expand(std::span<const int32_t> generated, std::span<float> logits, Expansion expansion,
                         std::vector<Candidate>& candidates) const {
  if (empty()) {
    return decoding::expand(logits, expansion, candidates);
  }
  const std::vector<int32_t> history = text_of(generated);
  expansion.normaliser = log_normaliser(logits);
  expansion.allow_unk = !options_.rules.disable_unk;
  std::vector<float> before;
  for (const int32_t id : penalises() ? std::span(history) : std::span<const int32_t>()) {
    before.push_back(logits[static_cast<size_t>(id)]);
  }
  apply_to(history, logits);
  const size_t first = candidates.size();
  decoding::expand(logits, expansion, candidates);
  for (size_t i = 0; i < before.size(); ++i) {  // the score keeps the penalty, the log-probability is the model's
    for (Candidate& candidate : std::span(candidates).subspan(first)) {
      if (candidate.token_id == history[i]) {
        candidate.log_prob = static_cast<float>(std::min(0.0, before[i] - *expansion.normaliser));
      }
    }
  }
}

void LogitsRules::apply(std::span<const int32_t> history, std::span<float> logits) const {
  if (!empty()) {
    apply_to(text_of(history), logits);
  }
}

void LogitsRules::apply_to(std::span<const int32_t> history, std::span<float> logits) const {
  if (penalises()) {
    penalise(history, logits);
  }
  if (options_.rules.no_repeat_ngram > 0) {
    forbid_repeats(history, logits);
  }
  if (bans()) {
    forbid_banned(history, logits);
  }
}

void LogitsRules::penalise(std::span<const int32_t> history, std::span<float> logits) const {
  std::vector<int32_t> ids(history.begin(), history.end());
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());  // once, however often it came
  const auto penalty = static_cast<float>(options_.rules.repetition_penalty);
  for (const int32_t id : ids) {
    float& logit = logits[static_cast<size_t>(id)];
    logit = logit > 0.0F ? logit / penalty : logit * penalty;
  }
}

void LogitsRules::forbid_repeats(std::span<const int32_t> history, std::span<float> logits) const {
  const auto n = static_cast<size_t>(options_.rules.no_repeat_ngram);
  for (size_t begin = 0; begin + n <= history.size(); ++begin) {
    const std::span<const int32_t> run = history.subspan(begin, n);
    if (last_is_next(history, run)) {
      logits[static_cast<size_t>(run.back())] = kImpossible;
    }
  }
}

void LogitsRules::forbid_banned(std::span<const int32_t> history, std::span<float> logits) const {
  for (const int32_t id : options_.rules.banned->completing(history)) {
    logits[static_cast<size_t>(id)] = kImpossible;
  }
}

}  // namespace dragoman::decoding
