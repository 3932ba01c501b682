#include "decoding/search_loop.h"

namespace dragoman::decoding {

void SearchLoop::add(size_t sentence, int32_t slot, const SearchLimits& limits) {
  active_.push_back({sentence, slot, make_search(options_, limits)});
}

void SearchLoop::step(std::vector<SearchResult>& results) {
  collect_rows();
  tensor::Tensor logits = model_.step(rows_);  // [R, V]
  const auto vocab_size = static_cast<size_t>(logits.dim(1));
  std::span<float> rest = logits.span<float>();
  for (Active& active : active_) {
    const size_t count = active.row_count * vocab_size;
    active.search->advance(rest.first(count));
    rest = rest.subspan(count);
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
