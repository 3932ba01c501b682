#include "decoding/phrase_constraints.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/error.h"

namespace dragoman::decoding {
namespace {

constexpr size_t kMostPhrases = 64;  // bits of PhraseProgress::met

// The longest beginning of `phrase` that `text` ends with.
size_t longest_overlap(std::span<const int32_t> phrase, std::span<const int32_t> text) {
  for (size_t length = std::min(phrase.size(), text.size()); length > 0; --length) {
    if (std::ranges::equal(phrase.first(length), text.last(length))) {
      return length;
    }
  }
  return 0;
}

}  // namespace

PhraseConstraints::PhraseConstraints(Phrases phrases) : phrases_(std::move(phrases)) {
  base::check_usage(phrases_.size() <= kMostPhrases, "phrases: {} are demanded of one sentence, at most {} can be",
                    phrases_.size(), kMostPhrases);
  for (const std::vector<int32_t>& phrase : phrases_) {
    base::check_usage(!phrase.empty(), "phrases: one is empty, it must have a piece at least");
  }
}

PhraseProgress PhraseConstraints::extend(const PhraseProgress& progress, int32_t token_id) const {
  if (empty()) {
    return progress;
  }
  std::vector<int32_t> text;  // what can still be part of a phrase
  if (progress.phrase >= 0) {
    const std::vector<int32_t>& phrase = phrases_[static_cast<size_t>(progress.phrase)];
    text.assign(phrase.begin(), phrase.begin() + progress.matched);
  }
  text.push_back(token_id);
  PhraseProgress next{progress.met};
  for (size_t p = 0; p < phrases_.size(); ++p) {
    const size_t matched = lacks(progress, p) ? longest_overlap(phrases_[p], text) : 0;
    if (matched > 0 && matched == phrases_[p].size()) {
      return {progress.met | (uint64_t{1} << p)};
    }
    if (matched > static_cast<size_t>(next.matched)) {
      next.phrase = static_cast<int32_t>(p);
      next.matched = static_cast<int32_t>(matched);
    }
  }
  return next;
}

void PhraseConstraints::append_wanted(const PhraseProgress& progress, std::vector<int32_t>& tokens) const {
  std::span<const int32_t> begun;
  if (progress.phrase >= 0) {
    begun = std::span(phrases_[static_cast<size_t>(progress.phrase)]).first(static_cast<size_t>(progress.matched));
  }
  for (size_t p = 0; p < phrases_.size(); ++p) {
    const std::span<const int32_t> phrase = phrases_[p];
    if (!lacks(progress, p) || phrase.size() <= begun.size() ||
        !std::ranges::equal(phrase.first(begun.size()), begun)) {
      continue;
    }
    if (const int32_t next = phrase[begun.size()]; std::ranges::find(tokens, next) == tokens.end()) {
      tokens.push_back(next);
    }
  }
}

int64_t PhraseConstraints::met_tokens(const PhraseProgress& progress) const {
  int64_t count = progress.matched;
  for (size_t p = 0; p < phrases_.size(); ++p) {
    count += lacks(progress, p) ? 0 : static_cast<int64_t>(phrases_[p].size());
  }
  return count;
}

bool PhraseConstraints::complete(const PhraseProgress& progress) const {
  for (size_t p = 0; p < phrases_.size(); ++p) {
    if (lacks(progress, p)) {
      return false;
    }
  }
  return true;
}

void share_out(std::vector<Candidate>& candidates, std::span<const int64_t> banks, size_t count) {
  std::map<int64_t, std::vector<size_t>, std::greater<>> members;  // places in `candidates`, the best first
  for (size_t i = 0; i < candidates.size(); ++i) {
    members[banks[i]].push_back(i);
  }
  std::vector<size_t> kept;
  for (size_t round = 0; kept.size() < std::min(count, candidates.size()); ++round) {
    for (const auto& [bank, places] : members) {
      if (round < places.size() && kept.size() < count) {
        kept.push_back(places[round]);
      }
    }
  }
  std::ranges::sort(kept);
  std::vector<Candidate> chosen;
  for (const size_t i : kept) {
    chosen.push_back(candidates[i]);
  }
  candidates.swap(chosen);
}

}  // namespace dragoman::decoding
