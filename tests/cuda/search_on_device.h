#pragma once

#include <gtest/gtest.h>

#include "decoding/parallel_search.h"
#include "models/architectures/architectures.h"

namespace dragoman::decoding {

/// Returns: a copy of a model on the current device.
inline std::shared_ptr<models::Model> on_device(const models::Model& model,
                                                kernels::Precision precision = kernels::Precision::kFloat32) {
  std::shared_ptr<models::Model> copy = models::make_model(model.config());
  copy->parameters().allocate();
  copy->parameters().mutable_values().copy_from(model.parameters().values());
  copy->parameters().pack_weights(precision);
  return copy;
}

inline SearchOptions options_of(int beam_size) {
  SearchOptions options;
  options.beam_size = beam_size;
  options.length.max_length_ratio = 0;
  options.length.max_length_extra = 12;
  options.execution.workers = 1;
  options.output.scores = true;
  return options;
}

using Results = std::vector<SearchResult>;

inline void expect_equal_ids(const Results& seen, const Results& expected) {
  ASSERT_EQ(seen.size(), expected.size());
  for (size_t i = 0; i < seen.size(); ++i) {
    ASSERT_EQ(seen[i].hypotheses.size(), expected[i].hypotheses.size()) << "sentence " << i;
    for (size_t n = 0; n < seen[i].hypotheses.size(); ++n) {
      const Hypothesis &a = seen[i].hypotheses[n], &b = expected[i].hypotheses[n];
      EXPECT_EQ(a.ids, b.ids) << "sentence " << i << ", hypothesis " << n;
      EXPECT_NEAR(a.normalised_score, b.normalised_score, 1e-3);
    }
  }
}

inline void expect_equal_bits(const Results& seen, const Results& expected) {
  for (size_t i = 0; i < seen.size(); ++i) {
    const Hypothesis &a = seen[i].hypotheses.front(), &b = expected[i].hypotheses.front();
    EXPECT_EQ(a.ids, b.ids) << "sentence " << i;
    EXPECT_EQ(a.token_scores, b.token_scores) << "sentence " << i;
  }
}

}  // namespace dragoman::decoding
