// Models of every kind of decoder translate on a GPU, or on its emulation, as on the CPU.
#include "cuda/search_on_device.h"
#include "decoding/tiny_convolutional.h"
#include "decoding/tiny_model.h"
#include "decoding/tiny_recurrent.h"
#include "support/cuda_device.h"
#include "support/cuda_test.h"

namespace dragoman::decoding {
namespace {

using kernels::Precision;
using test_support::OnCuda;

/// A model that translates, on the CPU.
struct Decoder {
  std::string name;
  std::shared_ptr<models::Model> model;

  friend void PrintTo(const Decoder& decoder, std::ostream* out) { *out << decoder.name; }
};

std::shared_ptr<models::Model> with_sublayer(nn::NormOrder order, nn::DecoderSublayer sublayer) {
  return tiny_model(order, 1, 50, 80, sublayer);
}

std::shared_ptr<models::Model> with_batch_norm(nn::NormOrder order) {
  models::TransformerConfig config = test_support::tiny_config();
  config.norm_order = order;
  config.layer.norm = kernels::NormKind::kBatch;
  auto model = tiny_model(config, 1);
  for (const nn::ParameterHandle& parameter : model->parameters().parameters()) {  // as after training
    tensor::Tensor value = parameter->variable.value();
    if (parameter->path.ends_with(".running_variance")) {
      value.fill(20.0);
    } else if (parameter->path.ends_with(".running_mean")) {
      value.fill(0.5);
    }
  }
  return model;
}

std::vector<Decoder> decoders() {
  using nn::DecoderSublayer, nn::NormOrder;
  std::vector<Decoder> all{
      {"convolutional", tiny_convolutional(50)},
      {"convolutional_normed", tiny_convolutional(50, true)},
      {"ssru_post", with_sublayer(NormOrder::kPost, DecoderSublayer::kSsru)},
      {"ssru_pre", with_sublayer(NormOrder::kPre, DecoderSublayer::kSsru)},
      {"average_attention_post", with_sublayer(NormOrder::kPost, DecoderSublayer::kAverageAttention)},
      {"average_attention_pre", with_sublayer(NormOrder::kPre, DecoderSublayer::kAverageAttention)},
      {"batch_norm_post", with_batch_norm(NormOrder::kPost)},
      {"batch_norm_pre", with_batch_norm(NormOrder::kPre)},
  };
  for (const RecurrentShape& shape : kRecurrentShapes) {
    all.push_back({shape.name, tiny_recurrent(shape, 50)});
  }
  return all;
}

class CudaDecoders : public test_support::CudaTest, public testing::WithParamInterface<Decoder> {
 protected:
  const models::Model& model() const { return *GetParam().model; }
  const std::vector<std::vector<int32_t>> sources_ = random_sources(6, 3);
};
INSTANTIATE_TEST_SUITE_P(Decoders, CudaDecoders, testing::ValuesIn(decoders()),
                         [](const auto& decoder) { return decoder.param.name; });

TEST_P(CudaDecoders, GreedySearchAndBeamsAreThoseOfTheCpu) {
  for (const int beam_size : {1, 4}) {
    SearchOptions options = options_of(beam_size);
    options.n_best = beam_size;
    const Results expected = ParallelSearch(on_device(model())).run(sources_, options);
    const auto differs = [&](const SearchResult& result) {
      return result.hypotheses.front().ids != expected.front().hypotheses.front().ids;
    };
    EXPECT_TRUE(std::ranges::any_of(expected, differs)) << "all translations are equal: the model is too dull";
    const OnCuda device;
    expect_equal_ids(ParallelSearch(on_device(model())).run(sources_, options), expected);
  }
}

TEST_P(CudaDecoders, ASentenceAloneHasTheBitsThatItHasInABatch) {
  const OnCuda device;
  for (const Precision precision : {Precision::kFloat32, Precision::kBFloat16, Precision::kInt8}) {
    const ParallelSearch search(on_device(model(), precision));
    const Results together = search.run(sources_, options_of(3));
    Results alone;
    for (const auto& source : sources_) {
      alone.push_back(std::move(search.run(std::span(&source, 1), options_of(3)).front()));
    }
    expect_equal_bits(alone, together);
  }
}

}  // namespace
}  // namespace dragoman::decoding
