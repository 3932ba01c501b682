#include "training/search_tuning.h"

#include <algorithm>

#include "base/error.h"
#include "evaluation/evaluate.h"

namespace dragoman::training {
namespace {

bool is_usual(const decoding::SearchOptions& search, const SearchTuning& tuning) {
  return search.beam_size == tuning.search.beam_size &&
         (search.beam_size == 1 || search.ranking.alpha == tuning.search.ranking.alpha);
}

// The usual search, then every other beam size with every alpha, cheapest beam first.
std::vector<decoding::SearchOptions> searches_of(const SearchTuning& tuning) {
  std::vector<int> beam_sizes = tuning.beam_sizes;
  std::ranges::sort(beam_sizes);
  beam_sizes.erase(std::ranges::unique(beam_sizes).begin(), beam_sizes.end());
  std::vector<decoding::SearchOptions> searches = {tuning.search};
  for (const int beam_size : beam_sizes) {
    for (const double alpha : tuning.alphas) {
      decoding::SearchOptions search = tuning.search;
      search.beam_size = beam_size;
      search.ranking.alpha = beam_size == 1 ? tuning.search.ranking.alpha : alpha;  // greedy search compares no lengths
      if (!is_usual(search, tuning)) {
        searches.push_back(search);
      }
      if (beam_size == 1) {
        break;
      }
    }
  }
  return searches;
}

}  // namespace

void SearchTuning::check() const {
  base::check_usage(!beam_sizes.empty() && !alphas.empty(), "tune: name at least one beam size and one alpha");
  base::check_usage(metric == ValidationMetric::kBleu || metric == ValidationMetric::kChrf,
                    "tune: metric is \"{}\", must be one of bleu, chrf", base::name_of(metric));
  base::check_range("tune: significance", significance, 0.0, 1.0);
  for (const decoding::SearchOptions& tried : searches_of(*this)) {
    tried.check();
  }
}

int64_t number_of_searches(const SearchTuning& tuning) {
  return static_cast<int64_t>(searches_of(tuning).size());
}

std::vector<TunedSearch> try_searches(const decoding::Translator& translator, std::span<const std::string> sources,
                                      const std::vector<std::string>& references, const SearchTuning& tuning,
                                      const std::function<void(const TunedSearch&)>& done) {
  tuning.check();
  base::check_data(sources.size() == references.size() && !sources.empty(),
                   "tune: {} source lines, {} target lines; line n of both must belong together", sources.size(),
                   references.size());
  std::vector<decoding::TranslationRequest> requests;
  for (const std::string& source : sources) {
    requests.push_back({.text = source, .languages = tuning.languages});
  }
  std::vector<TunedSearch> results;
  for (const decoding::SearchOptions& search : searches_of(tuning)) {
    std::vector<std::string> texts;
    size_t cut = 0;
    for (const decoding::Translation& translation : translator.translate_requests(requests, search)) {
      texts.push_back(translation.text);
      cut += translation.finish_reason == decoding::FinishReason::kLengthLimit ? 1 : 0;
    }
    const auto bleu =
        evaluation::corpus_bleu(texts, {references}, {.tokenize = tuning.tokenize, .lowercase = tuning.lowercase});
    const auto chrf = evaluation::corpus_chrf(texts, {references}, {.lowercase = tuning.lowercase});
    results.push_back({search, std::move(texts), bleu.score, chrf.score, cut});
    done(results.back());
  }
  return results;
}

SearchChoice choose_search(std::span<const TunedSearch> results, const std::vector<std::string>& references,
                           const SearchTuning& tuning) {
  const TunedSearch& usual = results.front();
  const TunedSearch& best =
      *std::ranges::max_element(results, {}, [&](const TunedSearch& result) { return result.score(tuning.metric); });
  if (&best == &usual) {
    return {&usual, &usual, 1.0, &usual};
  }
  evaluation::EvaluateOptions options;
  options.metrics = {tuning.metric == ValidationMetric::kChrf ? evaluation::MetricKind::kChrf
                                                              : evaluation::MetricKind::kBleu};
  options.lowercase = tuning.lowercase;
  options.tokenize = tuning.tokenize;
  const evaluation::Report report =
      evaluation::evaluate({{"usual", usual.texts}, {"best", best.texts}}, {{"references", references}}, options);
  const double p_value = report.systems.at(1).scores.at(0).p_value.value();
  return {&best, &usual, p_value, p_value <= tuning.significance ? &best : &usual};
}

}  // namespace dragoman::training
