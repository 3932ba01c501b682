#include "benchmark/language_model_speed.h"

#include "base/error.h"
#include "base/lap.h"
#include "base/random.h"
#include "decoding/parallel_search.h"
#include "models/architectures/architectures.h"
#include "models/model.h"

namespace dragoman::benchmark {
namespace {

using Ids = std::vector<int32_t>;

struct LanguageModelShape {
  const char* name;
  int layers;
  int64_t d_model;
  int n_heads;
  int64_t context, vocab_size;
};
constexpr LanguageModelShape kLanguageModels[] = {
    {"gpt-mini", 4, 128, 4, 64, 65}, {"gpt-char", 6, 384, 6, 256, 65}, {"gpt2-small", 12, 768, 12, 1024, 50'257}};

Ids random_ids(int64_t count, int64_t vocab_size, base::Random& random) {
  Ids ids(static_cast<size_t>(count));
  for (int32_t& id : ids) {
    id = static_cast<int32_t>(random.below(static_cast<uint64_t>(vocab_size)));
  }
  return ids;
}

data::Batch random_windows(const WindowTrainingOptions& options, base::Random& random) {
  data::Batch batch;
  for (int64_t window = 0; window < options.windows; ++window) {
    const Ids ids = random_ids(options.length + 1, options.model.vocab_size, random);
    data::append(batch, {.line = static_cast<uint64_t>(window),
                         .source = {},
                         .target = {ids.begin() + 1, ids.end() - 1},
                         .before_target = ids.front(),
                         .after_target = ids.back()});
  }
  return batch;
}

void check_length(int64_t length, int64_t context) {
  check_positive("length", length);
  base::check_usage(length <= context, "a window of {} tokens, but max_positions is {}", length, context);
}

std::vector<decoding::SentenceRequest> random_prompts(const GenerationSpeedOptions& options) {
  base::Random random(options.seed);
  std::vector<decoding::SentenceRequest> requests;
  for (int64_t prompt = 0; prompt < options.prompts; ++prompt) {
    decoding::SentenceRequest& request = requests.emplace_back();
    request.source = random_ids(options.prompt_length, options.model.vocab_size, random);
    request.continues_source = true;
    request.special = {.begin = request.source.back(), .ends = {-1, -1, -1, -1}, .never = {-1, -1}, .unknown = -1};
  }
  return requests;
}

}  // namespace

std::optional<models::DecoderOnlyConfig> language_model_shape(const std::string& name) {
  for (const LanguageModelShape& shape : kLanguageModels) {
    if (name == shape.name) {
      models::DecoderOnlyConfig model;
      model.vocab_size = shape.vocab_size;
      model.layers = shape.layers;
      model.d_model = shape.d_model;
      model.d_ff = 4 * shape.d_model;
      model.n_heads = shape.n_heads;
      model.max_positions = shape.context;
      return model;
    }
  }
  return std::nullopt;
}

void WindowTrainingOptions::check() const {
  check_positive("windows", windows);
  check_positive("steps", steps);
  check_positive("workers", workers.workers);
  base::check_usage(warmup >= 0, "warmup is {}, must not be negative", warmup);
  check_length(length, model.max_positions);
  model.check();
}

Throughput measure_window_training(const WindowTrainingOptions& options, distributed::ProcessGroup& processes) {
  options.check();
  const std::unique_ptr<models::Model> model = models::make_model(options.model);
  model->parameters().allocate();
  model->parameters().initialize(options.seed);
  training::DataParallel trainer(*model, training::next_word_objective({.label_smoothing = 0.0}), options.adam,
                                 processes, options.workers);
  base::Random random(options.seed);
  Throughput measured;
  measured.parameters = model->parameters().count();
  measured.target_tokens = options.windows * options.length;
  measured.flops = 3 * static_cast<double>(options.windows) * model->forward_flops(0, options.length);
  std::vector<data::Batch> batches;
  for (int index = 0; index < kRandomBatches; ++index) {
    batches.push_back(random_windows(options, random));
  }
  time_updates(trainer, batches, {options.warmup, options.steps, options.seed}, measured);
  return measured;
}

void GenerationSpeedOptions::check() const {
  check_positive("prompts", prompts);
  check_positive("new_tokens", new_tokens);
  check_positive("runs", runs);
  base::check_usage(warmup >= 0, "warmup is {}, must not be negative", warmup);
  check_length(prompt_length + new_tokens, model.max_positions);
  model.check();
}

GenerationSpeed measure_generation(const GenerationSpeedOptions& options) {
  options.check();
  const auto model = std::shared_ptr<models::Model>(models::make_model(options.model));
  model->parameters().allocate();
  model->parameters().initialize(options.seed);
  model->parameters().pack_weights(options.precision);
  const decoding::ParallelSearch search(model);
  decoding::SearchOptions greedy;
  greedy.beam_size = 1;
  greedy.output.scores = false;
  greedy.length.min_length = 0;
  greedy.length.max_length_extra = 100'000;
  greedy.execution.workers = options.workers;
  greedy.execution.threads_per_worker = options.threads_per_worker;
  greedy.execution.batch_tokens = options.prompts * (options.prompt_length + options.new_tokens);
  std::vector<decoding::SentenceRequest> requests = random_prompts(options);
  const auto seconds_of = [&](int64_t new_tokens) {
    for (decoding::SentenceRequest& request : requests) {
      request.max_length = new_tokens;
    }
    base::Lap lap;
    static_cast<void>(search.run(requests, greedy));
    return lap();
  };
  GenerationSpeed measured;
  measured.parameters = model->parameters().count();
  measured.new_tokens = options.prompts * options.new_tokens;
  const double bytes = options.precision == kernels::Precision::kInt8       ? 1.0
                       : options.precision == kernels::Precision::kBFloat16 ? 2.0
                                                                            : 4.0;
  measured.read_bytes = bytes * static_cast<double>(measured.parameters);
  for (int64_t run = 0; run < options.warmup + options.runs; ++run) {
    const double prompts = seconds_of(1), all = seconds_of(options.new_tokens);
    if (run >= options.warmup) {
      measured.prompt_seconds.push_back(prompts);
      measured.run_seconds.push_back(all);
    }
  }
  return measured;
}

}  // namespace dragoman::benchmark
