#include "decoding/search/search_loop.h"

#include <algorithm>

#include "decoding/search/candidates.h"
#include "decoding/search/make_search.h"
#include "tensor/transfer.h"

namespace dragoman::decoding {
namespace {

void show_scores(const SentenceRequest& request, const Hypothesis* hypothesis) {
  if (request.on_scores && hypothesis != nullptr) {
    request.on_scores(*hypothesis);
  }
}

// Hands out the pieces from `n_streamed` on. @return false when the sentence is to be cancelled
bool stream(const SentenceRequest& request, std::span<const int32_t> ids, size_t& n_streamed) {
  if (ids.size() <= n_streamed) {
    return true;
  }
  const std::span<const int32_t> new_ids = ids.subspan(n_streamed);
  n_streamed = ids.size();
  return request.on_ids(new_ids, false);
}

}  // namespace

// Runs something of one sentence, whose error ends this sentence.
template <typename Action>
void SearchLoop::guard(Active& active, const Action& action) {
  try {
    action();
  } catch (...) {
    active.error = std::current_exception();
  }
}

void SearchLoop::add(size_t sentence, int32_t slot, const SearchLimits& limits, const SearchOptions& options,
                     const SentenceRequest& request) {
  active_.push_back({sentence, slot, nullptr, request});
  Active& active = active_.back();
  guard(active, [&] {
    active.search = make_search(options, limits, request);
    if (!request.allowed.empty()) {
      model_.restrict(slot, request.allowed);
    }
    if (!request.prefix.empty()) {
      active.search->begin(score_prefix(slot, request, active.search->attention_layers()));
    }
  });
}

// Feeds begin of sentence and all of the prefix but its last piece, which the first step will feed, in one pass.
ScoredPrefix SearchLoop::score_prefix(int32_t slot, const SentenceRequest& request,
                                      std::span<const int> attention_layers) {
  ScoredPrefix prefix{request.prefix, {}, {}, {}};
  std::vector<int32_t> input = {request.special.begin};
  input.insert(input.end(), request.prefix.begin(), request.prefix.end() - 1);
  model_.want_attention(attention_layers);
  const tensor::Tensor logits = model_.prefill(slot, input);  // [T, V]
  const tensor::HostView<float> all(logits);
  const auto vocab_size = static_cast<size_t>(logits.dim(1));
  for (size_t i = 0; i < input.size(); ++i) {
    const std::span<const float> row = all.span().subspan(i * vocab_size, vocab_size);
    const double normaliser = log_normaliser(row);
    const double log_prob = std::min(0.0, row[static_cast<size_t>(request.prefix[i])] - normaliser);
    prefix.log_probs.push_back(i < request.unscored ? 0.0 : log_prob);
    if (request.likeliest > 0) {
      prefix.likeliest.push_back(likeliest(row, normaliser, request.likeliest));
    }
  }
  for (const int layer : attention_layers) {
    if (const tensor::Tensor weights = model_.attention(layer); weights.defined()) {  // [T, S]
      prefix.attention[layer] = weights.to_vector<float>();
    }
  }
  return prefix;
}

void SearchLoop::step(std::vector<SearchResult>& results) {
  stop_those_asked();
  remove_finished(results);
  if (active_.empty()) {
    return;
  }
  collect_rows();
  advance_all();
  remove_finished(results);
}

void SearchLoop::stop_those_asked() {
  for (Active& active : active_) {
    const std::optional<FinishReason> reason =
        active.cancelled ? FinishReason::kCancelled : active.request.stop_reason();
    if (reason && active.error == nullptr) {
      active.search->stop(*reason);
    }
  }
}

void SearchLoop::collect_rows() {
  rows_.clear();
  attention_layers_.clear();
  for (Active& active : active_) {
    const size_t before = rows_.size();
    active.search->append_rows(active.slot, rows_);
    active.row_count = rows_.size() - before;
    for (const int layer : active.search->attention_layers()) {
      if (std::ranges::find(attention_layers_, layer) == attention_layers_.end()) {
        attention_layers_.push_back(layer);
      }
    }
  }
  model_.want_attention(attention_layers_);
}

// Every search is given what it asks for, whatever its neighbours want.
void SearchLoop::step_model() {
  int most = 0;
  bool all = false, log_sums = false;
  for (const Active& active : active_) {
    const int wanted = active.search->best_logits_wanted();
    most = std::max(most, wanted);
    all = all || wanted == 0;
    log_sums = log_sums || active.search->wants_log_sums();
  }
  if (log_sums) {
    best_.want_log_sums();
  } else {
    best_.want_choice(kFirstAllowed);
  }
  logits_ = tensor::Tensor();
  if (!all) {
    model_.step_best(rows_, most, best_);
  } else {
    logits_ = tensor::to_host(most > 0 ? model_.step_and_best(rows_, most, best_) : model_.step(rows_));
  }
}

// The weights of a layer in the last step, brought to the host once.
const tensor::Tensor& SearchLoop::attention_of(int layer) {
  const auto found = step_attention_.find(layer);
  return found != step_attention_.end()
             ? found->second
             : step_attention_.emplace(layer, tensor::to_host(model_.attention(layer))).first->second;
}

void SearchLoop::show_attention(Active& active, int64_t first_row) {
  for (const int layer : active.search->attention_layers()) {
    const tensor::Tensor& attention = attention_of(layer);  // [R, longest source]
    if (attention.defined()) {
      const float* row = tensor::HostRows<float>(attention)[static_cast<size_t>(first_row)].data();
      active.search->see_attention(layer, row, attention.stride(0));
    }
  }
}

void SearchLoop::advance_all() {
  step_model();
  step_attention_.clear();
  int64_t first_row = 0;
  for (Active& active : active_) {
    const int64_t end = first_row + static_cast<int64_t>(active.row_count);
    guard(active, [&] {
      show_attention(active, first_row);
      if (active.search->best_logits_wanted() > 0) {
        active.search->advance_best(best_, static_cast<size_t>(first_row));
      } else {
        active.search->advance(tensor::HostEdit<float>(logits_.rows(first_row, end)).span());
      }
      if (active.request.on_ids && !active.search->done()) {
        show_scores(active.request, active.search->first());
        active.cancelled = !stream(active.request, active.search->agreed_ids(), active.n_streamed);
      }
    });
    first_row = end;
  }
}

void SearchLoop::remove_finished(std::vector<SearchResult>& results) {
  const auto finished = [](const Active& active) { return active.error != nullptr || active.search->done(); };
  for (Active& active : active_) {
    if (!finished(active)) {
      continue;
    }
    SearchResult result{.sentence = active.sentence};
    guard(active, [&] {
      if (active.error == nullptr) {
        if (active.request.keeps_tree) {
          result.tree = active.search->tree();
        }
        const bool has_first = active.search->first() != nullptr;
        result.hypotheses = active.search->take_hypotheses();
        if (active.request.on_ids) {
          show_scores(active.request, has_first ? &result.hypotheses.front() : nullptr);
          active.request.on_ids(std::span(result.hypotheses.front().ids).subspan(active.n_streamed), true);
        }
      }
    });
    result.error = active.error;
    results.push_back(std::move(result));
    model_.remove(active.slot);
  }
  std::erase_if(active_, finished);
}

}  // namespace dragoman::decoding
