#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "data/span_corruption.h"

namespace dragoman::training {

/// Sentences with their numbers of occurrences, as a tree of tokens.
class SentenceTree {
 public:
  /// The number of occurrences of the matching sentences, by the position behind each.
  using Ends = std::map<size_t, uint64_t>;
  static constexpr int32_t kAny = -1;  // a token of a pattern that every token matches

  void add(std::span<const int32_t> sentence, uint64_t count) {
    size_t node = 0;
    for (const int32_t token : sentence) {
      const auto [next, is_new] = nodes_[node].next.try_emplace(token, nodes_.size());
      node = next->second;
      if (is_new) {
        nodes_.emplace_back();
      }
    }
    nodes_[node].count += count;
    total_ += count;
  }

  /// Returns the sentences that match the pattern from `begin`.
  Ends matches(std::span<const int32_t> pattern, size_t begin) const {
    Ends ends;
    walk(pattern, begin, nodes_.front(), ends);
    return ends;
  }
  double total() const { return static_cast<double>(total_); }

 private:
  struct Node {
    std::map<int32_t, size_t> next;
    uint64_t count = 0;  // sentences that end here
  };

  void walk(std::span<const int32_t> pattern, size_t position, const Node& node, Ends& ends) const {
    if (node.count > 0) {
      ends[position] += node.count;
    }
    if (position == pattern.size()) {
      return;
    }
    for (const auto& [token, next] : node.next) {
      if (pattern[position] == kAny || pattern[position] == token) {
        walk(pattern, position + 1, nodes_[next], ends);
      }
    }
  }

  std::vector<Node> nodes_{1};
  uint64_t total_ = 0;
};

/// What the best model says of hidden spans. A text is a number of independent sentences, one after the other:
///   P(target | input) = P(text) P(cut | text) / sum over texts and cuts with this input of P(text) P(cut | text)
/// where corrupt_spans makes every cut of a text into spans with the same probability. Threads: one.
class SpanPosterior {
 public:
  /// @param sentences  of a text
  SpanPosterior(const SentenceTree& tree, int sentences, const data::CorruptionOptions& options)
      : tree_(tree), sentences_(sentences), options_(options) {}

  /// Returns -ln P(target | input). @param kept  the tokens before each span. @param gone  the spans
  double surprise(const std::vector<std::vector<int32_t>>& kept, const std::vector<std::vector<int32_t>>& gone) const {
    int64_t n_kept = 0, n_gone = 0;
    std::vector<int32_t> text;
    for (size_t span = 0; span < gone.size(); ++span) {
      text.insert(text.end(), kept[span].begin(), kept[span].end());
      text.insert(text.end(), gone[span].begin(), gone[span].end());
      n_kept += std::ssize(kept[span]);
      n_gone += std::ssize(gone[span]);
    }
    double evidence = 0;
    for (int64_t hidden = 1; hidden <= n_kept; ++hidden) {
      if (is_cut(n_kept + hidden, hidden, std::ssize(gone))) {
        std::vector<int64_t> lengths;
        evidence += cut_probability(n_kept, hidden, std::ssize(gone)) * of_lengths(kept, hidden, lengths);
      }
    }
    return std::log(evidence) - std::log(cut_probability(n_kept, n_gone, std::ssize(gone)) * probability(text));
  }

 private:
  // Whether a text of this length loses so many tokens in so many spans.
  bool is_cut(int64_t length, int64_t hidden, int64_t spans) const {
    const auto wanted = std::max(1LL, std::llround(options_.share * static_cast<double>(length)));
    return hidden == wanted && spans == std::max(1LL, std::llround(static_cast<double>(hidden) / options_.mean_span));
  }

  // 1 / the number of ways to divide both kinds of tokens into as many parts as there are spans.
  static double cut_probability(int64_t kept, int64_t hidden, int64_t spans) {
    const auto ways = [spans](int64_t tokens) {
      double product = 1;  // tokens - 1 over spans - 1
      for (int64_t i = 0; i + 1 < spans; ++i) {
        product *= static_cast<double>(tokens - 1 - i) / static_cast<double>(i + 1);
      }
      return product;
    };
    return 1 / (ways(kept) * ways(hidden));
  }

  // The probability of the texts with the kept tokens and `left` hidden ones in the spans behind `lengths`.
  double of_lengths(const std::vector<std::vector<int32_t>>& kept, int64_t left, std::vector<int64_t>& lengths) const {
    const auto spans_left = std::ssize(kept) - std::ssize(lengths);
    if (spans_left == 0) {
      std::vector<int32_t> pattern;
      for (size_t span = 0; span < kept.size(); ++span) {
        pattern.insert(pattern.end(), kept[span].begin(), kept[span].end());
        pattern.insert(pattern.end(), static_cast<size_t>(lengths[span]), SentenceTree::kAny);
      }
      return probability(pattern);
    }
    double sum = 0;
    for (int64_t length = spans_left == 1 ? left : 1; length <= left - (spans_left - 1); ++length) {
      lengths.push_back(length);
      sum += of_lengths(kept, left - length, lengths);
      lengths.pop_back();
    }
    return sum;
  }

  // The probability that a text matches the pattern.
  double probability(std::span<const int32_t> pattern) const {
    std::map<size_t, double> reached{{0, 1.0}};  // by position, after each sentence
    for (int sentence = 0; sentence < sentences_; ++sentence) {
      std::map<size_t, double> next;
      for (const auto& [begin, before] : reached) {
        for (const auto& [end, count] : tree_.matches(pattern, begin)) {
          next[end] += before * static_cast<double>(count) / tree_.total();
        }
      }
      reached = std::move(next);
    }
    const auto whole = reached.find(pattern.size());
    return whole == reached.end() ? 0 : whole->second;
  }

  const SentenceTree& tree_;
  int sentences_;
  data::CorruptionOptions options_;
};

}  // namespace dragoman::training
