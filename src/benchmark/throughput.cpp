#include "benchmark/throughput.h"

#include <algorithm>
#include <random>

#include "base/error.h"
#include "base/lap.h"
#include "benchmark/product_speed.h"
#include "models/architectures/architectures.h"
#include "models/transformer/transformer.h"

namespace dragoman::benchmark {
namespace {

std::vector<int32_t> random_ids(int64_t count, int64_t vocab_size, std::mt19937_64& random) {
  std::vector<int32_t> ids(static_cast<size_t>(count));
  for (int32_t& id : ids) {
    id = kFirstWord + static_cast<int32_t>(random() % static_cast<uint64_t>(vocab_size - kFirstWord));
  }
  return ids;
}

data::Batch random_batch(const ThroughputOptions& options, std::mt19937_64& random) {
  data::Batch batch;
  for (int64_t sentence = 0; sentence < options.sentences; ++sentence) {
    data::append(batch, {static_cast<uint64_t>(sentence),
                         random_ids(options.source_length, options.model.source_vocab_size, random),
                         random_ids(options.target_length - 1, options.model.target_vocab_size, random)});
  }
  return batch;
}

struct Shape {
  const char* name;
  int layers;
  int64_t d_model, d_ff;
  int n_heads;
  int64_t vocab_size;
};
constexpr Shape kShapes[] = {
    {"base", 6, 512, 2048, 8, 32'000}, {"d256", 3, 256, 1024, 4, 8'000}, {"tiny", 4, 128, 256, 4, 10'000}};

}  // namespace

void check_positive(const char* name, int64_t value) {
  base::check_usage(value >= 1, "{} is {}, must be at least 1", name, value);
}

void check_random_sentences(const models::TransformerConfig& model, int64_t source_length, int64_t target_length) {
  check_positive("source_length", source_length);
  check_positive("target_length", target_length);
  const int64_t longest = std::max(source_length, target_length);
  base::check_usage(longest <= model.max_positions, "a sentence of {} tokens, but max_positions is {}", longest,
                    model.max_positions);
  const int64_t vocab_size = std::min(model.source_vocab_size, model.target_vocab_size);
  base::check_usage(vocab_size > kFirstWord, "vocabulary of {}, must be more than the {} special ids", vocab_size,
                    kFirstWord);
  model.check();
}

void ThroughputOptions::check() const {
  check_positive("sentences", sentences);
  check_positive("steps", steps);
  check_positive("workers", workers.workers);
  base::check_usage(warmup >= 0, "warmup is {}, must not be negative", warmup);
  check_random_sentences(model, source_length, target_length);
}

double median(std::vector<double> values) {
  base::check_argument(!values.empty(), "median: no values");
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

double Throughput::median_seconds() const {
  return median(step_seconds);
}

double translation_flops(const models::TransformerConfig& model, int64_t source_length, int64_t target_length,
                         int64_t n_hypotheses) {
  const double of_source = models::forward_flops(model, source_length, 0);
  const double of_pair = models::forward_flops(model, source_length, target_length);
  return of_source + static_cast<double>(n_hypotheses) * (of_pair - of_source);
}

double training_flops(const models::TransformerConfig& model, int64_t source_length, int64_t target_length) {
  // The backward has one product for the input and one for the weight.
  return 3 * translation_flops(model, source_length, target_length, 1);
}

models::TransformerConfig benchmark_shape(const std::string& name) {
  std::string known;
  for (const Shape& shape : kShapes) {
    if (name == shape.name) {
      models::TransformerConfig model;
      model.source_vocab_size = model.target_vocab_size = shape.vocab_size;
      model.d_model = shape.d_model;
      model.d_ff = shape.d_ff;
      model.n_heads = shape.n_heads;
      model.encoder_layers = model.decoder_layers = shape.layers;
      model.dropout = 0.1F;
      return model;
    }
    known += (known.empty() ? "" : ", ") + std::string(shape.name);
  }
  base::fail(base::ErrorKind::kUsage, "shape: '{}' is not known; choose one of {}", name, known);
}

void time_updates(training::DataParallel& trainer, std::span<const data::Batch> batches, const TimedUpdates& updates,
                  Throughput& measured) {
  constexpr double kLearningRate = 1e-4;
  for (int64_t step = 1; step <= updates.warmup + updates.steps; ++step) {
    const data::Batch& batch = batches[static_cast<size_t>(step) % batches.size()];
    base::Lap lap;
    const training::UpdateResult result = trainer.update({&batch, 1}, step, kLearningRate, updates.seed);
    if (step > updates.warmup) {
      measured.step_seconds.push_back(lap());
      measured.times.add(result.times, 1.0 / static_cast<double>(updates.steps));
    }
  }
}

Throughput measure_training(const ThroughputOptions& options, distributed::ProcessGroup& processes) {
  options.check();
  const std::unique_ptr<models::Model> model = models::make_model(options.model);
  model->parameters().allocate();
  model->parameters().initialize(options.seed);
  training::DataParallel trainer(*model, training::next_word_objective(options.loss), options.adam, processes,
                                 options.workers);
  trainer.set_recompute(options.recompute);
  std::mt19937_64 random(options.seed);
  std::vector<data::Batch> batches;
  for (int index = 0; index < kRandomBatches; ++index) {
    batches.push_back(random_batch(options, random));
  }
  Throughput measured;
  const int64_t rows = std::max<int64_t>(options.sentences * options.target_length / options.workers.workers, 1);
  if (model->parameters().values().device().is_host()) {
    measured.gemm_gflops_per_second =
        best_product_speed(measure_products(options.model, rows, options.workers, kSecondsOfProduct));
  }
  measured.target_tokens = batches.front().target_tokens();
  measured.flops = static_cast<double>(options.sentences) *
                   training_flops(options.model, options.source_length, options.target_length);
  measured.parameters = model->parameters().count();
  measured.sent_bytes = 2 * (processes.size() - 1) * model->parameters().values().size() *
                        static_cast<int64_t>(sizeof(float)) / processes.size();
  std::vector<uint64_t> before;  // gradients and tables of each worker
  for (int rank = 0; rank < options.workers.workers; ++rank) {
    before.push_back(trainer.arena_counters(rank).live_bytes);
    measured.gradient_bytes += before.back();
  }
  time_updates(trainer, batches, {options.warmup, options.steps, options.seed}, measured);
  for (int rank = 0; rank < options.workers.workers; ++rank) {
    measured.activation_bytes += trainer.arena_counters(rank).peak_bytes - before[static_cast<size_t>(rank)];
  }
  return measured;
}

}  // namespace dragoman::benchmark
