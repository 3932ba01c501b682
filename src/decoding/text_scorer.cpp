#include "decoding/text_scorer.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "decoding/in_groups.h"
#include "decoding/steps/token_log_probs.h"
#include "models/model_device.h"
#include "tensor/device_scope.h"

namespace dragoman::decoding {
namespace {

struct Window {
  size_t begin;    // of the tokens that are read
  size_t length;   // how many
  size_t counted;  // of its predictions, the last ones
};

std::vector<Window> rolling_windows(size_t tokens, size_t window, size_t stride) {
  std::vector<Window> windows;
  size_t scored = 0;  // tokens that were predicted
  const size_t to_score = tokens - 1;
  while (scored < to_score) {
    const size_t counted = std::min(scored == 0 ? window : stride, to_score - scored);
    const size_t end = scored + counted;  // the last token read has this number, less one
    const size_t begin = end > window ? end - window : 0;
    windows.push_back({begin, end - begin, counted});
    scored = end;
  }
  return windows;
}

std::vector<Window> random_windows(size_t tokens, size_t window, const TextScoreOptions& options) {
  const size_t length = std::min(window, tokens - 1);
  base::Random random(options.seed, 0);
  std::vector<Window> windows;
  for (int64_t i = 0; i < options.random_windows; ++i) {
    const auto begin = static_cast<size_t>(random.uniform() * static_cast<double>(tokens - length));
    windows.push_back({begin, length, length});
  }
  return windows;
}

// Some windows in one pass. @param log_probs  one for each counted prediction
void score_windows(const models::Model& model, const data::TokenText& text, std::span<const Window> windows,
                   std::span<float> log_probs) {
  const autograd::NoGrad inference;
  models::FlatIds input;
  std::vector<int32_t> expected;
  for (const Window& window : windows) {
    const auto ids = std::span(text.ids).subspan(window.begin, window.length + 1);
    input.append(ids.first(window.length));
    input.end_sentence();
    expected.insert(expected.end(), ids.begin() + 1, ids.end());
  }
  const tensor::Tensor hidden = model.forward({{}, models::make_token_rows(input)}, {}).value();  // [N, D]
  const std::vector<double> all = token_log_probs(model, hidden, expected);
  size_t row = 0, written = 0;
  for (const Window& window : windows) {
    for (size_t i = window.length - window.counted; i < window.length; ++i) {
      log_probs[written++] = static_cast<float>(all[row + i]);
    }
    row += window.length;
  }
}

// The windows [begin, end) of one pass, and where their predictions go.
struct Group {
  size_t begin, end, first_prediction;
};

std::vector<Group> group(std::span<const Window> windows, int64_t batch_tokens) {
  std::vector<Group> groups;
  size_t predictions = 0, tokens = 0;
  for (size_t i = 0; i < windows.size(); ++i) {
    if (groups.empty() || tokens + windows[i].length > static_cast<size_t>(batch_tokens)) {
      groups.push_back({i, i, predictions});
      tokens = 0;
    }
    groups.back().end = i + 1;
    tokens += windows[i].length;
    predictions += windows[i].counted;
  }
  return groups;
}

}  // namespace

TextScore score_text(const models::Model& model, const data::TokenText& text, const TextScoreOptions& options,
                     const ScoreOptions& execution) {
  base::check_fields(options);
  base::check_fields(execution);
  const int64_t context = model.config().sizes().max_positions;
  const int64_t window = options.window > 0 ? options.window : context;
  const int64_t stride = options.stride > 0 ? options.stride : std::max<int64_t>(window / 2, 1);
  base::check_usage(window <= context, "window is {}, the model takes {}", window, context);
  base::check_usage(stride <= window, "stride is {}, must be at most the window ({})", stride, window);
  base::check_data(text.size() >= 2, "score: the text has {} tokens, at least 2 are needed", text.size());
  const bool at_random = options.random_windows > 0;
  const std::vector<Window> windows =
      at_random ? random_windows(text.size(), static_cast<size_t>(window), options)
                : rolling_windows(text.size(), static_cast<size_t>(window), static_cast<size_t>(stride));
  const std::vector<Group> groups = group(windows, execution.batch_tokens);
  TextScore score{
      .log_probs = {}, .bytes = at_random ? 0 : text.bytes, .window = window, .stride = at_random ? window : stride};
  score.log_probs.resize(std::transform_reduce(windows.begin(), windows.end(), size_t{0}, std::plus<>(),
                                               [](const Window& one) { return one.counted; }));
  const tensor::DeviceScope device(models::device_of(model));
  for_each_group(groups.size(), execution.workers, [&](size_t number) {
    const Group& of = groups[number];
    score_windows(model, text, std::span(windows).subspan(of.begin, of.end - of.begin),
                  std::span(score.log_probs).subspan(of.first_prediction));
  });
  for (const float log_prob : score.log_probs) {
    score.log_prob += static_cast<double>(log_prob);
  }
  return score;
}

}  // namespace dragoman::decoding
