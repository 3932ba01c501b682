#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "benchmark/throughput.h"
#include "benchmark/translation_speed.h"
#include "kernels/product_kernel.h"

namespace dragoman::cli {

/// What the flags of `dragoman benchmark` say.
struct BenchmarkOptions {
  bool train = false;
  bool gemm = false;
  bool translate = false;
  bool generate = false;
  bool json = false;
  std::string shape = "base";
  std::string device = "cpu";
  std::optional<kernels::Precision> precision;
  int64_t vocab_size = 0;  // this and the next five: 0 = as `shape` has it
  int64_t d_model = 0;
  int64_t d_ff = 0;
  int n_heads = 0;
  int encoder_layers = -1;
  int decoder_layers = -1;
  nn::DecoderSublayer decoder_sublayer = nn::DecoderSublayer::kSelfAttention;
  int workers = 0;
  int64_t sentences = 0;  // 0 = as the training or the translation has it
  int64_t warmup = -1;    // -1 likewise
  benchmark::ThroughputOptions training;
  benchmark::TranslationSpeedOptions translation;
};

/// Of decoding: as asked, or the fastest of the device. A GPU has no int8 yet.
kernels::Precision decoding_precision(const BenchmarkOptions& options);
/// Of decoding: as asked, or one a core. A GPU takes one.
int decoding_workers(const BenchmarkOptions& options);

/// Machine, program and precision: what every measurement begins with.
nlohmann::json machine_json(int workers, kernels::Precision precision);
void print_machine(int workers, kernels::Precision precision);
/// Largest memory of this process so far, in MiB.
uint64_t peak_mib();
/// What every measurement of a training says: machine, sizes, seconds of each update, speed and memory.
nlohmann::json throughput_json(const training::ProcessOptions& workers, const benchmark::Throughput& measured);

}  // namespace dragoman::cli
