#pragma once

#include <cstdint>

#include "base/fields.h"

namespace dragoman::training {

/// What stands for a text where an encoder learns classes or vectors of texts.
enum class TextPooling {
  kOfModel,  ///< what the model has: for classes its first row behind a pooler, for vectors its pooling
  kMean,
  kFirst,
  kPooler,
};

constexpr base::Names<TextPooling> names_of(TextPooling) {
  return {"text_pooling",
          {{TextPooling::kOfModel, "model"},
           {TextPooling::kMean, "mean"},
           {TextPooling::kFirst, "first"},
           {TextPooling::kPooler, "pooler"}}};
}

/// How an encoder learns from whole texts.
struct WholeTextOptions {
  TextPooling pooling = TextPooling::kOfModel;
  double temperature = 0.05;  ///< Gao et al. 2021; sentence-transformers' scale 20
  int64_t group_pairs = 32;

  static constexpr const char* kTitle = "Classes and vectors of texts";  ///< in --help
  template <typename Visit>
  static void fields(Visit&& visit);
};

template <typename Visit>
void WholeTextOptions::fields(Visit&& visit) {
  using base::Field;
  using O = WholeTextOptions;
  visit(Field("text_pooling", &O::pooling,
              "What stands for a text in the tasks classify and embed: the mean of its rows, its first row, that row "
              "behind the pooler; model = what the model has"));
  visit(Field("temperature", &O::temperature, "Task embed: cosines are divided by it in the loss", {1e-3, 100}));
  visit(Field("group_pairs", &O::group_pairs,
              "Task embed: pairs that are told from each other; a batch holds whole groups", {2, 1 << 16}, "pairs"));
}

}  // namespace dragoman::training
