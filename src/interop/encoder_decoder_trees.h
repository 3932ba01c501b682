#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "interop/exported_model.h"
#include "models/transformer/transformer_config.h"

namespace dragoman::interop {

// What config.json and generation_config.json of MarianMT and of the family of BART share.

/// Returns sizes, heads, dropouts and activation of a model in the names of BART.
/// @param activation  its name there: "gelu"
[[nodiscard]] nlohmann::json encoder_decoder_tree(const models::TransformerConfig& config, std::string_view activation);

/// Returns how to search: beam, length penalty, and the longest output.
[[nodiscard]] nlohmann::json search_tree(const models::TransformerConfig& config, const ExportedSearch& search);

}  // namespace dragoman::interop
