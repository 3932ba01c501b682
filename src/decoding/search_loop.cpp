#include "decoding/search_loop.h"

#include <algorithm>

#include "data/vocabulary.h"
#include "decoding/candidates.h"

namespace dragoman::decoding {

void SearchLoop::add(size_t sentence, int32_t slot, const SearchLimits& limits, const SentenceRequest& request) {
  std::unique_ptr<SentenceSearch> search = make_search(options_, limits, request);
  if (!request.prefix.empty()) {
    search->begin(score_prefix(slot, request, search->wants_attention()));
  }
  active_.push_back({sentence, slot, std::move(search)});
}

// Feeds begin of sentence and all of the prefix but its last piece, which the first step will feed, in one pass.
ScoredPrefix SearchLoop::score_prefix(int32_t slot, const SentenceRequest& request, bool with_attention) {
  ScoredPrefix prefix{request.prefix, {}, {}};
  std::vector<int32_t> input = {data::kBosId};
  input.insert(input.end(), request.prefix.begin(), request.prefix.end() - 1);
  model_.want_attention(with_attention);
  const tensor::Tensor logits = model_.prefill(slot, input);  // [T, V]
  const auto vocab_size = static_cast<size_t>(logits.dim(1));
  for (size_t i = 0; i < input.size(); ++i) {
    const std::span<const float> row = logits.span<float>().subspan(i * vocab_size, vocab_size);
    prefix.log_probs.push_back(std::min(0.0, row[static_cast<size_t>(request.prefix[i])] - log_normaliser(row)));
  }
  if (const tensor::Tensor weights = model_.attention(); with_attention && weights.defined()) {  // [T, S]
    prefix.attention.assign(static_cast<size_t>(weights.dim(1)), 0.0F);
    for (size_t i = 0; i < weights.span<float>().size(); ++i) {
      prefix.attention[i % prefix.attention.size()] += weights.span<float>()[i];
    }
  }
  return prefix;
}

void SearchLoop::step(std::vector<SearchResult>& results) {
  collect_rows();
  model_.want_attention(std::ranges::any_of(active_, [](const Active& a) { return a.search->wants_attention(); }));
  tensor::Tensor logits = model_.step(rows_);           // [R, V]
  const tensor::Tensor attention = model_.attention();  // [R, S]
  const auto vocab_size = static_cast<size_t>(logits.dim(1));
  std::span<float> rest = logits.span<float>();
  int64_t first_row = 0;
  for (Active& active : active_) {
    if (attention.defined() && active.search->wants_attention()) {
      const int64_t stride = attention.stride(0);
      active.search->see_attention(attention.data<float>() + first_row * stride, stride);
    }
    const size_t count = active.row_count * vocab_size;
    active.search->advance(rest.first(count));
    rest = rest.subspan(count);
    first_row += static_cast<int64_t>(active.row_count);
  }
  remove_finished(results);
}

void SearchLoop::collect_rows() {
  rows_.clear();
  for (Active& active : active_) {
    const size_t before = rows_.size();
    active.search->append_rows(active.slot, rows_);
    active.row_count = rows_.size() - before;
  }
}

void SearchLoop::remove_finished(std::vector<SearchResult>& results) {
  for (Active& active : active_) {
    if (active.search->done()) {
      results.push_back({active.sentence, active.search->take_hypotheses()});
      model_.remove(active.slot);
    }
  }
  std::erase_if(active_, [](const Active& active) { return active.search->done(); });
}

}  // namespace dragoman::decoding
