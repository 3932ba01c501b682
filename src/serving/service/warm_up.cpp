#include "serving/service/warm_up.h"

#include <chrono>
#include <vector>

namespace dragoman::serving {

double warm_up(const std::function<std::future<size_t>()>& begin_one) {
  begin_one().get();
  const auto begin = std::chrono::steady_clock::now();
  constexpr int kTexts = 8;
  std::vector<std::future<size_t>> texts;
  for (int i = 0; i < kTexts; ++i) {
    texts.push_back(begin_one());
  }
  size_t tokens = 0;
  for (auto& text : texts) {
    tokens += text.get();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(tokens) / seconds.count();
}

}  // namespace dragoman::serving
