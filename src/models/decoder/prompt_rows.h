#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/decoder/key_value_cache.h"

namespace dragoman::models {

/// A prompt whose keys and values are in the cache: the rows of its tokens. It begins with rows of another prompt where
/// both begin with the same tokens. Its own rows are free again when nobody holds the prompt.
/// Threads: as its cache, one at a time.
class CachedPrompt {
 public:
  /// @param cache  must outlive this;  @param begins_with  null if `shared` is 0;  @param shared  tokens in common
  CachedPrompt(KeyValueCache& cache, std::span<const int32_t> ids, std::shared_ptr<const CachedPrompt> begins_with,
               size_t shared);
  ~CachedPrompt() { cache_.release_all(own_); }
  CachedPrompt(const CachedPrompt&) = delete;
  CachedPrompt& operator=(const CachedPrompt&) = delete;

  const std::vector<int32_t>& ids() const { return ids_; }
  /// Returns: the cache row of each token. Later rows may follow the last one; it stays as long as the prompt.
  const std::vector<int32_t>& rows() const { return rows_; }

 private:
  KeyValueCache& cache_;
  std::shared_ptr<const CachedPrompt> begins_with_;
  std::vector<int32_t> ids_;
  std::vector<int32_t> rows_;
  CacheRows own_;
};

/// The prompts that someone holds. A new prompt shares the cache rows of the one with which it has most tokens in
/// common at the beginning; a prompt that is there already is handed out again.
/// Threads: one at a time.
class PromptRows {
 public:
  /// @param cache  must outlive this
  explicit PromptRows(KeyValueCache& cache) : cache_(cache) {}

  /// What a prompt has in common with those that are held.
  struct Match {
    std::shared_ptr<const CachedPrompt> prompt;  ///< null: none begins with the same token
    size_t shared = 0;                           ///< tokens
  };
  /// Complexity: tokens in common with each prompt that is held.
  Match find(std::span<const int32_t> ids);
  /// Returns: the prompt with cache rows for all tokens. The keys and values of those after the first `match.shared`
  /// are still to be written.
  std::shared_ptr<const CachedPrompt> take(std::span<const int32_t> ids, const Match& match);

 private:
  KeyValueCache& cache_;
  std::vector<std::weak_ptr<const CachedPrompt>> held_;
};

}  // namespace dragoman::models
