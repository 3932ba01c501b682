#include "decoding/search/candidates.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "decoding/search/options.h"
#include "kernels/cpu/output/top_k.h"

namespace dragoman::decoding {
namespace {

// Extensions of one hypothesis that a step can ask for.
constexpr int kMaxCount = 2 * kWidestBeam;

double checked_normaliser(double normaliser) {
  base::check_argument(std::isfinite(normaliser),
                       "search: the model's logits have the log-sum-exp {}, it must be finite; the weights may hold "
                       "NaN or infinity, try another checkpoint",
                       normaliser);
  return normaliser;
}

Candidate candidate_of(int32_t id, float logit, double normaliser, const Expansion& expansion) {
  // Rounding may put the likeliest token above probability 1; early stopping relies on log-probabilities <= 0.
  const double log_prob = std::min(0.0, logit - normaliser);
  return {expansion.parent, id, static_cast<float>(log_prob), expansion.score + log_prob};
}

bool ranks_before(const Candidate& a, const Candidate& b) {
  if (a.score != b.score) {
    return a.score > b.score;
  }
  return a.parent != b.parent ? a.parent < b.parent : a.token_id < b.token_id;
}

}  // namespace

double log_normaliser(std::span<const float> logits) {
  return checked_normaliser(kernels::log_sum_exp(logits.data(), static_cast<int64_t>(logits.size())));
}

std::vector<LikelyToken> likeliest(std::span<const float> logits, double normaliser, int count) {
  const size_t wanted = std::min(static_cast<size_t>(count), logits.size());
  std::vector<float> values(wanted);
  std::vector<int32_t> ids(wanted);
  kernels::top_k(logits.data(), static_cast<int64_t>(logits.size()), static_cast<int>(wanted), values.data(),
                 ids.data());
  return likeliest({values, ids, normaliser}, count);
}

std::vector<LikelyToken> likeliest(const kernels::BestRow& best, int count) {
  const double normaliser = checked_normaliser(best.log_sum_exp);
  std::vector<LikelyToken> tokens;
  for (size_t i = 0; i < std::min(static_cast<size_t>(count), best.ids.size()) && best.values[i] != kImpossible; ++i) {
    tokens.push_back({best.ids[i], static_cast<float>(std::min(0.0, best.values[i] - normaliser))});
  }
  return tokens;
}

void forbid_tokens(std::span<float> logits, const SpecialTokens& special, bool allow_end, bool allow_unk) {
  const auto forbid = [&](int32_t id) {
    if (id >= 0 && special.forbids(id, allow_end, allow_unk)) {
      logits[static_cast<size_t>(id)] = kImpossible;
    }
  };
  std::ranges::for_each(special.never, forbid);
  std::ranges::for_each(special.ends, forbid);
  forbid(special.unknown);
}

void expand(std::span<float> logits, const Expansion& expansion, std::vector<Candidate>& candidates) {
  const double normaliser = expansion.normaliser ? *expansion.normaliser : log_normaliser(logits);
  forbid_tokens(logits, expansion.special, expansion.allow_end, expansion.allow_unk);
  std::array<float, kMaxCount> values;
  std::array<int32_t, kMaxCount> ids;
  const int count = std::min({expansion.count, kMaxCount, static_cast<int>(logits.size())});
  kernels::top_k(logits.data(), static_cast<int64_t>(logits.size()), count, values.data(), ids.data());
  const size_t first = candidates.size();
  const auto add = [&](int32_t id, float logit) {
    candidates.push_back(candidate_of(id, logit, normaliser, expansion));
  };
  for (size_t i = 0; i < static_cast<size_t>(count) && values[i] != kImpossible; ++i) {
    add(ids[i], values[i]);
  }
  for (const int32_t id : expansion.also) {
    const auto added = std::span(candidates).subspan(first);
    if (logits[static_cast<size_t>(id)] != kImpossible &&
        std::ranges::find(added, id, &Candidate::token_id) == added.end()) {
      add(id, logits[static_cast<size_t>(id)]);
    }
  }
}

int best_logits_for(size_t count, const SpecialTokens& special) {
  return static_cast<int>(std::min(count, static_cast<size_t>(kMaxCount))) +
         (special.are_first() ? kFirstAllowed : SpecialTokens::most_forbidden());
}

void expand(const kernels::BestRow& best, const Expansion& expansion, std::vector<Candidate>& candidates) {
  const double normaliser = checked_normaliser(best.log_sum_exp);
  int missing = std::min(expansion.count, kMaxCount);
  for (size_t i = 0; i < best.ids.size() && missing > 0 && best.values[i] != kImpossible; ++i) {
    if (!expansion.special.forbids(best.ids[i], expansion.allow_end, expansion.allow_unk)) {
      candidates.push_back(candidate_of(best.ids[i], best.values[i], normaliser, expansion));
      --missing;
    }
  }
}

void prune(std::vector<Candidate>& candidates, size_t count) {
  const size_t kept = std::min(count, candidates.size());
  std::partial_sort(candidates.begin(), candidates.begin() + static_cast<ptrdiff_t>(kept), candidates.end(),
                    ranks_before);
  candidates.resize(kept);
}

}  // namespace dragoman::decoding
