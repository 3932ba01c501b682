#include "ops/recurrent.h"

#include <gmock/gmock.h>

#include <cmath>

#include "recurrent_cases.h"
#include "support/error_of.h"

namespace dragoman::ops {
namespace {

using test_support::close;
using test_support::same_bits;

constexpr CellKind kCells[] = {CellKind::kGru, CellKind::kLstm};
constexpr Direction kDirections[] = {Direction::kForward, Direction::kBackward};

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// The layer by its formulas, one sentence and one unit after the other.
std::vector<double> naive(const RecurrentCase& of, const std::vector<Tensor>& in) {
  const int64_t h = of.width, g = of.columns();
  const auto at = [](const Tensor& matrix, int64_t row, int64_t column) {
    return matrix.data<double>()[row * matrix.dim(1) + column];
  };
  std::vector<double> output(static_cast<size_t>(of.rows() * h));
  for (size_t b = 0; b + 1 < of.offsets.size(); ++b) {
    std::vector<double> hidden(static_cast<size_t>(h)), cell(static_cast<size_t>(h));
    for (int64_t c = 0; c < h; ++c) {
      hidden[static_cast<size_t>(c)] = at(in[3], static_cast<int64_t>(b), c);
      cell[static_cast<size_t>(c)] = at(in[4], static_cast<int64_t>(b), c);
    }
    for (int32_t t = 0; t < of.offsets[b + 1] - of.offsets[b]; ++t) {
      const int64_t row = of.direction == Direction::kForward ? of.offsets[b] + t : of.offsets[b + 1] - 1 - t;
      std::vector<double> from_state(static_cast<size_t>(g));
      for (int64_t j = 0; j < g; ++j) {
        from_state[static_cast<size_t>(j)] = in[2].data<double>()[j];
        for (int64_t c = 0; c < h; ++c) {
          from_state[static_cast<size_t>(j)] += hidden[static_cast<size_t>(c)] * at(in[1], c, j);
        }
      }
      for (int64_t c = 0; c < h; ++c) {
        const auto gate = [&](int64_t which) {
          return at(in[0], row, which * h + c) + from_state[static_cast<size_t>(which * h + c)];
        };
        double& state = hidden[static_cast<size_t>(c)];
        if (of.cell == CellKind::kGru) {
          const double r = sigmoid(gate(0)), z = sigmoid(gate(1));
          const double n = std::tanh(at(in[0], row, 2 * h + c) + r * from_state[static_cast<size_t>(2 * h + c)]);
          state = (1 - z) * n + z * state;
        } else {
          double& inner = cell[static_cast<size_t>(c)];
          inner = sigmoid(gate(1)) * inner + sigmoid(gate(0)) * std::tanh(gate(2));
          state = sigmoid(gate(3)) * std::tanh(inner);
        }
        output[static_cast<size_t>(row * h + c)] = state;
      }
    }
  }
  return output;
}

std::vector<Variable> variables_of(const std::vector<Tensor>& tensors, DType dtype = DType::kFloat32) {
  std::vector<Variable> variables;
  for (const Tensor& tensor : tensors) {
    variables.emplace_back(tensor.to(dtype));
  }
  return variables;
}

std::vector<Tensor> in_float32(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> converted;
  for (const Tensor& tensor : tensors) {
    converted.push_back(tensor.to(DType::kFloat32));
  }
  return converted;
}

void expect_float32_agrees(const Function& function, const std::vector<Tensor>& inputs, const std::string& label) {
  const Tensor exact = function(variables_of(inputs, DType::kFloat64)).value();
  EXPECT_TRUE(close(function(variables_of(inputs)).value(), exact, 3e-6)) << label;
  const Tensor weights = random_tensor(exact.shape(), DType::kFloat64, 2);
  const std::vector<Tensor> seen = test_support::gradients(function, in_float32(inputs), weights.to(DType::kFloat32));
  const std::vector<Tensor> wanted = test_support::gradients(function, inputs, weights);
  for (size_t i = 0; i < seen.size(); ++i) {
    EXPECT_TRUE(close(seen[i], wanted[i], 2e-5)) << label << ", gradient " << i;
  }
}

TEST(RecurrentLayer, IsItsFormula) {
  for (const CellKind cell : kCells) {
    for (const Direction direction : kDirections) {
      const RecurrentCase of{.cell = cell, .direction = direction, .width = 5, .offsets = {0, 2, 2, 7, 8}};
      const std::vector<Tensor> in = of.layer_inputs();
      const Tensor y = of.layer()(variables_of(in, DType::kFloat64)).value();
      EXPECT_TRUE(close(y, Tensor::from(naive(of, in), {8, 5}), 1e-12)) << kernels::name_of(cell);
    }
  }
}

TEST(RecurrentLayer, GradientsAgreeWithFiniteDifferences) {
  for (const CellKind cell : kCells) {
    for (const Direction direction : kDirections) {
      const RecurrentCase of{.cell = cell, .direction = direction};
      test_support::check_gradients(of.layer(), of.layer_inputs());
    }
  }
}

TEST(RecurrentLayer, Float32AgreesWithFloat64) {
  for (const CellKind cell : kCells) {
    for (const int64_t width : {1, 7, 8, 17, 32, 65}) {
      const RecurrentCase of{
          .cell = cell, .direction = kDirections[width % 2], .width = width, .offsets = {0, 1, 6, 6, 9}};
      expect_float32_agrees(of.layer(), of.layer_inputs(), std::string(kernels::name_of(cell)) + std::to_string(width));
    }
  }
}

TEST(RecurrentLayer, RowsMayBeStridedAndStatesMayBeZero) {
  const RecurrentCase of{.width = 9};
  std::vector<Variable> in = variables_of(of.layer_inputs());
  const Tensor plain = of.layer()(in).value();
  in[0] = Variable(test_support::strided_copy(in[0].value()));
  EXPECT_TRUE(same_bits(of.layer()(in).value(), plain));
  in[3] = Variable(Tensor::zeros(in[3].shape()));
  const Tensor zero = of.layer()(in).value();
  in[3] = Variable();
  EXPECT_TRUE(same_bits(of.layer()(in).value(), zero));
}

// Each sentence alone, and one row at a time from the state behind the row before.
TEST(RecurrentLayer, ASentenceAloneAndStepByStepHasTheBitsOfTheBatch) {
  for (const CellKind cell : kCells) {
    for (const Direction direction : kDirections) {
      const RecurrentCase of{.cell = cell, .direction = direction, .width = 19, .offsets = {0, 4, 5, 12}};
      const std::vector<Variable> in = variables_of(of.layer_inputs());
      const Tensor whole = of.layer()(in).value();
      for (int64_t b = 0; b < of.sentences(); ++b) {
        const int32_t begin = of.offsets[static_cast<size_t>(b)], end = of.offsets[static_cast<size_t>(b) + 1];
        std::vector<Variable> alone = in;
        alone[0] = Variable(in[0].value().rows(begin, end));
        alone[3] = Variable(in[3].value().rows(b, b + 1));
        alone[4] = Variable(in[4].value().rows(b, b + 1));
        RecurrentCase one = of;
        one.offsets = {0, end - begin};
        EXPECT_TRUE(same_bits(one.layer()(alone).value(), whole.rows(begin, end).clone()));
        RecurrentState state = one.state(alone);
        for (int32_t t = 0; t < end - begin; ++t) {
          const int32_t row = direction == Direction::kForward ? begin + t : end - 1 - t;
          LastState last;
          const int32_t offsets[] = {0, 1};
          const Variable y = recurrent_layer(Variable(in[0].value().rows(row, row + 1)), tensor::host_tensor(offsets),
                                             {cell, in[1], in[2]}, state, direction, {.last = &last});
          EXPECT_TRUE(same_bits(y.value(), whole.rows(row, row + 1).clone()));
          state = {Variable(last.hidden), cell == CellKind::kLstm ? Variable(last.cell) : Variable()};
        }
      }
    }
  }
}

TEST(RecurrentLayer, NothingGivesNothing) {
  RecurrentCase of;
  of.offsets = {0, 0};
  EXPECT_EQ(of.layer()(variables_of(of.layer_inputs())).shape(), (tensor::Shape{0, 3}));
}

TEST(RecurrentLayer, RefusesOtherShapes) {
  const RecurrentCase of;
  std::vector<Variable> in = variables_of(of.layer_inputs());
  in[0] = Variable(Tensor::zeros({8, 12}));
  EXPECT_EQ(test_support::error_of([&] { of.layer()(in); }),
            "recurrent_layer: gates are [8, 12], state weights [3, 9]; must be [N, 9] and [3, 9] for a gru");
  in[0] = Variable(Tensor::zeros({7, 9}));
  EXPECT_EQ(test_support::error_of([&] { of.layer()(in); }),
            "recurrent_layer: offsets run from 0 to 8, must run from 0 to the number of rows, 7");
}

Function attention_of(const RecurrentCase& of) {
  return [of](const std::vector<Variable>& in) {
    return source_attention(in[0], tensor::host_tensor(of.offsets),
                            source_memory(of.score, in[1], in[2], tensor::host_tensor(of.sources)),
                            of.score == ScoreKind::kAdditive ? in[3] : Variable());
  };
}

std::vector<Tensor> attention_inputs(const RecurrentCase& of) {
  const std::vector<Tensor> all = of.attentive_inputs();
  return {random_tensor({of.rows(), of.key_width()}), all[5], all[6], all[9]};
}

RecurrentCase attending(ScoreKind score, CellKind cell, int64_t width = 3, int64_t keys = 5) {
  RecurrentCase of;
  of.score = score, of.cell = cell, of.width = width, of.keys = keys;
  return of;
}

constexpr ScoreKind kScores[] = {ScoreKind::kAdditive, ScoreKind::kMultiplicative};

TEST(SourceAttention, GradientsAgreeWithFiniteDifferences) {
  for (const ScoreKind score : kScores) {
    const RecurrentCase of = attending(score, CellKind::kGru);
    test_support::check_gradients(attention_of(of), attention_inputs(of));
  }
}

TEST(SourceAttention, Float32AgreesWithFloat64) {
  for (const ScoreKind score : kScores) {
    for (const int64_t width : {1, 7, 16, 33}) {
      RecurrentCase of = attending(score, CellKind::kGru, width, width);
      of.context = width + 1;
      expect_float32_agrees(attention_of(of), attention_inputs(of), "width " + std::to_string(width));
    }
  }
}

// Equal keys get equal weights.
TEST(SourceAttention, WeightsSumToOneAndAreZeroPastTheSource) {
  const RecurrentCase of = attending(ScoreKind::kAdditive, CellKind::kGru);
  std::vector<Variable> in = variables_of(attention_inputs(of));
  in[1] = Variable(Tensor::zeros(in[1].shape()));
  Tensor attention;
  source_attention(in[0], tensor::host_tensor(of.offsets),
                   source_memory(of.score, in[1], in[2], tensor::host_tensor(of.sources)), in[3], &attention);
  EXPECT_TRUE(close(attention.rows(0, 1), Tensor::from(std::vector<float>{0.5, 0.5, 0}, {1, 3}), 1e-6));
  EXPECT_TRUE(close(attention.rows(3, 4), Tensor::full({1, 3}, 1.0 / 3), 1e-6));
  EXPECT_TRUE(close(attention.rows(7, 8), Tensor::from(std::vector<float>{1, 0, 0}, {1, 3}), 1e-6));
}

TEST(SourceAttention, RefusesASourceWithoutRows) {
  RecurrentCase of;
  of.sources = {0, 2, 2, 6};
  EXPECT_EQ(test_support::error_of([&] { attention_of(of)(variables_of(attention_inputs(of))); }),
            "source_memory: sentence 1 has no rows; attention needs one");
}

TEST(AttentiveLayer, GradientsAgreeWithFiniteDifferences) {
  for (const ScoreKind score : kScores) {
    for (const CellKind cell : kCells) {
      const RecurrentCase of = attending(score, cell);
      test_support::check_gradients(of.attentive(), of.attentive_inputs());
    }
  }
}

TEST(InputFeedingLayer, GradientsAgreeWithFiniteDifferences) {
  for (const ScoreKind score : kScores) {
    for (const CellKind cell : kCells) {
      const RecurrentCase of = attending(score, cell);
      test_support::check_gradients(of.feeding(), of.feeding_inputs());
    }
  }
}

TEST(AttentiveLayer, Float32AgreesWithFloat64) {
  for (const ScoreKind score : kScores) {
    for (const CellKind cell : kCells) {
      const RecurrentCase of = attending(score, cell, 18, 7);
      expect_float32_agrees(of.attentive(), of.attentive_inputs(), "attentive");
      expect_float32_agrees(of.feeding(), of.feeding_inputs(), "feeding");
    }
  }
}

// The rows of sentence b alone.
std::vector<Variable> sentence_alone(const RecurrentCase& of, std::vector<Variable> in, size_t b) {
  const auto rows = [&](size_t input, int64_t begin, int64_t end) {
    in[input] = Variable(in[input].value().rows(begin, end));
  };
  rows(0, of.offsets[b], of.offsets[b + 1]);
  for (const size_t input : {size_t{3}, size_t{4}, size_t{12}}) {
    if (input < in.size()) {
      rows(input, static_cast<int64_t>(b), static_cast<int64_t>(b) + 1);
    }
  }
  rows(5, of.sources[b], of.sources[b + 1]);
  rows(6, of.sources[b], of.sources[b + 1]);
  return in;
}

TEST(AttentiveLayer, ASentenceAloneHasTheBitsOfTheBatch) {
  for (const ScoreKind score : kScores) {
    for (const CellKind cell : kCells) {
      const RecurrentCase of = attending(score, cell, 18, 7);
      const std::vector<Variable> in = variables_of(of.attentive_inputs());
      const std::vector<Variable> feeding = variables_of(of.feeding_inputs());
      const Tensor attended = of.attentive()(in).value(), fed = of.feeding()(feeding).value();
      for (size_t b = 0; b + 1 < of.offsets.size(); ++b) {
        RecurrentCase one = of;
        one.offsets = {0, of.offsets[b + 1] - of.offsets[b]};
        one.sources = {0, of.sources[b + 1] - of.sources[b]};
        const auto part = [&](const Tensor& y) { return y.rows(of.offsets[b], of.offsets[b + 1]).clone(); };
        EXPECT_TRUE(same_bits(one.attentive()(sentence_alone(of, in, b)).value(), part(attended)));
        EXPECT_TRUE(same_bits(one.feeding()(sentence_alone(of, feeding, b)).value(), part(fed)));
      }
    }
  }
}

}  // namespace
}  // namespace dragoman::ops
