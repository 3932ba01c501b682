#pragma once

#include <filesystem>
#include <optional>

#include "data/vocabulary/vocabulary.h"
#include "decoding/translator.h"
#include "models/model_folder.h"

namespace dragoman::decoding {

/// A translator from a model folder, its weights packed for this machine, with the search defaults of decoding.json and
/// the shortlist where the folder has them.
/// @param precision  of the products with weights, the rest is float32; none: as the folder stores them
/// Throws Error(kBadData) naming the file for whatever does not fit (see models::read_model_folder):
/// "DIR/vocabulary.spm: has 17 pieces, the model was made for 20; ...".
Translator load_translator(const std::filesystem::path& folder, std::optional<kernels::Precision> precision = {});

/// The same for several folders, searched as one model with the search defaults and the shortlist of the first.
/// @param reverse  folder of a model of the other direction that reranks (see Reranker); empty = none. Its vocabulary
/// is its own affair.
/// @param threads  of Translator::submit
/// Throws Error(kBadData) when they do not read and write the same pieces, by the SHA-256 of their
/// vocabularies: "DIR-B: its target vocabulary is not that of DIR-A; ...".
std::unique_ptr<Translator> load_ensemble(std::span<const std::filesystem::path> folders,
                                          std::optional<kernels::Precision> precision = {},
                                          const std::filesystem::path& reverse = {},
                                          const ServiceThreads& threads = {});

}  // namespace dragoman::decoding
