#pragma once

#include "cli/benchmark_options.h"

namespace dragoman::cli {

/// `dragoman benchmark --train` with the shape of a language model: updates on windows of random tokens. Prints what it
/// measured. Returns: the status of the program.
/// Throws Error(kUsage) for a shape that is none of a language model: "shape: 'base' is no language model; choose ...".
int benchmark_language_model(const BenchmarkOptions& options);

/// `dragoman benchmark --generate`: greedy continuations of random prompts. As above.
int benchmark_generation(const BenchmarkOptions& options);

}  // namespace dragoman::cli
