#include "decoding/search/banned_phrases.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "decoding/search/phrases.h"

namespace dragoman::decoding {

BannedPhrases::BannedPhrases(const data::Vocabulary& target, std::span<const std::string> phrases) : states_(1) {
  for (const std::string& phrase : phrases) {
    if (std::string normalised = target.normalize(phrase); !normalised.empty()) {
      add(normalised);
      phrases_.push_back(std::move(normalised));
    }
  }
  link();
  texts_.reserve(static_cast<size_t>(target.size()));
  for (int32_t id = 0; id < target.size(); ++id) {
    texts_.push_back(piece_text(target, id));
  }
  completing_ = std::make_unique<Completing[]>(states_.size());
}

std::string_view BannedPhrases::found_in(std::string_view text) const {
  const auto found = std::ranges::find_if(
      phrases_, [&](const std::string& phrase) { return text.find(phrase) != std::string_view::npos; });
  return found == phrases_.end() ? std::string_view() : *found;
}

// Makes a chain of states that begins with those that are there.
void BannedPhrases::add(std::string_view phrase) {
  size_t state = 0;
  for (const char byte : phrase) {
    const auto [longer, is_new] = states_[state].longer.try_emplace(byte, static_cast<int32_t>(states_.size()));
    state = static_cast<size_t>(longer->second);
    if (is_new) {
      states_.emplace_back().after_space = byte == ' ';
    }
  }
  states_[state].ends_phrase = state != 0;
}

// Shorter texts come first, so that what `after` follows is there.
void BannedPhrases::link() {
  std::queue<int32_t> waiting({0});
  for (; !waiting.empty(); waiting.pop()) {
    const int32_t index = waiting.front();
    for (const auto& [byte, longer] : at(index).longer) {
      State& state = states_[static_cast<size_t>(longer)];
      state.shorter = index == 0 ? 0 : after(at(index).shorter, byte);
      state.ends_phrase = state.ends_phrase || at(state.shorter).ends_phrase;
      waiting.push(longer);
    }
  }
}

// The text of the state and the byte, or else the longest end of it that is a state.
int32_t BannedPhrases::after(int32_t state, char byte) const {
  for (;;) {
    const auto longer = at(state).longer.find(byte);
    if (longer != at(state).longer.end()) {
      return longer->second;
    }
    if (state == 0) {
      return 0;
    }
    state = at(state).shorter;
  }
}

// Of several spaces the first counts.
int32_t BannedPhrases::after_text(int32_t state, std::string_view text) const {
  for (const char byte : text) {
    state = byte == ' ' && at(state).after_space ? state : after(state, byte);
  }
  return state;
}

bool BannedPhrases::completes(int32_t state, std::string_view text) const {
  for (size_t i = 0; i < text.size(); ++i) {
    state = after_text(state, text.substr(i, 1));
    if (at(state).ends_phrase) {
      return true;
    }
  }
  return false;
}

std::span<const int32_t> BannedPhrases::completing(std::span<const int32_t> history) const {
  int32_t state = 0;
  for (const int32_t id : history) {
    state = after_text(state, texts_[static_cast<size_t>(id)]);
  }
  Completing& completing = completing_[static_cast<size_t>(state)];
  std::call_once(completing.found, [&] {
    std::vector<int32_t> ids;
    for (size_t id = 0; id < texts_.size(); ++id) {
      if (completes(state, texts_[id])) {
        ids.push_back(static_cast<int32_t>(id));
      }
    }
    completing.ids = std::move(ids);
  });
  return completing.ids;
}

}  // namespace dragoman::decoding
