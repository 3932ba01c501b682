#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/cpu.h"
#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "cli/command.h"
#include "ops/product_kernel.h"
#include "training/product_speed.h"
#include "training/throughput.h"

namespace dragoman::cli {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;

struct BenchmarkOptions {
  bool train = false;
  bool gemm = false;
  bool json = false;
  std::string shape = "base";
  std::string precision = "auto";
  std::string recompute = "none";
  int64_t vocab_size = 0;  // this and the next five: 0 = as `shape` has it
  int64_t d_model = 0;
  int64_t d_ff = 0;
  int n_heads = 0;
  int encoder_layers = -1;
  int decoder_layers = -1;
  int workers = 0;
  training::ThroughputOptions training;
};

const char* build_type() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return "sanitized";
#elif defined(NDEBUG) && defined(__OPTIMIZE__)
  return "release";
#else
  return "debug";
#endif
}

void check_release_build() {
  base::check_usage(std::string_view(build_type()) == "release",
                    "benchmark: this is a {} build, its speed means nothing; configure with -DCMAKE_BUILD_TYPE=Release",
                    build_type());
}

models::TransformerConfig model_of(const BenchmarkOptions& options) {
  models::TransformerConfig model = training::benchmark_shape(options.shape);
  const auto set = [](auto& field, auto value, auto unset) { field = value == unset ? field : value; };
  set(model.source_vocab_size, options.vocab_size, 0);
  set(model.target_vocab_size, options.vocab_size, 0);
  set(model.d_model, options.d_model, 0);
  set(model.d_ff, options.d_ff, 0);
  set(model.n_heads, options.n_heads, 0);
  set(model.encoder_layers, options.encoder_layers, -1);
  set(model.decoder_layers, options.decoder_layers, -1);
  return model;
}

training::ThroughputOptions training_of(const BenchmarkOptions& options, int default_workers) {
  training::ThroughputOptions training = options.training;
  training.model = model_of(options);
  training.recompute = training::recompute_from(options.recompute);
  training.workers.workers = options.workers == 0 ? default_workers : options.workers;
  training.workers.precision = ops::precision_from(options.precision).value_or(ops::fastest_precision());
  training.check();
  return training;
}

nlohmann::json machine_json(const training::WorkerOptions& options) {
  return {{"dragoman", DRAGOMAN_VERSION},
          {"processor", base::cpu_model_name()},
          {"cores", base::cpu_count()},
          {"isa", base::isa_name(base::active_isa())},
          {"machine_isa", base::isa_name(base::machine_isa())},
          {"compiler", __VERSION__},
          {"build", build_type()},
          {"workers", options.workers},
          {"precision", ops::name_of(options.precision)}};
}

void print_machine(const training::WorkerOptions& options) {
  fmt::print("machine      {}, {} cores, instruction set {} (machine: {})\n", base::cpu_model_name(), base::cpu_count(),
             base::isa_name(base::active_isa()), base::isa_name(base::machine_isa()));
  fmt::print("program      dragoman {}, compiler {}, {} build, {} workers, {} products\n", DRAGOMAN_VERSION,
             __VERSION__, build_type(), options.workers, ops::name_of(options.precision));
}

// Largest memory of this process so far, in MiB.
uint64_t peak_mib() {
  return base::peak_resident_memory() >> 20;
}

void print_training_json(const training::ThroughputOptions& options, int processes,
                         const training::Throughput& measured) {
  nlohmann::json row = machine_json(options.workers);
  row["parameters"] = measured.parameters;
  row["target_tokens"] = measured.target_tokens;
  row["step_seconds"] = measured.step_seconds;
  row["tokens_per_second"] = measured.tokens_per_second();
  row["gflops_per_second"] = measured.gflops_per_second();
  row["peak_mib"] = peak_mib();
  row["gradient_mib"] = static_cast<double>(measured.gradient_bytes) / kMiB;
  row["activation_mib"] = static_cast<double>(measured.activation_bytes) / kMiB;
  row["recompute"] = training::name_of(options.recompute);
  row["gemm_gflops_per_second"] = measured.gemm_gflops_per_second;
  row["seconds"] = {{"data", measured.times.data},
                    {"packing", measured.times.packing},
                    {"forward", measured.times.forward},
                    {"backward", measured.times.backward},
                    {"gradients", measured.times.gradients},
                    {"optimizer", measured.times.optimizer},
                    {"between_processes", measured.times.between_processes}};
  row["processes"] = processes;
  row["sent_bytes"] = measured.sent_bytes;
  fmt::print("{}\n", base::dump_json(row));
}

void print_training(const training::ThroughputOptions& options, int processes, const training::Throughput& measured) {
  const auto& [sentences, source_length, target_length] =
      std::tie(options.sentences, options.source_length, options.target_length);
  const auto [fastest, slowest] = std::minmax_element(measured.step_seconds.begin(), measured.step_seconds.end());
  const auto& times = measured.times;
  const auto percent = [&](double part) { return 100 * part / std::max(times.total(), 1e-12); };
  print_machine(options.workers);
  fmt::print("model        {}+{} layers, d_model {}, d_ff {}, {} heads, vocabulary {}, {:.1f} M parameters\n",
             options.model.encoder_layers, options.model.decoder_layers, options.model.d_model, options.model.d_ff,
             options.model.n_heads, options.model.target_vocab_size, static_cast<double>(measured.parameters) * 1e-6);
  fmt::print("update       {} sentences, {} source + {} target tokens each; {} warm-up, {} measured\n", sentences,
             source_length, target_length, options.warmup, options.steps);
  fmt::print("step         median {:.1f} ms (fastest {:.1f}, slowest {:.1f})\n", measured.median_seconds() * 1e3,
             *fastest * 1e3, *slowest * 1e3);
  fmt::print(
      "speed        {:.0f} target tokens/s, {:.1f} GFLOP/s of matrix work, {:.0f}% of the fastest product alone\n",
      measured.tokens_per_second(), measured.gflops_per_second(),
      100 * measured.gflops_per_second() / measured.gemm_gflops_per_second);
  fmt::print(
      "time         {:.0f}% data, {:.0f}% packing weights, {:.0f}% forward, {:.0f}% backward, {:.0f}% gradient sums "
      "and waiting, {:.0f}% optimizer\n",
      percent(times.data), percent(times.packing), percent(times.forward), percent(times.backward),
      percent(times.gradients), percent(times.optimizer));
  if (processes > 1) {
    fmt::print(
        "processes    {}; each sends {:.1f} MB an update; sums between them under way for {:.1f} ms, waited for "
        "at most {:.1f} ms\n",
        processes, static_cast<double>(measured.sent_bytes) * 1e-6, times.between_processes * 1e3,
        times.gradients * 1e3);
  }
  const double activations = static_cast<double>(measured.activation_bytes) / kMiB;
  fmt::print(
      "memory       {} MiB at most; {:.0f} MiB of it gradients, {:.0f} MiB activations ({:.0f} MiB per 1,000 target "
      "tokens; recompute {})\n",
      peak_mib(), static_cast<double>(measured.gradient_bytes) / kMiB, activations,
      activations * 1e3 / static_cast<double>(measured.target_tokens), training::name_of(options.recompute));
}

// Started by mpirun, the processes train together and the leading one speaks.
int benchmark_training(const BenchmarkOptions& options) {
  const auto processes = distributed::join_processes({});
  const training::ThroughputOptions training = training_of(options, processes->default_workers());
  const training::Throughput measured = training::measure_training(training, *processes);
  if (processes->leads()) {
    (options.json ? print_training_json : print_training)(training, processes->size(), measured);
  }
  return 0;
}

int benchmark_products(const BenchmarkOptions& options) {
  const training::ThroughputOptions training = training_of(options, base::cpu_count());
  const int64_t tokens = std::max<int64_t>(training.sentences * training.target_length / training.workers.workers, 1);
  const auto speeds = training::measure_products(training.model, tokens, training.workers);
  if (options.json) {
    nlohmann::json report = machine_json(training.workers);
    for (const training::ProductSpeed& speed : speeds) {
      report["products"].push_back({{"use", speed.use},
                                    {"pass", speed.pass},
                                    {"rows", speed.rows},
                                    {"depth", speed.depth},
                                    {"columns", speed.columns},
                                    {"gflops_per_second", speed.gflops_per_second}});
    }
    fmt::print("{}\n", base::dump_json(report));
    return 0;
  }
  print_machine(training.workers);
  fmt::print("{:<22}{:<9}{:>6} x {:>6} x {:>6}{:>12}\n", "product", "pass", "rows", "depth", "columns", "GFLOP/s");
  for (const training::ProductSpeed& speed : speeds) {
    fmt::print("{:<22}{:<9}{:>6} x {:>6} x {:>7}{:>11.1f}\n", speed.use, speed.pass, speed.rows, speed.depth,
               speed.columns, speed.gflops_per_second);
  }
  return 0;
}

int run_benchmark(const BenchmarkOptions& options) {
  check_release_build();
  base::check_usage(options.train != options.gemm, "benchmark: give one of --train and --gemm");
  return options.train ? benchmark_training(options) : benchmark_products(options);
}

void add_shape_flags(CLI::App& command, BenchmarkOptions& options) {
  command.add_option("--shape", options.shape, "base, d256 or tiny; the next six change single sizes of it");
  command.add_option("--vocab-size", options.vocab_size, "0 = as the shape");
  command.add_option("--d-model", options.d_model, "0 = as the shape");
  command.add_option("--d-ff", options.d_ff, "0 = as the shape");
  command.add_option("--n-heads", options.n_heads, "0 = as the shape");
  command.add_option("--encoder-layers", options.encoder_layers, "-1 = as the shape");
  command.add_option("--decoder-layers", options.decoder_layers, "-1 = as the shape");
}

}  // namespace

void add_benchmark_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<BenchmarkOptions>();
  options->training.adam.clip_norm = 1.0;
  CLI::App* command = add_command(app, "benchmark", "Measure the speed of training or of its matrix products");
  command->add_flag("--train", options->train, "train on random sentences: target tokens a second");
  command->add_flag("--gemm", options->gemm, "time the matrix products of the model alone");
  add_shape_flags(*command, *options);
  training::ThroughputOptions& training = options->training;
  command->add_option("--sentences", training.sentences,
                      "sentence pairs of one update, over all workers and processes");
  command->add_option("--source-length", training.source_length, "tokens of each source sentence");
  command->add_option("--target-length", training.target_length, "tokens of each target sentence");
  command->add_option("--steps", training.steps, "updates measured");
  command->add_option("--warmup", training.warmup, "updates before the measured ones");
  command->add_option("--workers", options->workers, "threads of a process, one replica each; 0 = one a core");
  command
      ->add_option("--precision", options->precision,
                   "of the operands of matrix products; auto = the fastest of this machine")
      ->check(CLI::IsMember({"auto", "float32", "bfloat16"}));
  command->add_option("--recompute", options->recompute, "what the backward computes again to save memory")
      ->check(CLI::IsMember({"none", "layers"}));
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([&run, options] { run = [options] { return run_benchmark(*options); }; });
}

}  // namespace dragoman::cli
