#include "decoding/logits_rules.h"

#include <algorithm>

namespace dragoman::decoding {
namespace {

constexpr std::string_view kWordBegin = "\xE2\x96\x81";  // U+2581

// Whether `history` ends with the first run.size() - 1 pieces of `run`.
bool last_is_next(std::span<const int32_t> history, std::span<const int32_t> run) {
  const size_t before = run.size() - 1;
  return history.size() >= before && std::ranges::equal(history.last(before), run.first(before));
}

// Cut anew from the left, longest piece first, with no mark before the first piece; empty when a character has none.
std::vector<int32_t> cut_inside_word(const data::Vocabulary& vocabulary, std::string_view spelled) {
  std::vector<int32_t> ids;
  while (!spelled.empty()) {
    size_t length = spelled.size();
    while (length > 0 && vocabulary.id(spelled.substr(0, length)) == data::kUnkId) {
      --length;
    }
    if (length == 0) {
      return {};
    }
    ids.push_back(vocabulary.id(spelled.substr(0, length)));
    spelled.remove_prefix(length);
  }
  return ids;
}

void add_phrase(const data::Vocabulary& vocabulary, const std::string& phrase, Phrases& phrases) {
  const std::vector<int32_t> whole_word = vocabulary.encode(phrase);
  if (whole_word.empty()) {
    return;
  }
  std::string spelled;
  for (const int32_t id : whole_word) {
    spelled += vocabulary.piece(id);
  }
  phrases.push_back(whole_word);
  if (spelled.starts_with(kWordBegin)) {
    std::vector<int32_t> inside = cut_inside_word(vocabulary, std::string_view(spelled).substr(kWordBegin.size()));
    if (!inside.empty()) {
      phrases.push_back(std::move(inside));
    }
  }
}

}  // namespace

void LogitsRules::expand(std::span<const int32_t> history, std::span<float> logits, Expansion expansion,
                         std::vector<Candidate>& candidates) const {
  if (empty()) {
    return decoding::expand(logits, expansion, candidates);
  }
  expansion.normaliser = log_normaliser(logits);
  expansion.allow_unk = !options_.disable_unk;
  std::vector<float> before;
  for (const int32_t id : penalises() ? history : std::span<const int32_t>()) {
    before.push_back(logits[static_cast<size_t>(id)]);
  }
  apply(history, logits);
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
  if (penalises()) {
    penalise(history, logits);
  }
  if (options_.no_repeat_ngram > 0) {
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
  const auto penalty = static_cast<float>(options_.repetition_penalty);
  for (const int32_t id : ids) {
    float& logit = logits[static_cast<size_t>(id)];
    logit = logit > 0.0F ? logit / penalty : logit * penalty;
  }
}

void LogitsRules::forbid_repeats(std::span<const int32_t> history, std::span<float> logits) const {
  const auto n = static_cast<size_t>(options_.no_repeat_ngram);
  for (size_t begin = 0; begin + n <= history.size(); ++begin) {
    const std::span<const int32_t> run = history.subspan(begin, n);
    if (last_is_next(history, run)) {
      logits[static_cast<size_t>(run.back())] = kImpossible;
    }
  }
}

void LogitsRules::forbid_banned(std::span<const int32_t> history, std::span<float> logits) const {
  for (const std::vector<int32_t>& run : *options_.banned) {
    if (last_is_next(history, run)) {
      logits[static_cast<size_t>(run.back())] = kImpossible;
    }
  }
}

Phrases banned_phrases(const data::Vocabulary& vocabulary, std::span<const std::string> phrases) {
  Phrases runs;
  for (const std::string& phrase : phrases) {
    add_phrase(vocabulary, phrase, runs);
  }
  return runs;
}

}  // namespace dragoman::decoding
