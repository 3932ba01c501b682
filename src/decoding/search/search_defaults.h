#pragma once

#include <string>
#include <string_view>

#include "decoding/search/options.h"

namespace dragoman::decoding {

/// Returns: whether a model folder can store this field of SearchOptions: those that are worth choosing for a model.
bool is_stored_with_model(std::string_view field);

/// Returns: the text of decoding.json in a model folder. The beam rule is left out where it is the default.
///   {"alpha": 1.0, "beam_size": 6, "length_penalty": "gnmt"}
std::string search_defaults_json(const SearchOptions& options);

/// Reads it back over the defaults of SearchOptions; an empty text leaves them all.
/// Throws Error(kBadData): "decoding.json: unknown key \"beamsize\"; did you mean \"beam_size\"?", a wrong type, or a
/// value that SearchOptions::check refuses.
SearchOptions search_defaults_from_json(std::string_view text, std::string_view file_name);

}  // namespace dragoman::decoding
