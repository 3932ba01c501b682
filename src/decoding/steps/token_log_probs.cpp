#include "decoding/steps/token_log_probs.h"

#include <algorithm>

#include "decoding/search/candidates.h"
#include "tensor/transfer.h"

namespace dragoman::decoding {
namespace {

// Rows whose logits are held at once: [rows, V] stays small for any vocabulary.
constexpr int64_t kLogitRows = 128;

}  // namespace

std::vector<double> token_log_probs(const models::Model& model, const tensor::Tensor& hidden,
                                    std::span<const int32_t> expected) {
  std::vector<double> log_probs;
  const int64_t n_rows = hidden.dim(0);
  for (int64_t begin = 0; begin < n_rows; begin += kLogitRows) {
    const int64_t end = std::min(n_rows, begin + kLogitRows);
    const tensor::Tensor logits =
        model.output().logits(autograd::Variable(hidden.rows(begin, end))).value();  // [rows, V]
    const auto vocab_size = static_cast<size_t>(logits.dim(1));
    const tensor::HostView<float> values(logits);
    for (int64_t row = begin; row < end; ++row) {
      const auto row_logits = values.span().subspan(static_cast<size_t>(row - begin) * vocab_size, vocab_size);
      const auto token = static_cast<size_t>(expected[static_cast<size_t>(row)]);
      log_probs.push_back(row_logits[token] - log_normaliser(row_logits));
    }
  }
  return log_probs;
}

}  // namespace dragoman::decoding
