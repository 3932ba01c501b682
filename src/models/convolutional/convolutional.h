#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/convolutional/convolutional_config.h"
#include "models/model.h"
#include "models/state_slots.h"
#include "models/tied_tables.h"
#include "nn/convolution.h"
#include "nn/token_embedding.h"

namespace dragoman::models {

/// What is left behind a call of the convolutional decoder, without gradients.
struct ConvolutionalEnd {
  Tensor past;                    ///< [B, layers * (K - 1) * H]: the latest rows that each layer read, earliest first
  std::vector<Tensor> attention;  ///< [N, longest source] of each layer
};

/// A convolutional encoder-decoder (Gehring et al. 2017): learned positions, convolutions with gated linear units, and
/// attention in each decoder layer. docs/convolutional.md has the formulas. Parameter paths: *embedding.weight and
/// output.weight as in a Transformer; {encoder,decoder}.embedding.positions, {encoder,decoder}.{input,output}.*,
/// {encoder,decoder}.layers.I.{value,gate}.*, decoder.layers.I.attention.{query,context}.*. With weight normalisation
/// each of these maps has *.weight_gain beside *.weight.
class Convolutional : public Model {
 public:
  explicit Convolutional(const ConvolutionalConfig& config);

  /// Returns: the keys and values of the source sentences, [Ns, D] each.
  ops::SourceMemory encode(const TokenRows& source, const nn::ForwardContext& context) const;
  /// @param target  rows of the decoder's input
  /// @param past  undefined: the rows are whole sentences. Otherwise ConvolutionalEnd::past, and each sentence is the
  ///   one row that follows
  /// @param end  null, or overwritten;  @return hidden [Nt, D]
  Variable decode(const TokenRows& target, const ops::SourceMemory& memory, const Tensor& past,
                  const nn::ForwardContext& context, ConvolutionalEnd* end = nullptr) const;

  Variable forward(const ModelInput& input, const nn::ForwardContext& context) const override;
  OutputLayer output() const override { return {tables_.output->weight(), {}}; }
  std::unique_ptr<Generation> begin_generation() const override;
  double forward_flops(int64_t source_length, int64_t target_length) const override;
  std::vector<std::string> cross_attention_paths() const override;
  const ModelConfig& config() const override { return config_; }
  const ConvolutionalConfig& convolutional_config() const { return *config_.get_if<ConvolutionalConfig>(); }

 private:
  struct DecoderLayer {
    nn::Convolution convolution;
    nn::Linear query;    // [H, D]
    nn::Linear context;  // [D, H]
  };
  // What a layer of the decoder works on beside its rows.
  struct Attended {
    Variable words;  // [Nt, D]
    const Tensor& offsets;
    const ops::SourceMemory& memory;
  };

  void declare_layers(const ConvolutionalConfig& config);
  Variable read(const Variable& x, const std::string& path, const nn::ForwardContext& context) const;
  Variable attend(const DecoderLayer& layer, const std::string& path, const Variable& x, const Attended& attended,
                  const nn::ForwardContext& context, Tensor* attention) const;

  ModelConfig config_;
  TiedTables tables_;
  nn::TokenEmbedding source_embedding_, target_embedding_;
  std::optional<nn::Linear> encoder_input_, encoder_output_, decoder_input_, decoder_output_;
  std::vector<nn::Convolution> encoder_layers_;
  std::vector<DecoderLayer> decoder_layers_;
};

/// Generation with a convolutional model. A slot keeps the keys and values of the source and, for each hypothesis, the
/// latest K - 1 rows that each decoder layer read.
class ConvolutionalGeneration : public Generation {
 public:
  /// @param model  must outlive this
  explicit ConvolutionalGeneration(const Convolutional& model);

  std::vector<int32_t> add(std::span<const std::span<const int32_t>> sources) override;
  Variable step(std::span<const StepRow> rows) override;
  Variable prefill(int32_t slot, std::span<const int32_t> ids) override;
  void remove(int32_t slot) override { slots_.remove(slot); }
  size_t slots_in_use() const override { return slots_.in_use(); }
  void want_attention(std::span<const int> layers) override { wants_attention_ = !layers.empty(); }
  Tensor attention(int layer) const override;

 private:
  const Convolutional& model_;
  StateSlots slots_;
  bool wants_attention_ = false;
  std::vector<Tensor> attention_;  // of the last step, of each layer
};

}  // namespace dragoman::models
