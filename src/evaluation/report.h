#pragma once

#include <optional>
#include <string>
#include <vector>

#include "evaluation/metric.h"
#include "evaluation/significance.h"

namespace dragoman::evaluation {

/// The score of one text or one sentence by one metric.
struct MetricScore {
  std::string name;
  double score = 0.0;                ///< 0 to 100
  std::optional<Interval> interval;  ///< set if requested
  std::string details;               ///< printed after the score; empty for chrF
  Signature signature;
};

/// The score by one metric of a system that is compared with a baseline.
struct ComparedScore {
  double score = 0.0;
  Interval interval;
  std::optional<double> p_value;  ///< unset for the baseline
};

struct ComparedSystem {
  std::string name;
  std::vector<ComparedScore> scores;  ///< in the order of Report::scores
};

/// The result of `evaluate`.
struct Report {
  int width = 2;                        ///< digits after the point
  bool sentence_level = false;          ///< `scores` holds one entry for each line
  std::vector<MetricScore> scores;      ///< of the first system, one entry for each metric or line
  std::vector<ComparedSystem> systems;  ///< baseline and other systems; empty without a comparison
  Resampling resampling;                ///< used for the intervals and the comparison
  std::vector<std::string> warnings;    ///< messages for the user; not part of the scores
};

/// Returns the line that sacreBLEU prints, with the signature:
///   BLEU|nrefs:1|...|version:2.6.0 = 39.16 70.1/45.5/32.0/23.0 (BP = 1.000 ratio = 1.002 hyp_len = ... ref_len = ...)
std::string score_line(const MetricScore& score, int width);

/// Returns the report as text that ends with LF: the lines of sacreBLEU aligned at "=", one line for each sentence, or
/// a table of the compared systems. The table has p-values, of which * marks p <= 0.05, and signatures. The text has no
/// warnings.
std::string render_text(const Report& report);

/// Returns the report as JSON that ends with LF, with the keys of sacreBLEU. One object, or an array for several
/// metrics, has name, score, signature, confidence values and the entries of the signature. At sentence level each line
/// is one object. Compared systems are an array of {system, BLEU: {score, p_value, mean, ci}, ...}.
std::string render_json(const Report& report);

}  // namespace dragoman::evaluation
