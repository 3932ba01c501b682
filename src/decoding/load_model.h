#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "data/vocabulary/vocabulary.h"
#include "decoding/generator.h"
#include "decoding/search/options.h"
#include "decoding/shortlist.h"
#include "models/languages.h"
#include "models/model.h"
#include "models/model_folder.h"

namespace dragoman::decoding {

/// What a model folder holds, ready for inference.
struct LoadedModel {
  std::shared_ptr<const models::Model> model;
  data::VocabularyPair vocabularies;
  SearchOptions defaults;
  std::shared_ptr<const Shortlist> shortlist;  // null when the folder has none
  std::string labels = {};                     // text of labels.json; empty when the folder has none
  models::ModelLanguages languages = {};       // empty when the folder does not say them
};

/// The vocabularies among the files of `folder`: tokenizer.json or vocabulary.spm for both sides, or source.spm and
/// target.spm.
/// Throws Error(kBadData): "DIR: has neither vocabulary.spm nor source.spm; is this the folder of a dragoman model?".
data::VocabularyPair load_vocabularies(const models::VocabularyFiles& files, const std::filesystem::path& folder);

/// Reads a model of any architecture, its weights packed for this machine, with the search defaults of decoding.json
/// and the shortlist where the folder has them.
/// @param precision  of the products with weights, the rest is float32; none: as the folder stores them
/// Throws Error(kBadData) naming the file for whatever does not fit (see models::read_model_folder):
/// "DIR/vocabulary.spm: has 17 pieces, the model was made for 20; ...".
LoadedModel load_model(const std::filesystem::path& folder, std::optional<kernels::Precision> precision = {});

/// A generator from the folder of a language model.
/// Throws as load_model does; Error(kUsage) for a model that translates: "DIR: holds a transformer model, which reads a
/// source text; use dragoman translate".
std::unique_ptr<Generator> load_generator(const std::filesystem::path& folder,
                                          std::optional<kernels::Precision> precision = {},
                                          const ServiceThreads& threads = {});

}  // namespace dragoman::decoding
