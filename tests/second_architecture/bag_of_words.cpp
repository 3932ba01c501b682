// A second architecture, which no file of src/ knows: a decoder over a bag of source words. A target word is predicted
// from the word before it, its position and the source words, whose order is lost; E are their embeddings:
//   h = e(y_t) + p(t);  h = h + Attention(h, E, E);  h = h + FFN(h);  logits = h W^T
// tests/integration/second_architecture_test.cpp runs all commands with it.
#include <map>
#include <nlohmann/json.hpp>

#include "base/field_json.h"
#include "base/json.h"
#include "models/architectures/more_architectures.h"
#include "nn/feed_forward.h"
#include "nn/multi_head_attention.h"
#include "nn/residual.h"
#include "nn/token_embedding.h"
#include "ops/embedding.h"

namespace dragoman::bag {

using autograd::Variable;
using models::ModelConfig;
using models::TokenRows;

struct BagConfig {
  static constexpr std::string_view kArchitecture = "bag-of-words";

  int64_t source_vocab_size = 0;
  int64_t target_vocab_size = 0;
  int64_t d_model = 64;
  int64_t d_ff = 128;
  int n_heads = 4;
  int64_t max_positions = 256;
  float dropout = 0.1F;

  template <typename Visit>
  static void fields(Visit&& visit) {
    using base::Field;
    using C = BagConfig;
    visit(Field("source_vocab_size", &C::source_vocab_size, "Pieces of the source", {4, 1 << 24}));
    visit(Field("target_vocab_size", &C::target_vocab_size, "Pieces of the target", {4, 1 << 24}));
    visit(Field("d_model", &C::d_model, "Width of the model", {2, 4096}));
    visit(Field("d_ff", &C::d_ff, "Width of the feed-forward", {1, 16384}));
    visit(Field("n_heads", &C::n_heads, "Attention heads", {1, 64}));
    visit(Field("max_positions", &C::max_positions, "Longest sentence", {2, 1 << 20}));
    visit(Field("dropout", &C::dropout, "Probability, on embeddings and sub-layers", {0, 0.95}));
  }
  void check() const { base::check_fields(*this); }
  models::ModelSizes sizes() const {
    return {source_vocab_size, target_vocab_size, d_model, max_positions, false, d_model};
  }
  void set_vocabulary_sizes(int64_t source, int64_t target) { source_vocab_size = source, target_vocab_size = target; }
  std::vector<std::pair<std::string, std::string>> facts() const { return {{"d_model", base::text_of(d_model)}}; }
  nn::LayerConfig layer() const {
    nn::LayerConfig layer;
    layer.d_model = d_model;
    layer.d_ff = d_ff;
    layer.n_heads = n_heads;
    layer.norm_order = nn::NormOrder::kPre;
    layer.dropout = dropout;
    return layer;
  }
};

std::string to_json(const BagConfig& config) {
  nlohmann::json tree = base::json_of_fields(config, [](const auto&) { return true; });
  tree["architecture"] = BagConfig::kArchitecture;
  return base::dump_json(tree, 2) + "\n";
}

ModelConfig config_from_json(std::string_view text, std::string_view file_name) {
  const nlohmann::json tree = base::parse_json(text, file_name);
  BagConfig config;
  base::read_fields(base::JsonFields(tree, std::string(file_name)), config, [](const auto&) { return true; });
  return config;
}

class BagModel : public models::Model {
 public:
  explicit BagModel(const BagConfig& bag)
      : config_(bag),
        source_table_(declare("source_embedding.weight", bag.source_vocab_size, bag.d_model)),
        target_table_(declare("target_embedding.weight", bag.target_vocab_size, bag.d_model)),
        output_weight_(declare("output.weight", bag.target_vocab_size, bag.d_model)),
        target_embedding_(parameters_, "embedding", target_table_, bag.layer(), {.max_positions = bag.max_positions}),
        attention_(parameters_, "cross_attention", bag.layer()),
        attention_residual_(parameters_, "cross_attention", bag.layer()),
        feed_forward_(parameters_, "feed_forward", bag.layer()),
        feed_forward_residual_(parameters_, "feed_forward", bag.layer()) {}

  const ModelConfig& config() const override { return config_; }
  Variable forward(const models::ModelInput& input, const nn::ForwardContext& pass) const override {
    const auto& [source, target] = input;
    const nn::ForwardContext context = pass.over(target.rows);
    const Variable words = ops::embedding(source_table_->weight(), source.ids, 1.0F);  // [Ns, D]
    nn::RaggedKeyValues bag(target.rows, source.rows, words);
    const Variable h = target_embedding_.forward(target.ids, target.rows, pass);  // [Nt, D]
    const auto attend = [&](const Variable& x) { return attention_.forward(x, bag, context); };
    const auto feed_forward = [&](const Variable& x) { return feed_forward_.forward(x, context); };
    return feed_forward_residual_.forward(attention_residual_.forward(h, attend, context), feed_forward, context);
  }
  models::OutputLayer output() const override { return {output_weight_->weight(), {}}; }
  std::unique_ptr<models::Generation> begin_generation() const override;
  double forward_flops(int64_t source, int64_t target) const override {
    const auto d = static_cast<double>(config_.sizes().d_model);
    return 4 * d * d * static_cast<double>(source) + 12 * d * d * static_cast<double>(target);
  }
  std::vector<std::string> cross_attention_paths() const override { return {"cross_attention"}; }

 private:
  nn::ParameterHandle declare(const char* path, int64_t rows, int64_t columns) {
    return parameters_.declare_weight(path, {rows, columns}, nn::Initializer::kNormalEmbedding,
                                      kernels::Transpose::kYes);
  }

  ModelConfig config_;
  nn::ParameterHandle source_table_, target_table_, output_weight_;
  nn::TokenEmbedding target_embedding_;
  nn::MultiHeadAttention attention_;
  nn::Residual attention_residual_;
  nn::FeedForward feed_forward_;
  nn::Residual feed_forward_residual_;
};

// Remembers the source words of each slot and how many target words it has had; hypotheses have no state of their own.
class BagGeneration : public models::Generation {
 public:
  explicit BagGeneration(const BagModel& model) : model_(model) {}

  std::vector<int32_t> add(std::span<const std::span<const int32_t>> sources) override {
    std::vector<int32_t> slots;
    for (const auto source : sources) {
      slots.push_back(next_);
      slots_[next_++].source.assign(source.begin(), source.end());
    }
    return slots;
  }
  Variable step(std::span<const models::StepRow> rows) override {
    Sides sides;
    for (const models::StepRow& row : rows) {
      sides.append(slots_.at(row.slot), {&row.token_id, 1});
    }
    for (const models::StepRow& row : rows) {
      slots_.at(row.slot).steps += &row == &rows.back() || (&row + 1)->slot != row.slot ? 1 : 0;
    }
    return sides.run(model_);
  }
  Variable prefill(int32_t slot, std::span<const int32_t> ids) override {
    Sides sides;
    sides.append(slots_.at(slot), ids);
    slots_.at(slot).steps += static_cast<int32_t>(ids.size());
    return sides.run(model_);
  }
  void remove(int32_t slot) override { slots_.erase(slot); }
  size_t slots_in_use() const override { return slots_.size(); }

 private:
  struct Slot {
    std::vector<int32_t> source;
    int32_t steps = 0;
  };

  // The rows of a step, each a sentence of its own beside the words of its source.
  struct Sides {
    std::vector<int32_t> source, source_offsets{0}, target, target_offsets{0}, positions;

    void append(const Slot& slot, std::span<const int32_t> ids) {
      source.insert(source.end(), slot.source.begin(), slot.source.end());
      source_offsets.push_back(static_cast<int32_t>(source.size()));
      for (const int32_t& id : ids) {
        positions.push_back(slot.steps + static_cast<int32_t>(&id - ids.data()));
        target.push_back(id);
      }
      target_offsets.push_back(static_cast<int32_t>(target.size()));
    }
    Variable run(const BagModel& model) const {
      models::ModelInput input{models::make_token_rows(source, source_offsets),
                               models::make_token_rows(target, target_offsets)};
      input.target.rows.positions = tensor::Tensor::from(positions, {static_cast<int64_t>(positions.size())});
      return model.forward(input, {});
    }
  };

  const BagModel& model_;
  std::map<int32_t, Slot> slots_;
  int32_t next_ = 0;
};

std::unique_ptr<models::Generation> BagModel::begin_generation() const {
  return std::make_unique<BagGeneration>(*this);
}

std::unique_ptr<models::Model> make_bag(const ModelConfig& config) {
  return std::make_unique<BagModel>(*config.get_if<BagConfig>());
}

}  // namespace dragoman::bag

std::span<const dragoman::models::Architecture> dragoman::models::more_architectures() {
  static constexpr Architecture kBag[] = {{bag::BagConfig::kArchitecture, bag::config_from_json, bag::make_bag}};
  return kBag;
}
