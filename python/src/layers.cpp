#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <optional>

#include "base/error.h"
#include "bindings.h"
#include "nn/feed_forward.h"
#include "nn/linear.h"
#include "nn/multi_head_attention.h"
#include "nn/norm.h"
#include "ops/attention.h"
#include "ops/embedding.h"
#include "rows.h"

namespace dragoman::python {
namespace {

using nb::arg;
using ReleaseGil = nb::call_guard<nb::gil_scoped_release>;

// Keeps the dropouts of layers apart that have one seed.
std::string next_path(const char* kind) {
  static std::atomic<uint64_t> count = 0;
  return fmt::format("{}.{}", kind, count++);
}

constexpr double kWidest = 1 << 20;

void check_width(int64_t width) {
  base::check_range("width", static_cast<double>(width), 1, kWidest);
}

void check_probability(float dropout) {
  base::check_usage(dropout >= 0.0F && dropout < 1.0F, "dropout is {}, must be 0 or more and below 1", dropout);
}

// A layer of the library with parameters of its own.
class Layer {
 public:
  Layer(const char* kind, uint64_t seed) : path_(next_path(kind)), seed_(seed) {}
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  // The names as in the library: "query.weight".
  std::vector<std::pair<std::string, Variable>> parameters() const {
    std::vector<std::pair<std::string, Variable>> named;
    for (const nn::ParameterHandle& parameter : set_.parameters()) {
      named.emplace_back(parameter->path.substr(path_.size() + 1), parameter->variable);
    }
    return named;
  }

 protected:
  // Draws the first values; each layer of a seed has its own, by the number of its parameters' stream.
  void begin() {
    set_.allocate();
    set_.initialize(seed_);
    set_.allocate_gradients();
  }

  nn::ParameterSet& set() { return set_; }
  const std::string& path() const { return path_; }

  // Of one forward pass; each has other dropout masks.
  nn::ForwardContext context(bool training) {
    return {.training = training, .seed = seed_, .step = training ? passes_++ : 0};
  }

 private:
  std::string path_;
  uint64_t seed_;
  nn::ParameterSet set_;
  uint32_t passes_ = 0;
};

class LinearLayer : public Layer {
 public:
  LinearLayer(int64_t d_in, int64_t d_out, bool has_bias, uint64_t seed)
      : Layer("linear", seed), linear_(set(), path(), d_in, d_out, {.has_bias = has_bias}) {
    begin();
  }
  Variable forward(const Variable& x) const {
    return over_rows(x, [&](const Variable& rows) { return linear_.forward(rows); });
  }

 private:
  nn::Linear linear_;
};

class NormLayer : public Layer {
 public:
  NormLayer(int64_t width, float epsilon, bool is_rms)
      : Layer("norm", 1), norm_(set(), path(), config_of(width, epsilon, is_rms)) {
    begin();
  }
  Variable forward(const Variable& x) const {
    return over_rows(x, [&](const Variable& rows) { return norm_.forward(rows); });
  }

 private:
  static nn::LayerConfig config_of(int64_t width, float epsilon, bool is_rms) {
    check_width(width);
    nn::LayerConfig config{.d_model = width, .layer_norm_epsilon = epsilon};
    config.options.norm = is_rms ? kernels::NormKind::kRms : kernels::NormKind::kLayer;
    return config;
  }
  nn::Norm norm_;
};

class EmbeddingLayer : public Layer {
 public:
  EmbeddingLayer(int64_t pieces, int64_t width, uint64_t seed)
      : Layer("embedding", seed),
        width_(width),
        table_(set().declare(path() + ".weight", {pieces, width}, nn::Initializer::kNormalEmbedding)) {
    begin();
  }
  Variable forward(const Variable& ids, float scale) const {
    const Tensor flat = ids.value().reshape({ids.shape().size()});
    return with_last_axis(ops::embedding({table_->variable}, flat, scale), ids.shape(), width_);
  }

 private:
  int64_t width_;
  nn::ParameterHandle table_;
};

class FeedForwardLayer : public Layer {
 public:
  FeedForwardLayer(int64_t width, int64_t hidden, float dropout, const std::string& activation, uint64_t seed)
      : Layer("feed_forward", seed), feed_forward_(set(), path(), config_of(width, hidden, dropout, activation)) {
    begin();
  }
  Variable forward(const Variable& x, bool training) {
    const nn::ForwardContext pass = context(training);
    return over_rows(x, [&](const Variable& rows) { return feed_forward_.forward(rows, pass); });
  }

 private:
  static nn::LayerConfig config_of(int64_t width, int64_t hidden, float dropout, const std::string& activation) {
    check_width(width);
    check_width(hidden);
    check_probability(dropout);
    return {.d_model = width,
            .d_ff = hidden,
            .activation = base::from_name<kernels::Activation>(activation),
            .activation_dropout = dropout};
  }

  nn::FeedForward feed_forward_;
};

// Keys and values of a padded batch, which need not come from one tensor.
class BatchKeyValues : public nn::KeyValueSource {
 public:
  BatchKeyValues(Variable key, Variable value, kernels::AttentionBounds bounds, kernels::AttentionOptions options)
      : key_(std::move(key)), value_(std::move(value)), bounds_(std::move(bounds)), options_(options) {}

  Variable attend(const Variable& input, const nn::MultiHeadAttention& attention,
                  const nn::ForwardContext& context) override {
    options_.n_heads = attention.n_heads();
    options_.dropout = context.dropout(attention.weight_dropout(), attention.site());
    const Variable query = attention.project_query(input), key = attention.project_key(key_);
    query_ = query.value();
    projected_key_ = key.value();
    return ops::attention(query, key, attention.project_value(value_), bounds_, options_);
  }

  // The weights of all sentences [B, H, T, S].
  Tensor weights(int64_t sentences, int64_t queries, int64_t keys) const {
    const int64_t heads = options_.n_heads;
    kernels::AttentionOptions options = options_;
    options.dropout = {};
    Tensor all = Tensor::empty({sentences, heads, queries, keys});
    for (int64_t b = 0; b < sentences; ++b) {
      kernels::AttentionBounds bounds{equal_offsets(1, queries), equal_offsets(1, keys), {}};
      if (bounds_.key_mask.defined()) {
        bounds.key_mask = bounds_.key_mask.rows(b * keys, (b + 1) * keys);
      }
      const Tensor one = ops::attention_weights(query_.rows(b * queries, (b + 1) * queries),
                                                projected_key_.rows(b * keys, (b + 1) * keys), bounds, options);
      all.rows(b, b + 1).copy_from(one.reshape({1, heads, queries, keys}));
    }
    return all;
  }

 private:
  Variable key_, value_;
  kernels::AttentionBounds bounds_;
  kernels::AttentionOptions options_;
  Tensor query_, projected_key_;
};

class AttentionLayer : public Layer {
 public:
  AttentionLayer(int64_t width, int n_heads, float dropout, uint64_t seed)
      : Layer("attention", seed), attention_(set(), path(), config_of(width, n_heads, dropout)) {
    begin();
  }

  Variable forward(const Variable& query, const Variable& key, const Variable& value, bool training, bool causal,
                   const std::optional<Variable>& mask) {
    BatchKeyValues source = source_of(query, key, value, causal, mask);
    return with_last_axis(attention_.forward(rows_of(query), source, context(training)), {query.dim(0), query.dim(1)},
                          query.dim(2));
  }

  Variable weights(const Variable& query, const Variable& key, bool causal, const std::optional<Variable>& mask) {
    const autograd::NoGrad nothing_recorded;
    BatchKeyValues source = source_of(query, key, key, causal, mask);
    static_cast<void>(source.attend(rows_of(query), attention_, context(false)));
    return Variable(source.weights(query.dim(0), query.dim(1), key.dim(1)));
  }

 private:
  static nn::LayerConfig config_of(int64_t width, int n_heads, float dropout) {
    check_width(width);
    base::check_range("n_heads", n_heads, 1, 65'536);
    check_probability(dropout);
    return {.d_model = width, .n_heads = n_heads, .attention_dropout = dropout};
  }

  static BatchKeyValues source_of(const Variable& query, const Variable& key, const Variable& value, bool causal,
                                  const std::optional<Variable>& mask) {
    kernels::AttentionBounds bounds = bounds_of_batch(query.shape(), key.shape(), mask);
    base::check_usage(value.shape().rank() == 3 && value.dim(0) == key.dim(0) && value.dim(1) == key.dim(1),
                      "MultiheadAttention: value is {}, key is {}; both must be [B, S, width]", value.shape(),
                      key.shape());
    return {rows_of(key), rows_of(value), std::move(bounds), {.causal = causal}};
  }

  nn::MultiHeadAttention attention_;
};

}  // namespace

void bind_layers(nb::module_& module) {
  nb::class_<Layer>(module, "Layer").def("parameters", &Layer::parameters);
  nb::class_<LinearLayer, Layer>(module, "LinearLayer")
      .def(nb::init<int64_t, int64_t, bool, uint64_t>(), arg("d_in"), arg("d_out"), arg("bias"), arg("seed"))
      .def("forward", &LinearLayer::forward, arg("x"), ReleaseGil());
  nb::class_<NormLayer, Layer>(module, "NormLayer")
      .def(nb::init<int64_t, float, bool>(), arg("width"), arg("epsilon"), arg("is_rms"))
      .def("forward", &NormLayer::forward, arg("x"), ReleaseGil());
  nb::class_<EmbeddingLayer, Layer>(module, "EmbeddingLayer")
      .def(nb::init<int64_t, int64_t, uint64_t>(), arg("pieces"), arg("width"), arg("seed"))
      .def("forward", &EmbeddingLayer::forward, arg("ids"), arg("scale"), ReleaseGil());
  nb::class_<FeedForwardLayer, Layer>(module, "FeedForwardLayer")
      .def(nb::init<int64_t, int64_t, float, const std::string&, uint64_t>(), arg("width"), arg("hidden"),
           arg("dropout"), arg("activation"), arg("seed"))
      .def("forward", &FeedForwardLayer::forward, arg("x"), arg("training"), ReleaseGil());
  nb::class_<AttentionLayer, Layer>(module, "AttentionLayer")
      .def(nb::init<int64_t, int, float, uint64_t>(), arg("width"), arg("n_heads"), arg("dropout"), arg("seed"))
      .def("forward", &AttentionLayer::forward, arg("query"), arg("key"), arg("value"), arg("training"), arg("causal"),
           arg("mask").none(), ReleaseGil())
      .def("weights", &AttentionLayer::weights, arg("query"), arg("key"), arg("causal"), arg("mask").none(),
           ReleaseGil());
}

}  // namespace dragoman::python
