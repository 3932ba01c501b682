#pragma once

#include <filesystem>

#include "decoding/translator.h"

namespace dragoman::decoding {

/// A translator from a model folder, its weights packed for this machine. The folder holds vocabulary.spm (joint), or
/// source.spm and target.spm. Throws Error(kBadData) naming the file for whatever does not fit (see
/// models::read_model_folder): "DIR: has neither vocabulary.spm nor source.spm; ...".
Translator load_translator(const std::filesystem::path& folder);

}  // namespace dragoman::decoding
