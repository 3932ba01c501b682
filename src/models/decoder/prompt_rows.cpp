#include "models/decoder/prompt_rows.h"

#include <algorithm>

namespace dragoman::models {

CachedPrompt::CachedPrompt(KeyValueCache& cache, std::span<const int32_t> ids,
                           std::shared_ptr<const CachedPrompt> begins_with, size_t shared)
    : cache_(cache), begins_with_(std::move(begins_with)), ids_(ids.begin(), ids.end()) {
  try {
    rows_.reserve(ids.size());
    if (shared > 0) {
      rows_.assign(begins_with_->rows_.begin(), begins_with_->rows_.begin() + static_cast<ptrdiff_t>(shared));
    }
    while (rows_.size() < ids.size()) {
      const int32_t before = rows_.empty() ? -1 : rows_.back();
      const bool is_own = rows_.size() > shared;
      rows_.push_back(cache_.take_row(own_, before));
      if (is_own) {
        cache_.release(own_, before);  // from now on needed by what follows it only
      }
    }
  } catch (...) {  // no memory, and no destructor runs
    cache_.release_all(own_);
    throw;
  }
}

PromptRows::Match PromptRows::find(std::span<const int32_t> ids) {
  std::erase_if(held_, [](const auto& held) { return held.expired(); });
  Match best;
  for (const auto& held : held_) {
    const std::shared_ptr<const CachedPrompt> prompt = held.lock();
    const auto [end, unused] = std::ranges::mismatch(ids, prompt->ids());
    const auto shared = static_cast<size_t>(end - ids.begin());
    // Of several with as much in common, the one that has nothing else.
    const bool is_same = shared == ids.size() && prompt->ids().size() == shared;
    if (shared > best.shared || (is_same && shared > 0)) {
      best = {prompt, shared};
    }
  }
  return best;
}

std::shared_ptr<const CachedPrompt> PromptRows::take(std::span<const int32_t> ids, const Match& match) {
  if (match.prompt != nullptr && match.shared == ids.size() && match.prompt->ids().size() == ids.size()) {
    return match.prompt;
  }
  held_.reserve(held_.size() + 1);
  auto prompt = std::make_shared<const CachedPrompt>(cache_, ids, match.prompt, match.shared);
  held_.push_back(prompt);
  return prompt;
}

}  // namespace dragoman::models
