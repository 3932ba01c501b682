#include "benchmark/translation_speed.h"

#include <algorithm>

#include "base/cpu.h"
#include "base/error.h"
#include "base/lap.h"
#include "base/random.h"
#include "benchmark/product_speed.h"
#include "benchmark/throughput.h"
#include "data/vocabulary/vocabulary.h"
#include "decoding/parallel_search.h"
#include "decoding/steps/model_steps.h"
#include "models/architectures/architectures.h"
#include "models/model.h"

namespace dragoman::benchmark {
namespace {

using Ids = std::vector<int32_t>;

int32_t random_word(int64_t vocab_size, base::Random& random) {
  return kFirstWord + static_cast<int32_t>(random.below(static_cast<uint64_t>(vocab_size - kFirstWord)));
}

std::vector<Ids> random_sources(const TranslationSpeedOptions& options, int64_t count) {
  base::Random random(options.seed);
  std::vector<Ids> sources(static_cast<size_t>(count));
  for (Ids& source : sources) {
    for (int64_t token = 1; token < options.source_length; ++token) {
      source.push_back(random_word(options.model.source_vocab_size, random));
    }
    source.push_back(data::kEosId);
  }
  return sources;
}

// Sentences that a worker holds.
int64_t sentences_under_way(const TranslationSpeedOptions& options) {
  const int64_t workers = base::thread_count(options.search.execution.workers);
  const int64_t share = (options.sentences + workers - 1) / workers;
  return std::clamp(options.search.execution.batch_tokens / options.source_length, int64_t{1}, share);
}

// Seconds of each step from the first to the last position; hypotheses stay where they are, tokens are random.
std::vector<double> step_seconds(const models::Model& model, const TranslationSpeedOptions& options) {
  decoding::ModelSteps steps(model);
  const std::vector<Ids> sources = random_sources(options, sentences_under_way(options));
  const std::vector<int32_t> slots = steps.add(std::vector<std::span<const int32_t>>(sources.begin(), sources.end()));
  base::Random random(options.seed + 1);
  kernels::BestLogits best;
  std::vector<double> seconds;
  for (int64_t position = 0; position < options.target_length; ++position) {
    std::vector<decoding::StepRow> rows;
    for (const int32_t slot : slots) {
      for (int hypothesis = 0; hypothesis < options.search.beam_size; ++hypothesis) {
        rows.push_back({slot, position == 0 ? 0 : hypothesis, random_word(options.model.target_vocab_size, random)});
      }
    }
    base::Lap lap;
    steps.step_best(rows, options.search.beam_size, best);
    seconds.push_back(lap());
  }
  return seconds;
}

// The medians of positions 1, 2, 3 to 4, 5 to 8, ... .
std::vector<StepCost> costs_by_position(const std::vector<double>& seconds) {
  std::vector<StepCost> costs;
  for (size_t begin = 0, end = 1; begin < seconds.size(); begin = end, end = std::min(2 * end, seconds.size())) {
    const auto first = seconds.begin() + static_cast<ptrdiff_t>(begin),
               last = seconds.begin() + static_cast<ptrdiff_t>(end);
    costs.push_back({static_cast<int64_t>(end), median({first, last})});
  }
  return costs;
}

}  // namespace

void TranslationSpeedOptions::check() const {
  check_positive("sentences", sentences);
  check_positive("runs", runs);
  base::check_usage(warmup >= 0, "warmup is {}, must not be negative", warmup);
  check_random_sentences(model, source_length, target_length);
  search.check();
}

double TranslationSpeed::median_seconds() const {
  return median(run_seconds);
}

TranslationSpeed measure_translation(const TranslationSpeedOptions& options) {
  options.check();
  const auto model = std::shared_ptr<models::Model>(models::make_model(options.model));
  model->parameters().allocate();
  model->parameters().initialize(options.seed);
  model->parameters().pack_weights(options.precision);
  TranslationSpeed measured;
  measured.parameters = model->parameters().count();
  measured.flops =
      static_cast<double>(options.sentences) *
      translation_flops(options.model, options.source_length, options.target_length, options.search.beam_size);
  measured.step_rows = sentences_under_way(options) * options.search.beam_size;
  if (tensor::Arena::current()->device().is_host()) {
    measured.product_gflops_per_second = best_product_speed(
        measure_packed_products(options.model, measured.step_rows, options.precision,
                                base::thread_count(options.search.execution.workers), kSecondsOfProduct));
  }

  decoding::SearchOptions search = options.search;
  search.length.min_length = static_cast<int>(options.target_length) - 1;
  search.length.max_length_ratio = 0;
  search.length.max_length_extra = static_cast<int>(options.target_length);
  const decoding::ParallelSearch translator(model);
  const std::vector<Ids> sources = random_sources(options, options.sentences);
  for (int64_t run = 0; run < options.warmup + options.runs; ++run) {
    base::Lap lap;
    const std::vector<decoding::SearchResult> outputs = translator.run(sources, search);
    const double seconds = lap();
    if (run >= options.warmup) {
      measured.run_seconds.push_back(seconds);
    }
    measured.target_tokens = 0;
    for (const decoding::SearchResult& output : outputs) {
      measured.target_tokens += static_cast<int64_t>(output.hypotheses.at(0).token_scores.size());
    }
  }
  measured.step_costs = costs_by_position(step_seconds(*model, options));
  return measured;
}

}  // namespace dragoman::benchmark
