#include "decoding/search/sample_search.h"

#include <algorithm>

namespace dragoman::decoding {

SampleSearch::SampleSearch(const SearchOptions& options, const SearchLimits& limits, const SentenceRequest& request)
    : options_(options),
      limits_(limits),
      special_(request.special),
      likeliest_(request.likeliest),
      rules_(options, request),
      sampler_(options),
      attention_(request) {
  for (int k = 0; k < options.n_best; ++k) {
    // An odd factor keeps the streams of the samples apart.
    const uint64_t stream = request.random_stream + 0x9E3779B97F4A7C15ULL * static_cast<uint64_t>(k);
    samples_.push_back({{}, base::Random(options.sampling.seed, stream)});
    live_.push_back(static_cast<size_t>(k));
    row_.push_back(0);
  }
}

void SampleSearch::begin(const ScoredPrefix& prefix) {
  attention_.add_prefix(prefix);
  for (Sample& sample : samples_) {
    sample.hypothesis.ids = prefix.ids;
    sample.hypothesis.likeliest = prefix.likeliest;
    for (size_t i = 0; i < prefix.ids.size(); ++i) {
      sample.attention_rows.push_back(attention_.number(static_cast<int32_t>(i)));
    }
    for (const double log_prob : prefix.log_probs) {
      sample.hypothesis.token_scores.push_back(static_cast<float>(log_prob));
      sample.hypothesis.score += log_prob;
    }
  }
}

// Before the first draw all samples are one hypothesis.
size_t SampleSearch::row_count() const {
  return first_step_ ? 1 : live_.size();
}

void SampleSearch::see_attention(int layer, const float* weights, int64_t stride) {
  attention_.add_step(layer, row_count(), weights, stride);
}

void SampleSearch::append_rows(int32_t slot, std::vector<StepRow>& rows) const {
  for (size_t i = 0; i < row_count(); ++i) {
    const std::vector<int32_t>& ids = samples_[live_[i]].hypothesis.ids;
    rows.push_back({slot, row_[i], ids.empty() ? special_.begin : ids.back()});
  }
}

void SampleSearch::advance(std::span<float> logits) {
  const size_t vocab_size = logits.size() / row_count();
  std::vector<size_t> next_live;
  std::vector<int32_t> next_row;
  for (size_t i = 0; i < live_.size(); ++i) {
    const size_t row = first_step_ ? 0 : i;
    const std::span<const float> row_logits = logits.subspan(row * vocab_size, vocab_size);
    Sample& sample = samples_[live_[i]];
    if (extend(sample, row, row_logits, log_normaliser(row_logits))) {
      next_live.push_back(live_[i]);
      next_row.push_back(static_cast<int32_t>(row));
    }
  }
  live_.swap(next_live);
  row_.swap(next_row);
  first_step_ = false;
}

bool SampleSearch::extend(Sample& sample, size_t row, std::span<const float> logits, double normaliser) {
  Hypothesis& hypothesis = sample.hypothesis;
  const auto length = static_cast<int64_t>(hypothesis.ids.size());
  if (likeliest_ > 0) {
    hypothesis.likeliest.push_back(likeliest(logits, normaliser, likeliest_));
  }
  logits_.assign(logits.begin(), logits.end());
  rules_.apply(hypothesis.ids, logits_);
  forbid_tokens(logits_, special_, length >= limits_.min_length, !options_.rules.disable_unk);
  const int32_t token = sampler_.draw(logits_, sample.random.uniform());
  if (token < 0) {
    finish(hypothesis, FinishReason::kLengthLimit);
    return false;
  }
  const double log_prob = std::min(0.0, logits[static_cast<size_t>(token)] - normaliser);
  hypothesis.score += log_prob;
  hypothesis.token_scores.push_back(static_cast<float>(log_prob));
  if (special_.ends_text(token)) {
    finish(hypothesis, FinishReason::kEndOfSentence);
    return false;
  }
  hypothesis.ids.push_back(token);
  sample.attention_rows.push_back(attention_.number(static_cast<int32_t>(row)));
  if (length + 1 >= limits_.max_length) {
    finish(hypothesis, FinishReason::kLengthLimit);
    return false;
  }
  return true;
}

void SampleSearch::finish(Hypothesis& hypothesis, FinishReason reason) const {
  const auto length = static_cast<int64_t>(std::max<size_t>(hypothesis.token_scores.size(), 1));
  hypothesis.likeliest.resize(std::min(hypothesis.likeliest.size(), hypothesis.token_scores.size()));
  hypothesis.finish_reason = reason;
  hypothesis.normalised_score = hypothesis.score / length_penalty(options_.ranking, length);
}

void SampleSearch::stop(FinishReason reason) {
  for (const size_t sample : live_) {
    finish(samples_[sample].hypothesis, reason);
  }
  live_.clear();
}

std::vector<Hypothesis> SampleSearch::take_hypotheses() {
  std::vector<Hypothesis> hypotheses;
  for (Sample& sample : samples_) {
    attention_.align(sample.attention_rows, sample.hypothesis);
    hypotheses.push_back(std::move(sample.hypothesis));
  }
  return hypotheses;
}

}  // namespace dragoman::decoding
