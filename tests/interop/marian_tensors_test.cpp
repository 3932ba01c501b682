#include "interop/marian_tensors.h"

#include <gtest/gtest.h>

#include <set>

#include "models/transformer/transformer.h"
#include "ops/embedding.h"
#include "support/tensors.h"
#include "support/tiny_config.h"

namespace dragoman::interop {
namespace {

using tensor::DType;
using tensor::Tensor;
using test_support::random_tensor;

models::TransformerConfig unequal_config() {
  models::TransformerConfig config = test_support::tiny_config(30);
  config.d_model = 8;
  config.d_ff = 12;
  config.decoder_d_ff = 10;
  config.n_heads = 2;
  config.decoder_n_heads = 4;
  config.encoder_layers = 3;
  config.decoder_layers = 1;
  return config;
}

TEST(MarianTensors, OurSinusoidsAreMariansWithTheirComponentsPermuted) {
  const Tensor ours = ops::sinusoidal_positions(20, 6);
  const std::vector<int64_t> components = marian_components(6);
  EXPECT_EQ(components, (std::vector<int64_t>{0, 3, 1, 4, 2, 5}));
  for (int64_t position = 0; position < 20; ++position) {
    for (int64_t i = 0; i < 3; ++i) {
      const double angle = static_cast<double>(position) / std::pow(10000.0, 2.0 * static_cast<double>(i) / 6.0);
      std::vector<double> marians(6);
      marians[static_cast<size_t>(i)] = std::sin(angle);
      marians[static_cast<size_t>(3 + i)] = std::cos(angle);
      for (const int64_t ours_at : {2 * i, 2 * i + 1}) {
        EXPECT_NEAR(ours.data<float>()[position * 6 + ours_at],
                    marians[static_cast<size_t>(components[static_cast<size_t>(ours_at)])], 1e-6)
            << "position " << position << ", component " << ours_at;
      }
    }
  }
}

TEST(MarianTensors, BothPermutationsUndoEachOther) {
  for (const int64_t d_model : {2, 8, 512}) {
    const std::vector<int64_t> there = marian_components(d_model), back = dragoman_components(d_model);
    for (int64_t i = 0; i < d_model; ++i) {
      EXPECT_EQ(there[static_cast<size_t>(back[static_cast<size_t>(i)])], i);
    }
  }
}

TEST(MarianTensors, AllTensorsOfTheLayersAreNamedOnceWithTheirShapes) {
  const models::TransformerConfig config = unequal_config();
  const models::Transformer model(config);
  std::set<std::string> ours, marians;
  for (const TensorPair& pair : layer_tensors(config)) {
    EXPECT_EQ(model.parameters().find(pair.ours).shape, pair.shape) << pair.ours;
    EXPECT_TRUE(ours.insert(pair.ours).second) << pair.ours << " stands twice";
    EXPECT_TRUE(marians.insert(pair.marians).second) << pair.marians << " stands twice";
  }
  EXPECT_EQ(ours.size() + 1, model.parameters().parameters().size()) << "all but the embedding";
}

TEST(MarianTensors, ThereAndBackIsTheSame) {
  const models::TransformerConfig config = unequal_config();
  uint64_t seed = 1;
  for (const TensorPair& pair : layer_tensors(config)) {
    const Tensor ours = random_tensor(pair.shape, DType::kFloat32, ++seed);
    const Tensor marians = to_marian(pair, ours, dragoman_components(config.d_model));
    EXPECT_TRUE(test_support::same_bits(from_marian(pair, marians, marian_components(config.d_model)), ours))
        << pair.ours;
    if (pair.shape.rank() == 2) {
      EXPECT_EQ(marians.shape(), (tensor::Shape{pair.shape[1], pair.shape[0]})) << pair.marians;
    }
  }
}

TEST(MarianTensors, AMatrixIsTransposedAndItsResidualSidePermuted) {
  const Tensor marians = random_tensor({3, 4}, DType::kFloat32, 1);  // [Dout, Din]
  const std::vector<int64_t> components = marian_components(4);      // 0 2 1 3
  const Tensor reads =
      from_marian({.ours = "o", .marians = "m", .shape = {4, 3}, .residual_in = true}, marians, components);
  ASSERT_EQ(reads.shape(), (tensor::Shape{4, 3}));
  for (int64_t in = 0; in < 4; ++in) {
    for (int64_t out = 0; out < 3; ++out) {
      EXPECT_EQ(reads.data<float>()[in * 3 + out],
                marians.data<float>()[out * 4 + components[static_cast<size_t>(in)]]);
    }
  }
}

}  // namespace
}  // namespace dragoman::interop
