#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/chat/chat_template.h"

namespace dragoman::interop {

/// Returns the text of chat.json for the chat template of a folder; empty if the folder has none. The template is that
/// of chat_template.jinja or of tokenizer_config.json. If there are several, the one named "default" counts. A template
/// that dragoman cannot read is kept for exports, with a note.
/// Throws: Error(kBadData) for a damaged file: "m/tokenizer_config.json: chat_template must be a text or a list of
/// named templates".
[[nodiscard]] std::string import_hf_chat(const std::filesystem::path& folder, std::vector<std::string>& notes);

}  // namespace dragoman::interop
