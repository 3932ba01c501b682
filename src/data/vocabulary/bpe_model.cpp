#include "data/vocabulary/bpe_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <queue>
#include <utility>

#include "base/utf8.h"

namespace dragoman::data {
namespace {

constexpr size_t kLongWord = 48;  // symbols; a longer word is merged with a heap

size_t table_size(size_t entries) {
  return std::bit_ceil(2 * entries + 1);
}

size_t hash_of(std::string_view word) {
  return std::hash<std::string_view>{}(word);
}

}  // namespace

BpeModel::BpeModel(std::vector<std::string> spellings, const std::vector<BpeMerge>& merges, const Options& options)
    : spellings_(std::move(spellings)), options_(options), merges_(merges) {
  insert_words();
  insert_symbols();
  insert_merges(merges);
  find_whole_words();
}

void BpeModel::insert_words() {
  words_.assign(table_size(spellings_.size()), -1);
  const size_t mask = words_.size() - 1;
  for (size_t id = 0; id < spellings_.size(); ++id) {
    if (spellings_[id].empty()) {
      continue;
    }
    size_t slot = hash_of(spellings_[id]) & mask;
    while (words_[slot] >= 0) {
      slot = (slot + 1) & mask;
    }
    words_[slot] = static_cast<int32_t>(id);
  }
}

int32_t BpeModel::find_word(std::string_view word) const {
  const size_t mask = words_.size() - 1;
  for (size_t slot = hash_of(word) & mask; words_[slot] >= 0; slot = (slot + 1) & mask) {
    if (spellings_[static_cast<size_t>(words_[slot])] == word) {
      return words_[slot];
    }
  }
  return -1;
}

void BpeModel::insert_symbols() {
  byte_ids_.fill(-1);
  fallback_ids_.fill(-1);
  for (size_t id = 0; id < spellings_.size(); ++id) {
    const std::string& spelling = spellings_[id];
    if (spelling.size() == 1) {
      byte_ids_[static_cast<unsigned char>(spelling[0])] = static_cast<int32_t>(id);
    } else if (!spelling.empty() && symbol_bytes(spelling, 0) == spelling.size()) {
      character_ids_.emplace(spelling, static_cast<int32_t>(id));
    }
  }
  for (size_t byte = 0; options_.byte_fallback && byte < fallback_ids_.size(); ++byte) {
    fallback_ids_[byte] = find_word(fmt::format("<0x{:02X}>", byte));
  }
}

size_t BpeModel::symbol_bytes(std::string_view word, size_t at) const {
  const bool single = options_.symbols == BpeSymbols::kBytes || static_cast<unsigned char>(word[at]) < 128;
  return single ? 1 : base::code_point_at(word, at).bytes;
}

int32_t BpeModel::find_symbol(std::string_view symbol) const {
  if (symbol.size() == 1) {
    return byte_ids_[static_cast<unsigned char>(symbol[0])];
  }
  const auto found = character_ids_.find(symbol);
  return found == character_ids_.end() ? -1 : found->second;
}

// Multiplicative hashing. Knuth, TAOCP volume 3, 6.4.
size_t BpeModel::merge_slot(uint64_t pair) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = (pair * 0x9E3779B97F4A7C15U) >> (64 - std::countr_zero(slots_.size()));
  while (slots_[slot].pair != pair && slots_[slot].pair != kFree) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

void BpeModel::insert_merges(const std::vector<BpeMerge>& merges) {
  slots_.assign(std::max<size_t>(table_size(merges.size()), 2), Slot{});
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const uint64_t pair = pair_key(merges[rank].left, merges[rank].right);
    slots_[merge_slot(pair)] = {pair, static_cast<int32_t>(rank), merges[rank].result};
  }
}

const BpeModel::Slot* BpeModel::find_merge(int32_t left, int32_t right) const {
  const Slot& slot = slots_[merge_slot(pair_key(left, right))];
  return slot.pair == kFree ? nullptr : &slot;
}

// Most words of a text are pieces, and most pieces are what the merges make of them: such words need one look-up.
void BpeModel::find_whole_words() {
  whole_.assign(spellings_.size(), options_.ignore_merges ? 1 : 0);
  std::vector<int32_t> ids;
  for (size_t id = 0; id < spellings_.size() && !options_.ignore_merges; ++id) {
    ids.clear();
    encode_by_merges(spellings_[id], ids);
    whole_[id] = ids.size() == 1 && ids[0] == static_cast<int32_t>(id) ? 1 : 0;
  }
}

void BpeModel::encode(std::string_view word, std::vector<int32_t>& ids) const {
  const int32_t whole = word.empty() ? -1 : find_word(word);
  if (whole >= 0 && whole_[static_cast<size_t>(whole)] != 0) {
    ids.push_back(whole);
  } else {
    encode_by_merges(word, ids);
  }
}

bool BpeModel::append_bytes(std::string_view symbol, std::vector<int32_t>& symbols) const {
  const auto id_of = [this](char byte) { return fallback_ids_[static_cast<unsigned char>(byte)]; };
  if (!std::ranges::all_of(symbol, [&](char byte) { return id_of(byte) >= 0; })) {
    return false;
  }
  for (const char byte : symbol) {
    symbols.push_back(id_of(byte));
  }
  return true;
}

// An unk waits until the next known symbol, with which a run of unknown ones ends.
void BpeModel::cut(std::string_view word, std::vector<int32_t>& symbols) const {
  bool waiting = false;
  for (size_t at = 0; at < word.size();) {
    const std::string_view symbol = word.substr(at, symbol_bytes(word, at));
    at += symbol.size();
    const int32_t id = find_symbol(symbol);
    if (id < 0 && append_bytes(symbol, symbols)) {
      continue;
    }
    if (waiting && (id >= 0 || !options_.fuse_unk)) {
      symbols.push_back(options_.unk);
    }
    if (id >= 0) {
      symbols.push_back(id);
    }
    waiting = id < 0 && options_.unk >= 0;
  }
  if (waiting) {
    symbols.push_back(options_.unk);
  }
}

size_t BpeModel::first_lost(std::string_view word) const {
  if (options_.unk >= 0) {
    return std::string_view::npos;
  }
  std::vector<int32_t> symbols;
  for (size_t at = 0; at < word.size();) {
    const std::string_view symbol = word.substr(at, symbol_bytes(word, at));
    if (find_symbol(symbol) < 0 && !append_bytes(symbol, symbols)) {
      return at;
    }
    at += symbol.size();
  }
  return std::string_view::npos;
}

void BpeModel::encode_by_merges(std::string_view word, std::vector<int32_t>& ids) const {
  std::vector<int32_t> symbols;
  symbols.reserve(word.size());
  cut(word, symbols);
  if (merges_.empty()) {
    // nothing to do
  } else if (symbols.size() <= kLongWord) {
    merge_short(symbols);
  } else {
    merge_long(symbols);
  }
  ids.insert(ids.end(), symbols.begin(), symbols.end());
}

void BpeModel::merge_short(std::vector<int32_t>& symbols) const {
  std::array<const Slot*, kLongWord> merges;  // [i] of the symbols i and i + 1
  for (size_t i = 0; i + 1 < symbols.size(); ++i) {
    merges[i] = find_merge(symbols[i], symbols[i + 1]);
  }
  for (size_t pairs = symbols.size() - 1; symbols.size() > 1; --pairs) {
    size_t best = pairs;
    for (size_t i = 0; i < pairs; ++i) {
      if (merges[i] != nullptr && (best == pairs || merges[i]->rank < merges[best]->rank)) {
        best = i;
      }
    }
    if (best == pairs) {
      return;
    }
    symbols[best] = merges[best]->result;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    std::copy(merges.begin() + static_cast<std::ptrdiff_t>(best) + 1,
              merges.begin() + static_cast<std::ptrdiff_t>(pairs), merges.begin() + static_cast<std::ptrdiff_t>(best));
    if (best > 0) {
      merges[best - 1] = find_merge(symbols[best - 1], symbols[best]);
    }
    if (best + 1 < symbols.size()) {
      merges[best] = find_merge(symbols[best], symbols[best + 1]);
    }
  }
}

namespace {

// A merge that was possible when it was put on the heap.
struct Candidate {
  int32_t rank;
  int32_t at;  // index of the left symbol
  int32_t left, right, result;

  bool operator<(const Candidate& other) const {  // the top of the heap goes first
    return std::pair(rank, at) > std::pair(other.rank, other.at);
  }
};

}  // namespace

// The symbols are a list linked by indices. A candidate whose symbols have changed since is passed over.
void BpeModel::merge_long(std::vector<int32_t>& symbols) const {
  const auto count = static_cast<int32_t>(symbols.size());
  std::vector<int32_t> next(symbols.size()), before(symbols.size());
  std::priority_queue<Candidate> heap;
  const auto symbol = [&](int32_t at) -> int32_t& { return symbols[static_cast<size_t>(at)]; };
  const auto offer = [&](int32_t at, int32_t right) {
    const Slot* merge = at < 0 || right >= count ? nullptr : find_merge(symbol(at), symbol(right));
    if (merge != nullptr) {
      heap.push({merge->rank, at, symbol(at), symbol(right), merge->result});
    }
  };
  for (int32_t at = 0; at < count; ++at) {
    next[static_cast<size_t>(at)] = at + 1;
    before[static_cast<size_t>(at)] = at - 1;
    offer(at, at + 1);
  }
  while (!heap.empty()) {
    const Candidate best = heap.top();
    heap.pop();
    const int32_t right = next[static_cast<size_t>(best.at)];
    if (symbol(best.at) != best.left || right >= count || symbol(right) != best.right) {
      continue;
    }
    symbol(best.at) = best.result;
    symbol(right) = -1;
    const int32_t behind = next[static_cast<size_t>(right)];
    next[static_cast<size_t>(best.at)] = behind;
    if (behind < count) {
      before[static_cast<size_t>(behind)] = best.at;
    }
    offer(before[static_cast<size_t>(best.at)], best.at);
    offer(best.at, behind);
  }
  std::erase(symbols, -1);
}

bool BpeModel::may_cut_before(std::string_view mark) const {
  if (options_.ignore_merges || find_symbol(mark) < 0) {
    return false;
  }
  return std::ranges::none_of(merges_, [&](const BpeMerge& merge) {
    const std::string& text = spellings_[static_cast<size_t>(merge.result)];
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + mark.size())) {
      if (at > 0 && !std::string_view(text).substr(0, at).ends_with(mark)) {
        return true;
      }
    }
    return false;
  });
}

}  // namespace dragoman::data
