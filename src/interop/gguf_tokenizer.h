#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "interop/gguf_file.h"

namespace dragoman::interop {

/// Adds the tokenizer of a vocabulary to a GGUF file. @param rows  of the embedding, of which some may have no piece
/// Throws: Error(kBadData) for a tokenizer that llama.cpp does not have. @param name  of the file, for errors
void add_gguf_tokenizer(std::string_view tokenizer_json, const std::string& name, int64_t rows, GgufFile& file);

}  // namespace dragoman::interop
