#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/files.h"
#include "data/vocabulary/special_ids.h"
#include "models/token_rows.h"
#include "models/transformer/transformer.h"
#include "tensor/safetensors.h"

namespace dragoman::interop {

/// Expects that the logits of a pair are those of transformers, to 1e-4 of the largest, and that <s> takes no part.
/// @param source, target  what encoder and decoder read, in the ids of transformers; the decoder reads our <s> before
/// it
/// @param expected  [T, V] of transformers; @param theirs  its id of each of ours
inline void expect_stored_logits(const models::Transformer& model, const std::vector<int64_t>& source,
                                 const std::vector<int64_t>& target, const tensor::Tensor& expected,
                                 const std::vector<int64_t>& theirs) {
  std::map<int64_t, int32_t> ours;
  for (size_t id = 0; id < theirs.size(); ++id) {
    if (id != data::kBosId) {
      ours[theirs[id]] = static_cast<int32_t>(id);
    }
  }
  std::vector<int32_t> read, written{data::kBosId};
  std::ranges::transform(source, std::back_inserter(read), [&](int64_t id) { return ours.at(id); });
  std::ranges::transform(target, std::back_inserter(written), [&](int64_t id) { return ours.at(id); });
  const autograd::NoGrad inference;
  const tensor::Tensor seen =
      model.output().logits(model.forward({models::one_sentence(read), models::one_sentence(written)}, {})).value();
  ASSERT_EQ(seen.dim(0), expected.dim(0));
  ASSERT_EQ(seen.dim(1), expected.dim(1) + 1);
  float largest = 1.0F;
  for (const float logit : expected.to_vector<float>()) {
    largest = std::max(largest, std::abs(logit));
  }
  for (int64_t row = 0; row < seen.dim(0); ++row) {
    for (int64_t id = 0; id < seen.dim(1); ++id) {
      const float logit = seen.data<float>()[row * seen.dim(1) + id];
      if (id == data::kBosId) {
        ASSERT_LT(logit, -1e8F) << "the second name of the start must not take part";
        continue;
      }
      ASSERT_NEAR(logit, expected.data<float>()[row * expected.dim(1) + theirs[static_cast<size_t>(id)]],
                  1e-4 * largest)
          << "row " << row << ", id " << id;
    }
  }
}

/// Expects the stored logits of each line, folder/expected.safetensors, as expect_stored_logits does.
/// @param lines  of expected.json, each with its ids
inline void expect_logits_of_lines(const models::Transformer& model, const std::filesystem::path& folder,
                                   const nlohmann::json& lines, const std::vector<int64_t>& theirs) {
  const std::string name = (folder / "expected.safetensors").string();
  const tensor::NamedTensors stored = tensor::read_safetensors(base::read_file(name), name);
  for (size_t line = 0; line < stored.size(); ++line) {
    SCOPED_TRACE(line);
    const std::vector<int64_t> ids = lines[line]["ids"];
    expect_stored_logits(model, ids, {ids.begin(), ids.end() - 1}, stored.at("logits." + std::to_string(line)), theirs);
  }
}

}  // namespace dragoman::interop
