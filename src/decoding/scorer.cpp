#include "decoding/scorer.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "decoding/in_groups.h"
#include "decoding/length_groups.h"
#include "decoding/steps/token_log_probs.h"
#include "models/model_device.h"
#include "tensor/device_scope.h"

namespace dragoman::decoding {
namespace {

void check_length(const char* side, size_t line, size_t tokens, int64_t limit) {
  base::check_data(static_cast<int64_t>(tokens) <= limit,
                   "{} line {}: {} tokens, the model takes {}; split the line or leave the pair out", side, line + 1,
                   tokens, limit);
}

// Of the norms: those of training, or of the sources, which are the rows that batch norms see.
nn::ForwardContext context_of(const ScoreOptions& options, const models::FlatIds& source) {
  nn::ForwardContext context;
  context.batch_moments = options.batch_statistics > 0;
  if (context.batch_moments && options.padded_statistics) {
    int64_t longest = 0;
    for (size_t i = 1; i < source.offsets.size(); ++i) {
      longest = std::max<int64_t>(longest, source.offsets[i] - source.offsets[i - 1]);
    }
    const auto sentences = static_cast<int64_t>(source.offsets.size()) - 1;
    context.zero_rows = sentences * longest - static_cast<int64_t>(source.ids.size());
  }
  return context;
}

void score_group(const models::Model& model, std::span<const IdPair> pairs, const LengthGroup& group,
                 const ScoreOptions& options, std::vector<PairScore>& scores) {
  const autograd::NoGrad inference;
  models::FlatIds source;
  models::FlatIds input;
  std::vector<int32_t> expected;  // [Nt] what each input row should predict
  for (const size_t item : group.items) {
    source.append(pairs[item].source);
    source.end_sentence();
    input.ids.push_back(data::kBosId);
    input.append(pairs[item].target);
    input.end_sentence();
    expected.insert(expected.end(), pairs[item].target.begin(), pairs[item].target.end());
    expected.push_back(data::kEosId);
  }
  const models::ModelInput rows{models::make_token_rows(source), models::make_token_rows(input)};
  const tensor::Tensor hidden = model.forward(rows, context_of(options, source)).value();  // [Nt, D]
  const std::vector<double> log_probs = token_log_probs(model, hidden, expected);
  for (size_t i = 0; i < group.items.size(); ++i) {
    PairScore& score = scores[group.items[i]];
    const auto unscored = static_cast<int32_t>(pairs[group.items[i]].unscored);
    for (int32_t row = input.offsets[i] + unscored; row < input.offsets[i + 1]; ++row) {
      score.log_prob += log_probs[static_cast<size_t>(row)];
      ++score.tokens;
    }
  }
}

// The numbers 0 to count - 1 in their order, `each` to a group.
std::vector<LengthGroup> consecutive(size_t count, size_t each) {
  std::vector<LengthGroup> groups((count + each - 1) / each);
  for (size_t item = 0; item < count; ++item) {
    groups[item / each].items.push_back(item);
  }
  return groups;
}

// Pairs of two blank lines have nothing to score and are left out.
std::vector<LengthGroup> make_groups(std::span<const IdPair> pairs, const ScoreOptions& options, int n_workers) {
  std::vector<int64_t> lengths;
  for (const IdPair& pair : pairs) {
    lengths.push_back(static_cast<int64_t>(pair.source.size() + pair.target.size()));
  }
  std::vector<LengthGroup> groups = options.batch_statistics > 0
                                        ? consecutive(pairs.size(), static_cast<size_t>(options.batch_statistics))
                                        : group_by_length(lengths, options.batch_tokens, n_workers);
  for (LengthGroup& group : groups) {
    std::erase_if(group.items, [&](size_t item) { return lengths[item] == 0; });
  }
  std::erase_if(groups, [](const LengthGroup& group) { return group.items.empty(); });
  return groups;
}

}  // namespace

IdPair encode_pair(const PairEncoding& encoding, const std::string& source, const std::string& target) {
  const LanguageTokens& languages = encoding.languages;
  IdPair pair{encode_source(encoding.pieces.source, source, languages), encoding.pieces.target.encode(target)};
  if (pair.source.empty() && !pair.target.empty()) {
    pair.source = {data::kEosId};
  }
  if (const auto first = first_written(languages, encoding.pieces.target); first && !pair.source.empty()) {
    pair.target.insert(pair.target.begin(), *first);
    pair.unscored = 1;
  }
  return pair;
}

std::vector<PairScore> score_ids(const models::Model& model, std::span<const IdPair> pairs,
                                 const ScoreOptions& options) {
  base::check_fields(options);
  const tensor::DeviceScope device(models::device_of(model));
  const int most = worker_count(options.workers, models::device_of(model));
  const std::vector<LengthGroup> groups = make_groups(pairs, options, most);
  std::vector<PairScore> scores(pairs.size());
  for_each_group(groups.size(), options.workers,
                 [&](size_t number) { score_group(model, pairs, groups[number], options, scores); });
  return scores;
}

std::vector<PairScore> score_pairs(const models::Model& model, const PairEncoding& encoding,
                                   std::span<const std::string> sources, std::span<const std::string> targets,
                                   const ScoreOptions& options) {
  base::check_data(sources.size() == targets.size(),
                   "score: the source has {} lines, the target {}; they must be translations line by line",
                   sources.size(), targets.size());
  std::vector<IdPair> pairs;
  for (size_t line = 0; line < sources.size(); ++line) {
    pairs.push_back(encode_pair(encoding, sources[line], targets[line]));
    check_length("source", line, pairs[line].source.size(), model.config().sizes().max_positions);
    check_length("target", line, pairs[line].target.size() + 1, model.config().sizes().max_positions);
  }
  return score_ids(model, pairs, options);
}

double perplexity(std::span<const PairScore> scores) {
  double log_prob = 0.0;
  int64_t tokens = 0;
  for (const PairScore& score : scores) {
    log_prob += score.log_prob;
    tokens += score.tokens;
  }
  return tokens > 0 ? std::exp(-log_prob / static_cast<double>(tokens)) : 1.0;
}

}  // namespace dragoman::decoding
