#include "ops/embedding.h"

#include <gmock/gmock.h>

#include <cmath>

#include "support/error_of.h"
#include "support/gradient_check.h"

namespace dragoman::ops {
namespace {

using tensor::DType;
using test_support::close;
using test_support::error_of;
using test_support::random_tensor;
using testing::HasSubstr;

Tensor ids_of(const std::vector<int32_t>& ids) {
  return Tensor::from(ids, {static_cast<int64_t>(ids.size())});
}

TEST(Embedding, PicksAndScalesRows) {
  const Tensor table = Tensor::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2});
  const Variable output = embedding(Variable(table), ids_of({2, 0, 2}), 10.0F);
  EXPECT_EQ(output.value().to_vector<float>(), (std::vector<float>{50, 60, 10, 20, 50, 60}));
}

TEST(Embedding, BackwardMatchesCentralDifferences) {
  const Tensor table = random_tensor({5, 3});
  const Tensor ids = ids_of({4, 1, 4, 0});
  test_support::check_gradients([&](const auto& in) { return embedding(in[0], ids, 1.7F); }, {table});
  test_support::check_gradients([&](const auto& in) { return select_rows(in[0], ids); }, {table});
  test_support::check_gradients([&](const auto& in) { return add_positions(in[0], in[1], ids); },
                                {random_tensor({4, 3}, DType::kFloat64, 2), table});
}

TEST(Embedding, KernelMatchesReferenceForAllWidths) {
  const Tensor ids = ids_of({3, 1, 1, 0, 3});
  for (const int64_t width : {1, 7, 16, 31, 33, 64, 300}) {
    const Tensor table = random_tensor({4, width}), weights = random_tensor({5, width}, DType::kFloat64, 3);
    const auto lookup = [&](const std::vector<Variable>& in) { return embedding(in[0], ids, 0.5F); };
    const Tensor small = table.to(DType::kFloat32);
    EXPECT_TRUE(close(lookup({Variable(small)}).value(), lookup({Variable(table)}).value(), 1e-6)) << "D=" << width;
    EXPECT_TRUE(close(test_support::gradients(lookup, {small}, weights.to(DType::kFloat32))[0],
                      test_support::gradients(lookup, {table}, weights)[0], 1e-6))
        << "D=" << width;
  }
}

TEST(Embedding, GradientIsAddedToWhatTheTableHasAlready) {
  const Variable table(Tensor::zeros({2, 1}), true);
  table.add_grad(Tensor::full({2, 1}, 5.0));
  autograd::Tape tape;
  const autograd::TapeScope scope(&tape);
  const Variable output = embedding(table, ids_of({1, 1}), 2.0F);
  const Variable loss = select_rows(output, ids_of({0}));
  tape.backward(loss);
  EXPECT_EQ(table.grad().to_vector<float>(), (std::vector<float>{5, 7}));
}

TEST(Embedding, NoTokensGiveNoRows) {
  const Variable output = embedding(Variable(Tensor::zeros({3, 4})), ids_of({}), 1.0F);
  EXPECT_EQ(output.shape(), (tensor::Shape{0, 4}));
}

TEST(Embedding, RefusesIdsOutsideTheTable) {
  const Variable table(Tensor::zeros({10, 4}));
  EXPECT_EQ(error_of([&] {
              embedding(table, ids_of({0, 9, 3, 10}), 1.0F);
            }),
            "embedding: ids[3] is 10, must be in [0, 10)");
  EXPECT_EQ(error_of([&] { select_rows(table, ids_of({-1})); }), "select_rows: ids[0] is -1, must be in [0, 10)");
  EXPECT_EQ(error_of([&] {
              add_positions(Variable(Tensor::zeros({1, 4})), table, ids_of({10}));
            }),
            "add_positions: positions[0] is 10, must be in [0, 10)");
  EXPECT_THAT(error_of([&] { embedding(table, Tensor::zeros({2}), 1.0F); }), HasSubstr("float32, must be int32"));
  EXPECT_THAT(error_of([&] {
                add_positions(Variable(Tensor::zeros({1, 5})), table, ids_of({0}));
              }),
              HasSubstr("table has width 4, x has width 5"));
}

TEST(SinusoidalPositions, AreThoseOfThePaper) {
  const Tensor table = sinusoidal_positions(1000, 6);
  for (int64_t position = 0; position < 1000; ++position) {
    for (int64_t i = 0; i < 3; ++i) {
      const double angle = static_cast<double>(position) / std::pow(10000.0, 2.0 * static_cast<double>(i) / 6.0);
      EXPECT_FLOAT_EQ(table.data<float>()[position * 6 + 2 * i], static_cast<float>(std::sin(angle)));
      EXPECT_FLOAT_EQ(table.data<float>()[position * 6 + 2 * i + 1], static_cast<float>(std::cos(angle)));
    }
  }
  EXPECT_EQ(sinusoidal_positions(1, 3).to_vector<float>(), (std::vector<float>{0, 1, 0}));
}

}  // namespace
}  // namespace dragoman::ops
