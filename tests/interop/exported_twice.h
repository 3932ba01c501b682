#pragma once

#include <gtest/gtest.h>

#include "interop/exported_model.h"
#include "interop/marian_import.h"
#include "tensor/transfer.h"

namespace dragoman::interop {

/// The search of an imported model, as its export is asked for.
inline ExportedSearch search_of(const ImportedModel& model) {
  return {.beam_size = model.search.beam_size, .length_penalty = model.search.length_penalty};
}

/// Expects that two imported models are one: texts, and tensors to the bit.
inline void expect_same_model(const ImportedModel& seen, const ImportedModel& expected) {
  EXPECT_EQ(seen.files.config, expected.files.config);
  EXPECT_TRUE(seen.files.vocabularies == expected.files.vocabularies);
  EXPECT_EQ(seen.files.languages, expected.files.languages);
  EXPECT_EQ(seen.search.beam_size, expected.search.beam_size);
  EXPECT_EQ(seen.search.length_penalty, expected.search.length_penalty);
  ASSERT_EQ(seen.files.tensors.size(), expected.files.tensors.size());
  for (const auto& [name, tensor] : expected.files.tensors) {
    EXPECT_EQ(seen.files.tensors.at(name).to_vector<float>(), tensor.to_vector<float>()) << name;
  }
}

/// Changes the row of our <s>, as training does.
inline void train_start(models::ModelFiles& files) {
  tensor::Tensor table = files.tensors.at("embedding.weight").clone();
  tensor::HostEdit<float>(table).span()[static_cast<size_t>(data::kBosId * table.dim(1))] += 0.25F;
  files.tensors["embedding.weight"] = table;
}

}  // namespace dragoman::interop
