#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evaluation/bleu.h"
#include "evaluation/chrf.h"
#include "evaluation/read_text.h"
#include "evaluation/report.h"
#include "evaluation/ter.h"

namespace dragoman::evaluation {

/// The metrics. Their names on the command line are "bleu", "chrf", "chrf++" and "ter" of translations, "accuracy",
/// "f1", "macro-f1" and "mcc" of labels, "tag-accuracy" and "span-f1" of tags, "recall-at-1" and "mrr" of vectors,
/// "spearman" of numbers.
enum class MetricKind {
  kBleu,
  kChrf,          ///< characters 1 to 6
  kChrfPlusPlus,  ///< characters 1 to 6 and words 1 to 2
  kTer,
  kAccuracy,
  kF1,  ///< of EvaluateOptions::positive_label
  kMacroF1,
  kMcc,
  kTagAccuracy,
  kSpanF1,  ///< as conlleval
  kRecallAt1,
  kMrr,
  kSpearman,
};

/// What the lines of a text are to a metric.
enum class LineKind { kTranslations, kLabels, kTags, kVectors, kNumbers };
LineKind line_kind(MetricKind kind);

/// Returns the name on the command line. "bleu"
std::string_view metric_name(MetricKind kind);

/// Returns the metrics of a comma-separated list, each at most once. Throws: Error(kUsage),
/// "metrics: 'wer' is not known; choose from bleu, chrf, chrf++, ter, ...".
std::vector<MetricKind> parse_metrics(std::string_view list);

/// Is told how many units, "lines" or "resamples", of the work for a metric are done.
using Progress = std::function<void(std::string_view metric, std::string_view unit, int64_t done, int64_t total)>;

/// The options of `dragoman evaluate`.
struct EvaluateOptions {
  std::vector<MetricKind> metrics = {MetricKind::kBleu, MetricKind::kChrf};
  bool lowercase = false;                         ///< for all metrics; TER ignores case unless told otherwise
  Tokenizer tokenize = Tokenizer::k13a;           ///< BLEU only
  Smoothing smoothing = Smoothing::kExponential;  ///< BLEU only
  std::optional<double> smooth_value;             ///< BLEU with floor or add-k; unset = the default of the method
  TerOptions ter;
  std::string positive_label = "1";  ///< of f1
  bool sentence_level = false;       ///< one score for each line; BLEU then uses the effective order
  bool confidence = false;           ///< 95 % interval by bootstrap; one system only
  int resamples = 1000;              ///< samples of the bootstrap, at least 2
  uint64_t seed = 12345;             ///< seed of the bootstrap; the default is that of sacreBLEU
  int width = 2;      ///< printed digits after the point, 0 to 15 (sacreBLEU: 1 on its command line, 2 in Python)
  Progress progress;  ///< may be unset
};

/// Scores translations, labels, tags, vectors or numbers against references. Of labels the first column of a line
/// counts, of tags what tags_of_text reads, of numbers the last column; all but translations have one reference.
/// @param systems     one system, or a baseline and the systems that are compared with it by paired bootstrap
/// @param references  at least one
/// Throws: Error(kBadData) for texts without lines or with unequal line counts, "evaluate: out.de has 999 lines,
/// test.de has 1000; ..."; Error(kUsage) for options that exclude each other or are out of range.
Report evaluate(const std::vector<Text>& systems, const std::vector<Text>& references,
                const EvaluateOptions& options = {});

/// Returns the part of each line that a metric compares: the first column of labels, tags as tags_of_text reads them,
/// ranks of vectors and numbers, all of a translation.
/// @param other  the vectors that are to be found, or the tags that these are compared with; unused by other kinds
std::vector<std::string> relevant_lines(const Text& text, LineKind kind, const Text& other);

/// Returns a metric. @param texts  relevant lines of everything that will be counted; their labels are the known ones
std::unique_ptr<Metric> make_metric(MetricKind kind, const EvaluateOptions& options, std::span<const Lines> texts);

/// A score of a whole text. The signature contains the options of the metric.
struct CorpusScore {
  double score = 0.0;     ///< 0 to 100
  std::string details;    ///< BLEU's precisions and lengths; empty for chrF and TER
  std::string signature;  ///< "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
};
/// Return BLEU, chrF and TER of a text.
CorpusScore corpus_bleu(Lines hypothesis, const std::vector<Lines>& references, const BleuOptions& options = {});
CorpusScore corpus_chrf(Lines hypothesis, const std::vector<Lines>& references, const ChrfOptions& options = {});
CorpusScore corpus_ter(Lines hypothesis, const std::vector<Lines>& references, const TerOptions& options = {});

}  // namespace dragoman::evaluation
