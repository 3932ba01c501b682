#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/cpu.h"
#include "base/error.h"
#include "base/json.h"
#include "benchmark/language_model_speed.h"
#include "benchmark/product_speed.h"
#include "benchmark/throughput.h"
#include "benchmark/translation_speed.h"
#include "cli/benchmark_language_model.h"
#include "cli/benchmark_options.h"
#include "cli/command.h"
#include "cli/device_flag.h"
#include "cli/field_flags.h"
#include "cli/version.h"
#include "distributed/join_processes.h"
#include "kernels/product_kernel.h"

namespace dragoman::cli {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;

void check_release_build() {
  base::check_usage(std::string_view(build_type()) == "release",
                    "benchmark: this is a {} build, its speed means nothing; configure with -DCMAKE_BUILD_TYPE=Release",
                    build_type());
}

models::TransformerConfig model_of(const BenchmarkOptions& options) {
  models::TransformerConfig model = benchmark::benchmark_shape(options.shape);
  const auto set = [](auto& field, auto value, auto unset) { field = value == unset ? field : value; };
  set(model.source_vocab_size, options.vocab_size, 0);
  set(model.target_vocab_size, options.vocab_size, 0);
  set(model.d_model, options.d_model, 0);
  set(model.d_ff, options.d_ff, 0);
  set(model.n_heads, options.n_heads, 0);
  set(model.encoder_layers, options.encoder_layers, -1);
  set(model.decoder_layers, options.decoder_layers, -1);
  model.decoder_sublayer = options.decoder_sublayer;
  return model;
}

benchmark::ThroughputOptions training_of(const BenchmarkOptions& options, int default_workers) {
  benchmark::ThroughputOptions training = options.training;
  training.model = model_of(options);
  training.sentences = options.sentences == 0 ? training.sentences : options.sentences;
  training.warmup = options.warmup < 0 ? training.warmup : options.warmup;
  training.workers.workers = options.workers == 0 ? default_workers : options.workers;
  base::check_usage(options.precision != kernels::Precision::kInt8,
                    "benchmark: int8 is for --translate; training takes float32 or bfloat16");
  training.workers.precision = options.precision.value_or(kernels::fastest_precision());
  training.check();
  return training;
}

// Lengths and runs are said by the same flags as those of training.
benchmark::TranslationSpeedOptions translation_of(const BenchmarkOptions& options) {
  benchmark::TranslationSpeedOptions translation = options.translation;
  translation.model = model_of(options);
  translation.precision = decoding_precision(options);
  translation.search.execution.workers = decoding_workers(options);
  translation.sentences = options.sentences == 0 ? translation.sentences : options.sentences;
  translation.warmup = options.warmup < 0 ? translation.warmup : options.warmup;
  translation.source_length = options.training.source_length;
  translation.target_length = options.training.target_length;
  translation.runs = options.training.steps;
  translation.check();
  return translation;
}

void print_model(const models::TransformerConfig& model, int64_t parameters) {
  fmt::print(
      "model        {}+{} layers, d_model {}, d_ff {}, {} heads, decoder of {}, vocabulary {}, {:.1f} M parameters\n",
      model.encoder_layers, model.decoder_layers, model.d_model, model.d_ff, model.n_heads,
      base::name_of(model.decoder_sublayer), model.target_vocab_size, static_cast<double>(parameters) * 1e-6);
}

void print_training_json(const benchmark::ThroughputOptions& options, int processes,
                         const benchmark::Throughput& measured) {
  nlohmann::json row = throughput_json(options.workers, measured);
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

void print_training(const benchmark::ThroughputOptions& options, int processes, const benchmark::Throughput& measured) {
  const auto& [sentences, source_length, target_length] =
      std::tie(options.sentences, options.source_length, options.target_length);
  const auto [fastest, slowest] = std::minmax_element(measured.step_seconds.begin(), measured.step_seconds.end());
  const auto& times = measured.times;
  const auto percent = [&](double part) { return 100 * part / std::max(times.total(), 1e-12); };
  print_machine(options.workers.workers, options.workers.precision);
  print_model(options.model, measured.parameters);
  fmt::print("update       {} sentences, {} source + {} target tokens each; {} warm-up, {} measured\n", sentences,
             source_length, target_length, options.warmup, options.steps);
  fmt::print("step         median {:.1f} ms (fastest {:.1f}, slowest {:.1f})\n", measured.median_seconds() * 1e3,
             *fastest * 1e3, *slowest * 1e3);
  fmt::print("speed        {:.0f} target tokens/s, {:.1f} GFLOP/s of matrix work", measured.tokens_per_second(),
             measured.gflops_per_second());
  if (measured.gemm_gflops_per_second > 0) {
    fmt::print(", {:.0f}% of the fastest product alone",
               100 * measured.gflops_per_second() / measured.gemm_gflops_per_second);
  }
  fmt::print("\n");
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
  const bool on_gpu = is_gpu(options.device);
  benchmark::ThroughputOptions training = training_of(options, on_gpu ? 1 : processes->default_workers());
  if (on_gpu) {
    training.workers.precision = options.precision.value_or(kernels::Precision::kBFloat16);
  }
  const DeviceChoice device(options.device);
  const benchmark::Throughput measured = benchmark::measure_training(training, *processes);
  if (processes->leads()) {
    (options.json ? print_training_json : print_training)(training, processes->size(), measured);
  }
  return 0;
}

int benchmark_products(const BenchmarkOptions& options) {
  const benchmark::ThroughputOptions training = training_of(options, base::cpu_count());
  const int64_t tokens = std::max<int64_t>(training.sentences * training.target_length / training.workers.workers, 1);
  const auto speeds = benchmark::measure_products(training.model, tokens, training.workers);
  if (options.json) {
    nlohmann::json report = machine_json(training.workers.workers, training.workers.precision);
    for (const benchmark::ProductSpeed& speed : speeds) {
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
  print_machine(training.workers.workers, training.workers.precision);
  fmt::print("{:<22}{:<9}{:>6} x {:>6} x {:>6}{:>12}\n", "product", "pass", "rows", "depth", "columns", "GFLOP/s");
  for (const benchmark::ProductSpeed& speed : speeds) {
    fmt::print("{:<22}{:<9}{:>6} x {:>6} x {:>7}{:>11.1f}\n", speed.use, speed.pass, speed.rows, speed.depth,
               speed.columns, speed.gflops_per_second);
  }
  return 0;
}

void print_translation_json(const benchmark::TranslationSpeedOptions& options,
                            const benchmark::TranslationSpeed& measured) {
  nlohmann::json row = machine_json(options.search.execution.workers, options.precision);
  row["parameters"] = measured.parameters;
  row["beam_size"] = options.search.beam_size;
  row["batch_tokens"] = options.search.execution.batch_tokens;
  row["target_tokens"] = measured.target_tokens;
  row["run_seconds"] = measured.run_seconds;
  row["tokens_per_second"] = measured.tokens_per_second();
  row["gflops_per_second"] = measured.gflops_per_second();
  row["product_gflops_per_second"] = measured.product_gflops_per_second;
  row["peak_mib"] = peak_mib();
  row["step_rows"] = measured.step_rows;
  for (const benchmark::StepCost& cost : measured.step_costs) {
    row["steps"].push_back({{"position", cost.position}, {"seconds", cost.seconds}});
  }
  fmt::print("{}\n", base::dump_json(row));
}

void print_translation(const benchmark::TranslationSpeedOptions& options, const benchmark::TranslationSpeed& measured) {
  const auto [fastest, slowest] = std::minmax_element(measured.run_seconds.begin(), measured.run_seconds.end());
  print_machine(options.search.execution.workers, options.precision);
  print_model(options.model, measured.parameters);
  fmt::print(
      "run          {} sentences, {} source + {} target tokens each, beam {}, {} tokens in work; {} warm-up, {} "
      "measured\n",
      options.sentences, options.source_length, options.target_length, options.search.beam_size,
      options.search.execution.batch_tokens, options.warmup, options.runs);
  fmt::print("time         median {:.2f} s (fastest {:.2f}, slowest {:.2f})\n", measured.median_seconds(), *fastest,
             *slowest);
  fmt::print("speed        {:.0f} target tokens/s, {:.1f} GFLOP/s of matrix work", measured.tokens_per_second(),
             measured.gflops_per_second());
  if (measured.product_gflops_per_second > 0) {
    fmt::print(", {:.0f}% of the fastest product alone ({:.0f} GFLOP/s)",
               100 * measured.gflops_per_second() / measured.product_gflops_per_second,
               measured.product_gflops_per_second);
  }
  fmt::print("\n");
  fmt::print("memory       {} MiB at most\n", peak_mib());
  fmt::print("step         of {} rows, one worker; positions up to: ms\n            ", measured.step_rows);
  for (const benchmark::StepCost& cost : measured.step_costs) {
    fmt::print(" {}: {:.{}f}", cost.position, cost.seconds * 1e3, cost.seconds < 1e-3 ? 3 : 2);
  }
  fmt::print("\n");
}

int benchmark_translation(const BenchmarkOptions& options) {
  const benchmark::TranslationSpeedOptions translation = translation_of(options);
  const DeviceChoice device(options.device);
  const benchmark::TranslationSpeed measured = benchmark::measure_translation(translation);
  (options.json ? print_translation_json : print_translation)(translation, measured);
  return 0;
}

int run_benchmark(const BenchmarkOptions& options) {
  check_release_build();
  base::check_usage(!options.gemm || !is_gpu(options.device),
                    "benchmark: --device {} is not for --gemm, which measures the CPU", options.device);
  base::check_usage(options.train + options.gemm + options.translate + options.generate == 1,
                    "benchmark: give one of --train, --translate, --generate and --gemm");
  if (options.generate) {
    return benchmark_generation(options);
  }
  if (options.train && benchmark::language_model_shape(options.shape)) {
    return benchmark_language_model(options);
  }
  if (options.translate) {
    return benchmark_translation(options);
  }
  return options.train ? benchmark_training(options) : benchmark_products(options);
}

void add_shape_flags(CLI::App& command, BenchmarkOptions& options) {
  begin_group(command, models::TransformerConfig::kTitle);
  command.add_option("--shape", options.shape,
                     "base, d256 or tiny, of which the next six change single sizes; gpt-mini, gpt-char or gpt2-small");
  command.add_option("--vocab-size", options.vocab_size, "0 = as the shape");
  command.add_option("--d-model", options.d_model, "0 = as the shape");
  command.add_option("--d-ff", options.d_ff, "0 = as the shape");
  command.add_option("--n-heads", options.n_heads, "0 = as the shape");
  command.add_option("--encoder-layers", options.encoder_layers, "-1 = as the shape");
  command.add_option("--decoder-layers", options.decoder_layers, "-1 = as the shape");
  add_choice(command, "--decoder-sublayer", options.decoder_sublayer,
             "how a row of the decoder sees the rows before it");
}

}  // namespace

void add_benchmark_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<BenchmarkOptions>();
  options->training.adam.clip_norm = 1.0;
  CLI::App* command = add_command(
      app, "benchmark", "Measure the speed of training, of translating, or of matrix products",
      "dragoman benchmark --train --shape base\ndragoman benchmark --translate --shape base --precision int8");
  begin_group(*command, base::kMostUsed);
  command->add_flag("--train", options->train, "train on random sentences: target tokens a second");
  command->add_flag("--translate", options->translate,
                    "translate random sentences with random weights: target tokens a second, and what a step costs as "
                    "the output grows");
  command->add_flag("--generate", options->generate,
                    "continue random prompts with a language model of random weights: new tokens a second");
  command->add_flag("--gemm", options->gemm, "time the matrix products of the model's training alone");
  command->add_flag("--json", options->json, "print one JSON object");
  add_shape_flags(*command, *options);
  begin_group(*command, "What is measured");
  benchmark::ThroughputOptions& training = options->training;
  command->add_option(
      "--sentences", options->sentences,
      "sentence pairs of one update, over all workers and processes (0 = 32), sentences of one run of --translate (0 = "
      "256), windows of an update of a language model (0 = 4), or prompts of --generate (0 = 1)");
  command->add_option("--source-length", training.source_length, "tokens of each source sentence or prompt");
  command->add_option("--target-length", training.target_length,
                      "tokens of each target sentence or window, new tokens of --generate");
  command->add_option("--steps", training.steps, "updates or runs measured");
  command->add_option("--warmup", options->warmup, "updates (-1 = 2) or runs (-1 = 1) before the measured ones");
  command->add_option("--workers", options->workers, "threads of a process, one replica each; 0 = one a core");
  add_choice(*command, "--precision", options->precision,
             "of the operands of matrix products; auto = the fastest of this machine, int8 to translate");
  add_choice(*command, "--recompute", training.recompute, "what the backward computes again to save memory");
  add_device_flag(*command, options->device);
  command->add_option("--beam-size", options->translation.search.beam_size, "of --translate; 1 = greedy");
  command->add_option("--batch-tokens", options->translation.search.execution.batch_tokens,
                      "of --translate: source tokens in work at a time in one worker");
  command->callback([&run, options] { run = [options] { return run_benchmark(*options); }; });
}

}  // namespace dragoman::cli
