#pragma once

#include <memory>

#include "base/checked_folder.h"
#include "data/chat/chat_template.h"

namespace dragoman::decoding {

/// Returns the chat template of a model folder; null if the folder has none.
/// Throws: Error(kBadData) for a template beyond the supported subset of Jinja, "the chat template of the model: line
/// 1: filter "batch" is not supported; ...".
[[nodiscard]] std::shared_ptr<const data::ChatTemplate> load_chat(const base::CheckedFolder& folder);

}  // namespace dragoman::decoding
