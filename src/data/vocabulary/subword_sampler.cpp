#include "data/vocabulary/subword_sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>

namespace dragoman::data {
namespace {

constexpr double kUnknownPenalty = 10.0;  // below the worst piece, as in SentencePiece's unigram_model.cc

size_t character_length(char lead) {
  const auto byte = static_cast<uint8_t>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// log(exp(a) + exp(b)) without overflow.
double log_add(double a, double b) {
  const double high = std::max(a, b);
  if (high == -std::numeric_limits<double>::infinity()) {
    return high;
  }
  return high + std::log1p(std::exp(std::min(a, b) - high));
}

// A piece laid over the text. Pieces that end at the same place form a list.
struct LatticeEdge {
  size_t length;
  int32_t id;
  double weight;      // alpha * score
  int32_t following;  // the next edge that ends here, or -1
};

// All pieces that fit somewhere, and for each position the log of the summed weight of all ways to get there.
struct Lattice {
  explicit Lattice(size_t text_bytes)
      : log_sum(text_bytes + 1, -std::numeric_limits<double>::infinity()), first_ending(text_bytes + 1, -1) {
    log_sum[0] = 0;
  }

  void add(size_t begin, size_t length, int32_t id, double weight) {
    const size_t end = begin + length;
    edges.push_back({length, id, weight, first_ending[end]});
    first_ending[end] = static_cast<int32_t>(edges.size()) - 1;
    log_sum[end] = log_add(log_sum[end], log_sum[begin] + weight);
  }

  // One of the edges that end at `end`, each with its share of the weight.
  const LatticeEdge& draw_ending(size_t end, base::Random& random) const {
    double left = random.uniform();
    int32_t taken = first_ending[end];
    for (int32_t i = taken; i >= 0; i = edges[static_cast<size_t>(i)].following) {
      const LatticeEdge& edge = edges[static_cast<size_t>(i)];
      taken = i;
      left -= std::exp(log_sum[end - edge.length] + edge.weight - log_sum[end]);
      if (left < 0) {
        break;
      }
    }
    return edges[static_cast<size_t>(taken)];
  }

  std::vector<double> log_sum;
  std::vector<int32_t> first_ending;
  std::vector<LatticeEdge> edges;
};

// A symbol of the BPE merge: a stretch of the text in a doubly linked list; empty once merged into its left neighbour.
struct Symbol {
  std::string_view text;
  int32_t previous;
  int32_t next;
};

struct Merge {
  float score;
  int32_t left;
  int32_t right;
  size_t length;  // of the merged text when the merge was proposed: tells stale ones
  bool operator<(const Merge& other) const { return score != other.score ? score < other.score : left > other.left; }
};

// The text as a list of single characters.
std::vector<Symbol> split_characters(std::string_view text) {
  std::vector<Symbol> symbols;
  for (size_t at = 0; at < text.size();) {
    const size_t length = std::min(character_length(text[at]), text.size() - at);
    const auto index = static_cast<int32_t>(symbols.size());
    symbols.push_back({text.substr(at, length), index - 1, index + 1});
    at += length;
  }
  if (!symbols.empty()) {
    symbols.back().next = -1;
  }
  return symbols;
}

std::string_view joined(std::string_view left, std::string_view right) {
  return {left.data(), left.size() + right.size()};  // neighbours in the same text
}

}  // namespace

PieceTrie::PieceTrie(const std::vector<ScoredPiece>& pieces) {
  size_t bytes = 1;
  for (const ScoredPiece& piece : pieces) {
    bytes += piece.text.size();
  }
  edges_.resize(std::bit_ceil(2 * bytes));
  mask_ = edges_.size() - 1;
  piece_at_.push_back(-1);
  for (size_t i = 0; i < pieces.size(); ++i) {
    uint32_t node = 0;
    for (const char byte : pieces[i].text) {
      node = child_or_new(node, static_cast<uint8_t>(byte));
    }
    piece_at_[node] = static_cast<int32_t>(i);
  }
}

int32_t PieceTrie::find(std::string_view text) const {
  uint32_t node = 0;
  for (const char byte : text) {
    node = child(node, static_cast<uint8_t>(byte));
    if (node == 0) {
      return -1;
    }
  }
  return piece_at_[node];
}

size_t PieceTrie::slot_of(uint64_t key) const {
  size_t slot = (key * 0x9E3779B97F4A7C15u >> 20) & mask_;  // Fibonacci hashing
  while (edges_[slot].key != 0 && edges_[slot].key != key) {
    slot = (slot + 1) & mask_;
  }
  return slot;
}

uint32_t PieceTrie::child(uint32_t node, uint8_t byte) const {
  return edges_[slot_of((static_cast<uint64_t>(node) << 8 | byte) + 1)].child;
}

uint32_t PieceTrie::child_or_new(uint32_t node, uint8_t byte) {
  const uint64_t key = (static_cast<uint64_t>(node) << 8 | byte) + 1;
  Edge& edge = edges_[slot_of(key)];
  if (edge.key == 0) {
    edge = {key, static_cast<uint32_t>(piece_at_.size())};
    piece_at_.push_back(-1);
  }
  return edge.child;
}

SubwordSampler::SubwordSampler(Model model, std::vector<ScoredPiece> pieces, int32_t unk_id)
    : model_(model), pieces_(std::move(pieces)), trie_(pieces_), unk_id_(unk_id) {
  double worst = 0;
  for (const ScoredPiece& piece : pieces_) {
    worst = std::min(worst, static_cast<double>(piece.score));
  }
  unk_score_ = worst - kUnknownPenalty;
}

std::vector<SubwordSampler::Segment> SubwordSampler::sample(std::string_view normalized, double alpha,
                                                            base::Random& random) const {
  return model_ == Model::kUnigram ? sample_lattice(normalized, alpha, random)
                                   : sample_merges(normalized, alpha, random);
}

std::vector<SubwordSampler::Segment> SubwordSampler::sample_lattice(std::string_view text, double alpha,
                                                                    base::Random& random) const {
  Lattice lattice(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t step = std::min(character_length(text[at]), text.size() - at);
    bool covered = false;
    trie_.for_each_prefix(text.substr(at), [&](size_t length, size_t piece) {
      covered |= length == step;
      lattice.add(at, length, pieces_[piece].id, alpha * static_cast<double>(pieces_[piece].score));
    });
    if (!covered) {
      lattice.add(at, step, unk_id_, alpha * unk_score_);
    }
    at += step;
  }
  std::vector<Segment> segments;
  for (size_t end = text.size(); end > 0;) {
    const LatticeEdge& edge = lattice.draw_ending(end, random);
    end -= edge.length;
    segments.push_back({text.substr(end, edge.length), edge.id});
  }
  std::reverse(segments.begin(), segments.end());
  return segments;
}

std::vector<SubwordSampler::Segment> SubwordSampler::sample_merges(std::string_view text, double dropout,
                                                                   base::Random& random) const {
  std::vector<Symbol> symbols = split_characters(text);
  std::priority_queue<Merge> merges;
  const auto propose = [&](int32_t left, int32_t right) {
    if (left < 0 || right < 0) {
      return;
    }
    const std::string_view merged =
        joined(symbols[static_cast<size_t>(left)].text, symbols[static_cast<size_t>(right)].text);
    const int32_t piece = trie_.find(merged);
    if (piece >= 0) {
      merges.push({pieces_[static_cast<size_t>(piece)].score, left, right, merged.size()});
    }
  };
  for (size_t i = 1; i < symbols.size(); ++i) {
    propose(static_cast<int32_t>(i) - 1, static_cast<int32_t>(i));
  }
  while (!merges.empty()) {
    const Merge merge = merges.top();
    merges.pop();
    Symbol& left = symbols[static_cast<size_t>(merge.left)];
    Symbol& right = symbols[static_cast<size_t>(merge.right)];
    const bool stale = left.text.empty() || right.text.empty() || left.text.size() + right.text.size() != merge.length;
    if (stale || (dropout > 0 && random.uniform() < dropout)) {
      continue;
    }
    left.text = joined(left.text, right.text);
    left.next = right.next;
    if (right.next >= 0) {
      symbols[static_cast<size_t>(right.next)].previous = merge.left;
    }
    right.text = {};
    propose(left.previous, merge.left);
    propose(merge.left, left.next);
  }
  std::vector<Segment> segments;
  for (const Symbol& symbol : symbols) {
    if (symbol.text.empty()) {
      continue;
    }
    const int32_t piece = trie_.find(symbol.text);
    segments.push_back({symbol.text, piece < 0 ? unk_id_ : pieces_[static_cast<size_t>(piece)].id});
  }
  return segments;
}

}  // namespace dragoman::data
