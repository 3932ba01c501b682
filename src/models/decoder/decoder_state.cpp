#include "models/decoder/decoder_state.h"

#include <algorithm>
#include <ranges>

#include "base/error.h"
#include "kernels/backends/backend_of.h"
#include "tensor/transfer.h"

namespace dragoman::models {

using autograd::Variable;
using tensor::Tensor;

namespace {

// The keys of the row that has the most.
template <class Rows>
int64_t longest_of(const Rows& rows) {
  int64_t longest = 0;
  for (const auto& row : rows) {
    longest = std::max<int64_t>(longest, row.position + 1);
  }
  return longest;
}

}  // namespace

Variable CachedSelfKeyValues::attend(const Variable& input, const nn::MultiHeadAttention& attention,
                                     const nn::ForwardContext&) {
  const auto [query, key, value] = attention.project_all(input, state_.positions());  // [R, H * Dh]   [R, Hkv * Dh]
  state_.store(layer_, key.value(), value.value());
  if (state_.in_tables_) {
    return Variable(state_.attend_over_tables(layer_, input, query, attention));
  }
  Tensor heads = Tensor::empty(query.shape());  // [R, H * Dh]
  kernels::backend_of(heads).attention_step(scaled_query(query, attention),
                                            state_.self_keys(layer_, attention.relative()), attention.n_heads(), heads,
                                            nullptr);
  return Variable(heads);
}

DecoderState::DecoderState(DecoderStateShape shape)
    : shape_(std::move(shape)),
      cache_(shape_.n_layers, shape_.n_kv_heads * shape_.d_head, shape_.n_kv_heads, shape_.dtype),
      prompts_(cache_),
      sources_(shape_.cross_attention, shape_.dtype, &tables_) {
  for (size_t layer = 0; layer < shape_.n_layers; ++layer) {
    self_key_values_.emplace_back(*this, layer);
  }
}

std::vector<int32_t> DecoderState::add(size_t count) {
  std::vector<int32_t> added;
  added.reserve(count);
  for (size_t sentence = 0; sentence < count; ++sentence) {
    added.push_back(take_slot());
  }
  return added;
}

std::vector<int32_t> DecoderState::add(const Variable& memory, std::span<const int32_t> offsets) {
  std::vector<int32_t> added = add(offsets.size() - 1);
  try {
    sources_.add(memory, offsets, added);
  } catch (
      ...) {  // no memory: the slots are free again, the last first, so that the next are as if none had been taken
    for (const int32_t slot : std::views::reverse(added)) {
      remove(slot);
    }
    throw;
  }
  return added;
}

int32_t DecoderState::take_slot() {
  if (free_slots_.empty()) {
    if (free_slots_.capacity() <= slots_.size()) {
      free_slots_.reserve(2 * slots_.size() + 1);  // for all of them: freeing asks for no memory
    }
    slots_.emplace_back();
    free_slots_.push_back(static_cast<int32_t>(slots_.size()) - 1);
  }
  const int32_t slot = free_slots_.back();
  free_slots_.pop_back();
  slots_[static_cast<size_t>(slot)].in_use = true;
  return slot;
}

DecoderState::Slot& DecoderState::checked_slot(int32_t slot) {
  const auto index = static_cast<size_t>(slot);
  base::check_argument(slot >= 0 && index < slots_.size() && slots_[index].in_use,
                       "decoder state: slot {} is not in use; add the sentence first", slot);
  return slots_[index];
}

void DecoderState::remove(int32_t slot) {
  Slot& removed = checked_slot(slot);
  cache_.release_all(removed.cache_rows);
  removed.prompt.reset();
  sources_.remove(slot);
  removed.live = 0;
  removed.in_use = false;
  free_slots_.push_back(slot);
}

void DecoderState::clear_rows() {
  rows_.clear();
  cache_rows_.clear();
  stored_rows_ = {};
  in_tables_ = false;
  sources_.begin_rows();
}

// One more row of the forward pass that begins.
void DecoderState::add_row(const Row& row, int32_t cache_row) {
  rows_.push_back(row);
  cache_rows_.push_back(cache_row);
  sources_.begin_row(row.slot);
}

void DecoderState::begin_step(std::span<const StepRow> rows) {
  clear_rows();
  for (size_t begin = 0; begin < rows.size();) {
    Slot& slot = checked_slot(rows[begin].slot);
    size_t count = 0;
    while (begin + count < rows.size() && rows[begin + count].slot == rows[begin].slot) {
      extend(rows[begin + count], count);
      ++count;
    }
    release_tips(slot);
    slot.tables.swap(slot.next_tables);
    slot.live = count;
    begin += count;
  }
}

// The latest rows of the hypotheses are needed only by what follows them.
void DecoderState::release_tips(Slot& slot) {
  for (size_t hypothesis = 0; hypothesis < slot.live; ++hypothesis) {
    cache_.release(slot.cache_rows, slot.tables[hypothesis].back());
  }
}

void DecoderState::extend(const StepRow& row, size_t hypothesis) {
  Slot& slot = slots_[static_cast<size_t>(row.slot)];
  const bool first_step = slot.live == 0;
  base::check_argument(row.parent >= 0 && static_cast<size_t>(row.parent) < (first_step ? 1 : slot.live),
                       "decoder state: slot {} has {} hypotheses, parent is {}", row.slot, slot.live, row.parent);
  if (slot.next_tables.size() <= hypothesis) {
    slot.next_tables.emplace_back();
  }
  Table& table = slot.next_tables[hypothesis];
  table.clear();
  if (!first_step) {
    const Table& history = slot.tables[static_cast<size_t>(row.parent)];
    table.assign(history.begin(), history.end());
  }
  const int32_t cache_row = cache_.take_row(slot.cache_rows, table.empty() ? -1 : table.back());
  table.push_back(cache_row);
  add_row({row.slot, static_cast<int32_t>(hypothesis), static_cast<int32_t>(table.size()) - 1}, cache_row);
}

size_t DecoderState::begin_prompts(std::span<const Prompt> prompts, size_t most, std::vector<int32_t>& ids) {
  clear_rows();
  ids.clear();
  size_t taken = 0;
  for (; taken < prompts.size(); ++taken) {
    const Prompt& prompt = prompts[taken];
    Slot& slot = fresh_slot(prompt.slot);
    if (prompt.ids.empty()) {
      continue;
    }
    const PromptRows::Match match = prompts_.find(prompt.ids);
    if (taken > 0 && ids.size() + (prompt.ids.size() - match.shared) > most) {
      break;
    }
    slot.prompt = prompts_.take(prompt.ids, match);
    const Table& rows = slot.prompt->rows();
    slot.tables.front().assign(rows.begin(), rows.end());
    cache_.keep(rows.back());  // until the first step
    slot.live = 1;
    for (size_t position = match.shared; position < rows.size(); ++position) {
      add_row({prompt.slot, 0, static_cast<int32_t>(position)}, rows[position]);
      ids.push_back(prompt.ids[position]);
    }
  }
  return taken;
}

// A slot without steps, with an empty table for its only hypothesis.
DecoderState::Slot& DecoderState::fresh_slot(int32_t slot) {
  Slot& fresh = checked_slot(slot);
  base::check_argument(fresh.live == 0, "decoder state: slot {} has {} hypotheses, a prefix must come first", slot,
                       fresh.live);
  if (fresh.tables.empty()) {
    fresh.tables.emplace_back();
  }
  fresh.tables.front().clear();
  return fresh;
}

void DecoderState::begin_prefill(int32_t slot, int64_t count) {
  clear_rows();
  Slot& filled = fresh_slot(slot);
  Table& table = filled.tables.front();
  for (int32_t position = 0; position < count; ++position) {
    const int32_t before = table.empty() ? -1 : table.back();
    const int32_t cache_row = cache_.take_row(filled.cache_rows, before);
    if (before >= 0) {
      cache_.release(filled.cache_rows, before);  // from now on needed by what follows it only
    }
    table.push_back(cache_row);
    add_row({slot, 0, position}, cache_row);
  }
  filled.live = 1;
}

const DecoderState::Table& DecoderState::table(const Row& row) const {
  return slots_[static_cast<size_t>(row.slot)].tables[static_cast<size_t>(row.hypothesis)];
}

Tensor DecoderState::positions() const {
  if (in_tables_) {
    return tables_.positions();  // [R with padding]
  }
  std::vector<int32_t> positions(rows_.size());
  std::ranges::transform(rows_, positions.begin(), &Row::position);
  return tensor::host_tensor(positions);  // [R]
}

void DecoderState::store(size_t layer, const Tensor& keys, const Tensor& values) {
  if (in_tables_) {
    return cache_.write(layer, tables_.cache_rows(), keys, values);
  }
  if (!stored_rows_.defined()) {
    stored_rows_ = tensor::host_tensor(cache_rows_);  // [R]
  }
  cache_.write(layer, stored_rows_, keys, values);
}

void DecoderState::fill_tables(std::span<const int32_t> ids) {
  tables_.begin(static_cast<int64_t>(rows_.size()));
  int32_t begin = 0;
  std::span<const int32_t> source;
  int32_t source_begin = 0;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    const bool same_slot = i > 0 && rows_[i - 1].slot == row.slot;
    if (!same_slot || rows_[i - 1].hypothesis != row.hypothesis) {  // rows of a prompt share one table
      begin = tables_.add_numbers(table(row));
    }
    if (!same_slot && sources_.in_cache()) {
      source = sources_.cache_rows(row.slot);
      source_begin = tables_.add_numbers(source);
    }
    const int32_t length = row.position + 1;
    const auto seen = shape_.window > 0 ? static_cast<int32_t>(std::min<int64_t>(length, shape_.window)) : length;
    tables_.add({ids[i], row.position, cache_rows_[i], seen, begin + length - seen, static_cast<int32_t>(source.size()),
                 source_begin});
  }
  tables_.upload();
}

uint64_t DecoderState::weights_version() const {
  return shape_.parameters == nullptr ? 0 : shape_.parameters->values_version();
}

RecordedSteps::Version DecoderState::memory_version() const {
  const int64_t bias_columns = has_step_bias() ? step_bias_.dim(1) : 0;
  return {weights_version(), tables_.version(), cache_.capacity(), sources_.capacity(), bias_columns};
}

Variable DecoderState::run(std::span<const int32_t> ids, PassKind kind, const Pass& pass) {
  const tensor::Device device = tensor::Arena::current()->device();
  in_tables_ = kernels::backend_of(device, tensor::DType::kFloat32).reads_tables();
  if (!in_tables_) {
    return DecoderMemory::run(ids, kind, pass);
  }
  fill_tables(ids);
  const auto forward = [&] { return pass(step_token_rows(tables_.ids(), tables_.positions())); };
  const Variable hidden = kind == PassKind::kStep && !sources_.wants_weights()
                              ? recorded_.run(tables_.padded_rows(), memory_version(), forward)
                              : forward();  // [R with padding, D]
  return hidden.defined() ? Variable(hidden.value().rows(0, static_cast<int64_t>(rows_.size()))) : hidden;
}

Tensor DecoderState::attend_over_tables(size_t layer, const Variable& input, const Variable& query,
                                        const nn::MultiHeadAttention& attention) {
  const Tensor bias = attention.relative() == nullptr ? Tensor() : step_bias(*attention.relative());
  Tensor heads = room_for_heads(input, query);  // [R, H * Dh]
  const auto [lengths, begins, numbers] = tables_.own();
  kernels::backend_of(query.value())
      .attention_over_cache(scaled_query(query, attention),
                            {cache_.rows_of(layer), lengths, begins, numbers, cache_.n_heads(), bias},
                            attention.n_heads(), heads, nullptr);
  return heads;
}

Tensor DecoderState::attention(int layer) const {
  const Tensor weights = sources_.weights(layer);
  return in_tables_ && weights.defined() ? weights.rows(0, static_cast<int64_t>(rows_.size())) : weights;
}

void DecoderState::keep(size_t layer, const Variable& input, const nn::MultiHeadAttention& attention) {
  const auto projected = attention.project_all(input, positions());
  store(layer, projected.keys.value(), projected.values.value());
}

// The bias of the latest of as many rows as there may be: a query with n keys takes the last n columns.
const Tensor& DecoderState::step_bias(const nn::RelativePositions& relative) {
  constexpr int64_t kLeast = 64;
  if (!has_step_bias()) {
    step_bias_ = relative.of_last_row(std::max(kLeast, 2 * longest_of(rows_)));  // [H, positions]
    bias_weights_ = weights_version();
  }
  return step_bias_;
}

// Whether the bias reaches as far as the rows under way, and is of the present weights.
bool DecoderState::has_step_bias() const {
  return step_bias_.defined() && bias_weights_ == weights_version() && step_bias_.dim(1) >= longest_of(rows_);
}

std::span<const kernels::StepKeys> DecoderState::self_keys(size_t layer, const nn::RelativePositions* relative) {
  step_keys_.clear();
  const Tensor bias = relative == nullptr ? Tensor() : step_bias(*relative);
  for (const Row& row : rows_) {
    const int64_t length = int64_t{row.position} + 1;
    const int64_t seen = shape_.window > 0 ? std::min(length, shape_.window) : length;
    step_keys_.push_back({cache_.keys(layer), cache_.values(layer), table(row).data() + (length - seen),
                          cache_.stride(), seen, cache_.dtype(), shape_.n_kv_heads});
    if (bias.defined()) {
      ops::add_step_bias(bias, step_keys_.back());
    }
  }
  return step_keys_;
}

}  // namespace dragoman::models
