#include "evaluation/evaluate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "evaluation/label_metrics.h"
#include "evaluation/significance.h"
#include "evaluation/vector_scores.h"

namespace dragoman::evaluation {
namespace {

constexpr std::array<std::pair<MetricKind, std::string_view>, 13> kMetricNames = {
    {{MetricKind::kBleu, "bleu"},
     {MetricKind::kChrf, "chrf"},
     {MetricKind::kChrfPlusPlus, "chrf++"},
     {MetricKind::kTer, "ter"},
     {MetricKind::kAccuracy, "accuracy"},
     {MetricKind::kF1, "f1"},
     {MetricKind::kMacroF1, "macro-f1"},
     {MetricKind::kMcc, "mcc"},
     {MetricKind::kTagAccuracy, "tag-accuracy"},
     {MetricKind::kSpanF1, "span-f1"},
     {MetricKind::kRecallAt1, "recall-at-1"},
     {MetricKind::kMrr, "mrr"},
     {MetricKind::kSpearman, "spearman"}}};
constexpr std::string_view kMetricChoice =
    "choose from bleu, chrf, chrf++, ter; of labels accuracy, f1, macro-f1, mcc; of tags tag-accuracy, span-f1; of "
    "vectors "
    "recall-at-1, mrr; of numbers spearman";

LabelScore label_score(MetricKind kind) {
  switch (kind) {
    case MetricKind::kF1:
      return LabelScore::kF1;
    case MetricKind::kMacroF1:
      return LabelScore::kMacroF1;
    case MetricKind::kMcc:
      return LabelScore::kMcc;
    default:
      return LabelScore::kAccuracy;
  }
}

}  // namespace

LineKind line_kind(MetricKind kind) {
  if (kind < MetricKind::kAccuracy) {
    return LineKind::kTranslations;
  }
  if (kind >= MetricKind::kRecallAt1) {
    return kind == MetricKind::kSpearman ? LineKind::kNumbers : LineKind::kVectors;
  }
  return kind < MetricKind::kTagAccuracy ? LineKind::kLabels : LineKind::kTags;
}

std::string_view metric_name(MetricKind kind) {
  return std::ranges::find(kMetricNames, kind, [](const auto& entry) { return entry.first; })->second;
}

std::vector<std::string> relevant_lines(const Text& text, LineKind kind, const Text& other) {
  switch (kind) {
    case LineKind::kLabels:
      return labels_of_lines(text.lines);
    case LineKind::kTags:
      return tags_of_text(text, other);
    case LineKind::kVectors:
      return ranks_of_lines(text.lines, other.lines, text.name, other.name);
    case LineKind::kNumbers:
      return number_ranks_of_lines(text.lines, text.name);
    default:
      return text.lines;
  }
}

std::unique_ptr<Metric> make_metric(MetricKind kind, const EvaluateOptions& options, std::span<const Lines> texts) {
  if (line_kind(kind) == LineKind::kTags) {
    return std::make_unique<TagMetric>(kind == MetricKind::kSpanF1);
  }
  if (line_kind(kind) == LineKind::kVectors) {
    return std::make_unique<RetrievalMetric>(kind == MetricKind::kMrr);
  }
  if (line_kind(kind) == LineKind::kNumbers) {
    return std::make_unique<SpearmanMetric>();
  }
  if (line_kind(kind) == LineKind::kLabels) {
    return std::make_unique<LabelMetric>(label_score(kind), texts, options.positive_label);
  }
  if (kind == MetricKind::kBleu) {
    return std::make_unique<Bleu>(BleuOptions{.tokenize = options.tokenize,
                                              .lowercase = options.lowercase,
                                              .smoothing = options.smoothing,
                                              .smooth_value = options.smooth_value,
                                              .effective_order = options.sentence_level});
  }
  if (kind == MetricKind::kTer) {
    return std::make_unique<Ter>(options.ter);
  }
  ChrfOptions chrf;
  chrf.lowercase = options.lowercase;
  chrf.word_order = kind == MetricKind::kChrfPlusPlus ? 2 : 0;
  return std::make_unique<Chrf>(chrf);
}

namespace {

std::vector<Text> relevant(const std::vector<Text>& texts, LineKind kind, const Text& other) {
  std::vector<Text> result = texts;
  for (Text& text : result) {
    text.lines = relevant_lines(text, kind, other);
  }
  return result;
}

// A byte order mark is a character for sacreBLEU, and no part of a label, a tag or a number.
std::vector<Text> without_byte_order_marks(std::vector<Text> texts) {
  for (Text& text : texts) {
    if (!text.lines.empty() && text.lines.front().starts_with(base::kByteOrderMark)) {
      text.lines.front().erase(0, base::kByteOrderMark.size());
    }
  }
  return texts;
}

MetricKind parse_metric(std::string_view name) {
  const auto* found = std::find_if(kMetricNames.begin(), kMetricNames.end(),
                                   [name](const auto& entry) { return entry.second == name; });
  base::check_usage(found != kMetricNames.end(), "metrics: '{}' is not known; {}", name, kMetricChoice);
  return found->first;
}

void check_options(const EvaluateOptions& options, size_t n_systems) {
  base::check_usage(!options.metrics.empty(), "metrics: none was given; {}", kMetricChoice);
  const LineKind kind = line_kind(options.metrics.front());
  for (const MetricKind metric : options.metrics) {
    base::check_usage(
        line_kind(metric) == kind,
        "metrics: metrics of translations, of labels, of tags, of vectors and of numbers read other texts; "
        "give one kind");
  }
  base::check_usage(!(options.lowercase && options.ter.case_sensitive),
                    "ter-case-sensitive: lowercase ignores case in all metrics; leave out one of the options");
  base::check_range("width", options.width, 0, 15);
  check_resamples(options.resamples);
  const bool statistics = options.confidence || n_systems > 1;
  base::check_usage(!(options.sentence_level && statistics),
                    "sentence-level: intervals and comparisons need whole texts; leave out one of the options");
  base::check_usage(!options.sentence_level || options.metrics.size() == 1,
                    "sentence-level: prints one score a line, but {} metrics were given; choose one",
                    options.metrics.size());
  base::check_usage(!(options.confidence && n_systems > 1),
                    "confidence: several systems are compared with intervals anyway; leave out this option");
}

void check_lines(const std::vector<Text>& systems, const std::vector<Text>& references) {
  base::check_data(!systems.empty() && !references.empty(),
                   "evaluate: {} systems and {} references were given; there must be at least one of each",
                   systems.size(), references.size());
  const Text& first = references.front();
  const auto check_one = [&first](const Text& text) {
    base::check_data(text.lines.size() == first.lines.size(),
                     "evaluate: {} has {} lines, {} has {}; they must correspond line by line", text.name,
                     text.lines.size(), first.name, first.lines.size());
  };
  std::for_each(systems.begin(), systems.end(), check_one);
  std::for_each(references.begin(), references.end(), check_one);
  base::check_data(!first.lines.empty(), "evaluate: {} has no lines; there is nothing to score", first.name);
}

// sacreBLEU's alarm: detokenised text does not end " ." in a hundred lines.
void warn_of_tokenized_text(const Text& system, std::vector<std::string>& warnings) {
  constexpr auto kTooMany = 100;
  const auto tokenized = std::count_if(system.lines.begin(), system.lines.end(),
                                       [](const std::string& line) { return line.ends_with(" ."); });
  if (tokenized >= kTooMany) {
    warnings.push_back(fmt::format("{}: {} lines end in a period that stands alone; BLEU expects detokenised text",
                                   system.name, tokenized));
  }
}

void warn_of_uncut_text(const Text& reference, const EvaluateOptions& options, std::vector<std::string>& warnings) {
  const bool needs_spaces = options.tokenize == Tokenizer::k13a || options.tokenize == Tokenizer::kIntl;
  const bool has_bleu = std::ranges::find(options.metrics, MetricKind::kBleu) != options.metrics.end();
  if (has_bleu && needs_spaces && is_mostly_chinese(reference.lines)) {
    warnings.push_back(
        fmt::format("{}: is Chinese; BLEU with the tokenizer {} takes sentences without spaces for words; "
                    "use --tokenize zh",
                    reference.name, tokenizer_name(options.tokenize)));
  }
}

std::vector<Lines> views(const std::vector<Text>& texts) {
  std::vector<Lines> lines;
  for (const Text& text : texts) {
    lines.emplace_back(text.lines);
  }
  return lines;
}

MetricScore score_counts(const Metric& metric, std::span<const double> counts, Signature signature) {
  return {.name = metric.name(),
          .score = metric.score(counts),
          .interval = std::nullopt,
          .details = metric.details(counts),
          .signature = std::move(signature)};
}

// Lines are counted in portions, between which progress is told.
CountTable count_lines(const Metric& metric, Lines hypothesis, const std::vector<Lines>& references,
                       const std::function<void(size_t)>& counted) {
  constexpr size_t kPortion = 250;
  CountTable table(0, 0);
  for (size_t begin = 0; begin < hypothesis.size(); begin += kPortion) {
    const size_t lines = std::min(kPortion, hypothesis.size() - begin);
    std::vector<Lines> portion;
    for (const Lines& reference : references) {
      portion.push_back(reference.subspan(begin, lines));
    }
    table.append(metric.count(hypothesis.subspan(begin, lines), portion));
    counted(begin + lines);
  }
  return table;
}

std::vector<CountTable> count_systems(const Metric& metric, const std::vector<Text>& systems,
                                      const std::vector<Lines>& references, const Progress& progress) {
  const size_t lines = references.front().size();
  std::vector<CountTable> tables;
  for (const Text& system : systems) {
    const auto counted = [&](size_t done) {
      if (progress) {
        progress(metric.name(), "lines", static_cast<int64_t>(tables.size() * lines + done),
                 static_cast<int64_t>(systems.size() * lines));
      }
    };
    tables.push_back(count_lines(metric, system.lines, references, counted));
  }
  return tables;
}

std::vector<std::vector<double>> resample(std::span<const Counted> candidates, const Resampling& resampling,
                                          const Progress& progress) {
  const std::string metric = candidates.front().metric->name();
  return resample_scores(candidates, resampling, [&](int done) {
    if (progress) {
      progress(metric, "resamples", done, resampling.resamples);
    }
  });
}

void score_text(const Metric& metric, const CountTable& counts, size_t n_references, const Progress& progress,
                Report& report) {
  const Resampling& resampling = report.resampling;
  MetricScore score = score_counts(metric, counts.sums(), metric.signature(n_references, resampling));
  if (resampling.resamples > 0) {
    const Counted candidate{.metric = &metric, .counts = &counts};
    score.interval = confidence_interval(metric, resample({&candidate, 1}, resampling, progress)[0]);
  }
  report.scores.push_back(std::move(score));
}

void score_sentences(const Metric& metric, const CountTable& counts, size_t n_references, Report& report) {
  const Signature signature = metric.signature(n_references, {});
  for (size_t i = 0; i < counts.rows(); ++i) {
    report.scores.push_back(score_counts(metric, counts.row(i), signature));
  }
}

// The first table is the baseline's.
void compare_systems(const Metric& metric, const std::vector<CountTable>& tables, size_t n_references,
                     const Progress& progress, Report& report) {
  std::vector<Counted> candidates;
  for (const CountTable& table : tables) {
    candidates.push_back({.metric = &metric, .counts = &table});
  }
  const std::vector<std::vector<double>> resampled = resample(candidates, report.resampling, progress);
  const double baseline = metric.score(tables[0].sums());
  for (size_t s = 0; s < tables.size(); ++s) {
    ComparedScore compared{.score = metric.score(tables[s].sums()),
                           .interval = paired_interval(metric, resampled[s]),
                           .p_value = std::nullopt};
    if (s > 0) {
      compared.p_value = paired_p_value(metric, resampled[0], resampled[s], std::abs(baseline - compared.score));
    }
    report.systems[s].scores.push_back(compared);
  }
  report.scores.push_back(score_counts(metric, tables[0].sums(), metric.signature(n_references, report.resampling)));
}

CorpusScore corpus_score(const Metric& metric, Lines hypothesis, const std::vector<Lines>& references) {
  const std::vector<double> sums = metric.count(hypothesis, references).sums();
  return {.score = metric.score(sums),
          .details = metric.details(sums),
          .signature = metric.signature(references.size(), {}).text()};
}

Report scored(const std::vector<Text>& systems, const std::vector<Text>& references, const EvaluateOptions& options) {
  check_lines(systems, references);
  Report report;
  report.width = options.width;
  report.sentence_level = options.sentence_level;
  const bool compared = systems.size() > 1;
  if (options.confidence || compared) {
    report.resampling = {.resamples = options.resamples, .seed = options.seed};
  }
  for (const Text& system : systems) {
    warn_of_tokenized_text(system, report.warnings);
    if (compared) {
      report.systems.push_back({.name = system.name, .scores = {}});
    }
  }
  warn_of_uncut_text(references.front(), options, report.warnings);
  const std::vector<Lines> reference_lines = views(references);
  std::vector<Lines> all_lines = views(systems);
  all_lines.insert(all_lines.end(), reference_lines.begin(), reference_lines.end());
  for (const MetricKind kind : options.metrics) {
    const std::unique_ptr<Metric> metric = make_metric(kind, options, all_lines);
    const std::vector<CountTable> tables = count_systems(*metric, systems, reference_lines, options.progress);
    if (compared) {
      compare_systems(*metric, tables, references.size(), options.progress, report);
    } else if (options.sentence_level) {
      score_sentences(*metric, tables[0], references.size(), report);
    } else {
      score_text(*metric, tables[0], references.size(), options.progress, report);
    }
  }
  return report;
}

}  // namespace

std::vector<MetricKind> parse_metrics(std::string_view list) {
  std::vector<MetricKind> kinds;
  for (size_t start = 0; start <= list.size();) {
    const size_t end = std::min(list.find(',', start), list.size());
    const MetricKind kind = parse_metric(list.substr(start, end - start));
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
      kinds.push_back(kind);
    }
    start = end + 1;
  }
  return kinds;
}

Report evaluate(const std::vector<Text>& systems, const std::vector<Text>& references, const EvaluateOptions& options) {
  check_options(options, systems.size());
  const LineKind kind = line_kind(options.metrics.front());
  if (kind == LineKind::kTranslations) {
    return scored(systems, references, options);
  }
  base::check_usage(references.size() == 1,
                    "evaluate: labels, tags, vectors and numbers have one reference, {} were given", references.size());
  base::check_usage(kind != LineKind::kNumbers || !options.sentence_level,
                    "sentence-level: spearman needs whole texts; leave out the option");
  base::check_data(!systems.empty(), "evaluate: no system was given; there must be at least one");
  const std::vector<Text> said = without_byte_order_marks(systems), right = without_byte_order_marks(references);
  const std::vector<Text> relevant_of_systems = relevant(said, kind, right.front());
  return scored(relevant_of_systems, kind == LineKind::kVectors ? right : relevant(right, kind, said.front()), options);
}

CorpusScore corpus_bleu(Lines hypothesis, const std::vector<Lines>& references, const BleuOptions& options) {
  return corpus_score(Bleu(options), hypothesis, references);
}

CorpusScore corpus_chrf(Lines hypothesis, const std::vector<Lines>& references, const ChrfOptions& options) {
  return corpus_score(Chrf(options), hypothesis, references);
}

CorpusScore corpus_ter(Lines hypothesis, const std::vector<Lines>& references, const TerOptions& options) {
  return corpus_score(Ter(options), hypothesis, references);
}

}  // namespace dragoman::evaluation
