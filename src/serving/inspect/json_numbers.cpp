#include "serving/inspect/json_numbers.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "tensor/transfer.h"

namespace dragoman::serving {

nlohmann::json rounded(double value) {
  if (!std::isfinite(value)) {
    return nullptr;
  }
  std::array<char, 32> text;
  const auto end = std::to_chars(text.begin(), text.end(), value, std::chars_format::general, 6).ptr;
  double result = 0.0;
  std::from_chars(text.begin(), end, result);
  return result == 0.0 ? 0.0 : result;  // negative zero becomes zero
}

void NumberWriter::count(int64_t numbers) {
  base::check_usage(numbers <= left_, "inspect: the parts asked for hold more than {} numbers; ask for fewer at a time",
                    max_);
  left_ -= numbers;
}

nlohmann::json NumberWriter::tensor(const tensor::Tensor& values) {
  count(values.size());
  auto numbers = nlohmann::json::array();
  const tensor::HostView<float> elements(values);
  for (const float value : elements) {
    numbers.push_back(rounded(value));
  }
  const auto dims = values.shape().dims();
  return {{"shape", std::vector<int64_t>(dims.begin(), dims.end())}, {"values", std::move(numbers)}};
}

}  // namespace dragoman::serving
