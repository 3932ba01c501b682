#pragma once

#include <cstdint>

#include "base/fields.h"
#include "evaluation/tokenizer.h"
#include "nn/context.h"
#include "training/run_clock.h"

namespace dragoman::training {

/// What "better" means for a validation.
enum class ValidationMetric { kBleu, kChrf, kLoss, kAccuracy, kMrr };

constexpr base::Names<ValidationMetric> names_of(ValidationMetric) {
  return {"metric",
          {{ValidationMetric::kBleu, "bleu"},
           {ValidationMetric::kChrf, "chrf"},
           {ValidationMetric::kLoss, "loss"},
           {ValidationMetric::kAccuracy, "accuracy"},
           {ValidationMetric::kMrr, "mrr"}}};
}

/// When the run looks at itself, saves and stops. Steps are updates.
struct RunOptions {
  int64_t max_steps = 100'000;
  int64_t max_epochs = 0;
  double max_minutes = 0.0;
  double total_minutes = 0.0;
  TimeSource clock = TimeSource::kWall;
  int64_t validate_every = 500;
  int64_t validation_beam = 1;
  ValidationMetric metric = ValidationMetric::kBleu;
  evaluation::Tokenizer tokenize = evaluation::Tokenizer::k13a;
  int64_t patience = 10;
  int64_t keep_last = 5;
  int64_t keep_best = 3;
  int64_t average = 5;  ///< the average is kept if it validates better
  bool average_best = false;
  double ema_decay = 0.0;  ///< the averaged weights are validated and saved as the model
  int64_t log_every = 50;  ///< also of rows of metrics.jsonl
  uint64_t memory = 0;     ///< bytes this process may take; 0 = a fair share of what is free (memory_budget)
  nn::Recompute recompute = nn::Recompute::kNone;
  int workers = 0;
  int64_t check_ranks_every = 100;
  double rank_timeout = 20.0;
  uint64_t seed = 1;

  /// Titles in --help.
  static constexpr const char* kTitle = "Run";
  static constexpr const char* kEnd = "When the run ends";
  static constexpr const char* kValidation = "Validation";
  static constexpr const char* kCheckpoints = "Checkpoints and averages";
  static constexpr const char* kSpeed = "Speed and memory";
  static constexpr const char* kProcesses = "Several processes";
  template <typename Visit>
  static void fields(Visit&& visit);
};

template <typename Visit>
void RunOptions::fields(Visit&& visit) {
  using base::Field;
  using O = RunOptions;
  constexpr base::Range kCount = {1, 1e9};
  constexpr base::Range kCountOrNone = {0, 1e9};
  visit(Field("max_steps", &O::max_steps, "Updates", kCount).course().in(base::kMostUsed));
  visit(Field("max_epochs", &O::max_epochs, "Passes over the text; 0 = no limit", kCountOrNone).course().in(O::kEnd));
  visit(Field("max_minutes", &O::max_minutes, "Minutes of wall time of this process; 0 = no limit", kCountOrNone)
            .course()
            .in(O::kEnd));
  visit(Field("total_minutes", &O::total_minutes,
              "Minutes of training, all parts of the run together, after which it is finished; 0 = no limit",
              kCountOrNone)
            .course()
            .in(base::kMostUsed));
  visit(
      Field("clock", &O::clock,
            "What total minutes, tokens a second and the report count: the time that passes, or processor time divided "
            "by the workers, which compares runs on a machine with other work")
          .course()
          .in(O::kEnd));
  visit(Field("validate_every", &O::validate_every, "Updates between validations, each with a checkpoint", kCount)
            .course()
            .in(O::kValidation));
  visit(Field("validation_beam", &O::validation_beam, "Beam size of validation translations", {1, 64})
            .course()
            .in(O::kValidation));
  visit(Field("metric", &O::metric, "What chooses the best model").course().in(O::kValidation));
  visit(Field("tokenize", &O::tokenize, "How validation BLEU cuts words; zh for Chinese").course().in(O::kValidation));
  visit(Field("patience", &O::patience, "Validations without improvement before the end; 0 = never", kCountOrNone)
            .course()
            .in(O::kEnd));
  visit(
      Field("keep_last", &O::keep_last, "Newest checkpoints kept", {1, 1000}).course().of_leader().in(O::kCheckpoints));
  visit(Field("keep_best", &O::keep_best, "Best checkpoints kept", {0, 1000}).course().of_leader().in(O::kCheckpoints));
  visit(Field("average", &O::average, "Checkpoints averaged at the end; 0 = none", {0, 1000})
            .course()
            .in(O::kCheckpoints));
  visit(Field("average_best", &O::average_best, "Average the best checkpoints, not the last (true or false)")
            .course()
            .of_leader()
            .in(O::kCheckpoints));
  visit(Field("ema_decay", &O::ema_decay, "Moving average of the weights, e.g. 0.999; 0 = off", {0, 0.999999})
            .in(O::kCheckpoints));
  visit(Field("log_every", &O::log_every, "Updates between plain progress lines", kCount).course().of_leader());
  visit(Field("recompute", &O::recompute,
              "What the backward computes again to save memory: layers keep their input alone; the result is the same")
            .course()
            .of_each_process()
            .in(O::kSpeed));
  visit(Field("workers", &O::workers, "Replicas of this process, one thread each; 0 = one a core", {0, 1024})
            .course()
            .in(O::kSpeed));
  visit(Field("check_ranks_every", &O::check_ranks_every,
              "Updates between comparisons of the weights of all processes (mpirun)", kCount)
            .course()
            .in(O::kProcesses));
  visit(Field("rank_timeout", &O::rank_timeout, "A process (mpirun) that is not heard of for longer ends the run",
              {1, 3600}, "seconds")
            .course()
            .of_each_process()
            .in(O::kProcesses));
  visit(Field("seed", &O::seed, "Of everything random"));
}

}  // namespace dragoman::training
