#include "decoding/search/phrase_constraints.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/error.h"

namespace dragoman::decoding {
namespace {

// The longest beginning of `phrase` that `text` ends with, bytes.
size_t longest_overlap(std::string_view phrase, std::string_view text) {
  for (size_t length = std::min(phrase.size(), text.size()); length > 0; --length) {
    if (text.ends_with(phrase.substr(0, length))) {
      return length;
    }
  }
  return 0;
}

}  // namespace

PhraseConstraints::PhraseConstraints(Phrases phrases) : phrases_(std::move(phrases)) {
  base::check_usage(phrases_.all.size() <= kMostPhrases, "phrases: {} are demanded of one sentence, at most {} can be",
                    phrases_.all.size(), kMostPhrases);
  for (const Phrase& phrase : phrases_.all) {
    base::check_usage(!phrase.text.empty(), "phrases: one is empty, it must have a piece at least");
    std::vector<size_t>& ends = ends_.emplace_back();
    for (size_t at = 0; at < phrase.text.size() && phrase.next[at] >= 0;) {
      at += phrases_.text_of(phrase.next[at]).size();
      ends.push_back(at);
    }
  }
}

// What can still become part of a phrase.
std::string_view PhraseConstraints::begun(const PhraseProgress& progress) const {
  return progress.phrase < 0 ? std::string_view()
                             : std::string_view(phrases_.all[static_cast<size_t>(progress.phrase)].text)
                                   .substr(0, static_cast<size_t>(progress.matched));
}

PhraseProgress PhraseConstraints::extend(const PhraseProgress& progress, int32_t token_id) const {
  if (empty()) {
    return progress;
  }
  const std::string text = std::string(begun(progress)) + phrases_.text_of(token_id);
  PhraseProgress next{progress.met};
  for (size_t p = 0; p < phrases_.all.size(); ++p) {
    if (text.find(phrases_.all[p].text) != std::string::npos) {
      next.met |= uint64_t{1} << p;
    }
    const size_t matched = lacks(next, p) ? longest_overlap(phrases_.all[p].text, text) : 0;
    if (matched > static_cast<size_t>(next.matched)) {
      next.phrase = static_cast<int32_t>(p);
      next.matched = static_cast<int32_t>(matched);
    }
  }
  return next;
}

PhraseProgress PhraseConstraints::progress_of(std::span<const int32_t> ids) const {
  PhraseProgress progress;
  for (const int32_t token_id : ids) {
    progress = extend(progress, token_id);
  }
  return progress;
}

void PhraseConstraints::append_wanted(const PhraseProgress& progress, std::vector<int32_t>& tokens) const {
  const std::string_view text = begun(progress);
  for (size_t p = 0; p < phrases_.all.size(); ++p) {
    const Phrase& phrase = phrases_.all[p];
    if (!lacks(progress, p) || !phrase.text.starts_with(text)) {
      continue;
    }
    if (const int32_t next = phrase.next[text.size()]; next >= 0 && std::ranges::find(tokens, next) == tokens.end()) {
      tokens.push_back(next);
    }
  }
}

// Of the pieces that write a phrase, those that so many bytes hold.
int64_t PhraseConstraints::pieces_of(size_t phrase, size_t bytes) const {
  return std::ranges::upper_bound(ends_[phrase], bytes) - ends_[phrase].begin();
}

int64_t PhraseConstraints::met_tokens(const PhraseProgress& progress) const {
  int64_t count = 0;
  for (size_t p = 0; p < phrases_.all.size(); ++p) {
    count += lacks(progress, p) ? 0 : static_cast<int64_t>(ends_[p].size());
  }
  return progress.phrase < 0
             ? count
             : count + pieces_of(static_cast<size_t>(progress.phrase), static_cast<size_t>(progress.matched));
}

bool PhraseConstraints::complete(const PhraseProgress& progress) const {
  for (size_t p = 0; p < phrases_.all.size(); ++p) {
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
