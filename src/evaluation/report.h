#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evaluation/metric.h"
#include "evaluation/significance.h"

namespace dragoman::evaluation {

/// One metric's score of one text or one sentence.
struct MetricScore {
  std::string name;
  double score = 0.0;                ///< 0 to 100
  std::optional<Interval> interval;  ///< where asked for
  std::string details;               ///< printed after the score; empty for chrF
  Signature signature;
};

/// One metric's score of one system that was compared with a baseline.
struct ComparedScore {
  double score = 0.0;
  Interval interval;
  std::optional<double> p_value;  ///< unset for the baseline itself
};

struct ComparedSystem {
  std::string name;
  std::vector<ComparedScore> scores;  ///< in the order of Report::scores
};

/// What `evaluate` found.
struct Report {
  int width = 2;                        ///< digits after the point
  bool sentence_level = false;          ///< `scores` holds one entry a line
  std::vector<MetricScore> scores;      ///< the first system's: one entry a metric, or one a line
  std::vector<ComparedSystem> systems;  ///< baseline and the others; empty unless systems were compared
  Resampling resampling;                ///< of the intervals and the comparison
  std::vector<std::string> warnings;    ///< for the person; not part of the scores
};

/// The line that sacreBLEU prints, signature included:
///   BLEU|nrefs:1|...|version:2.6.0 = 39.16 70.1/45.5/32.0/23.0 (BP = 1.000 ratio = 1.002 hyp_len = ... ref_len = ...)
std::string score_line(const MetricScore& score, int width);

/// The report for reading: sacreBLEU's lines aligned at "=", one line a sentence, or a table of compared systems with
/// their p-values (* marks p <= 0.05) and signatures. Ends with LF. Warnings are not included.
std::string render_text(const Report& report);

/// The report for programs, with sacreBLEU's keys: one object (or an array, for several metrics) with name, score,
/// signature, confidence values and the signature's entries; one object a line at sentence level; for compared
/// systems an array of {system, BLEU: {score, p_value, mean, ci}, ...}. Ends with LF.
std::string render_json(const Report& report);

}  // namespace dragoman::evaluation
