#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "interop/exported_model.h"
#include "interop/hf_encoder_decoder.h"

namespace dragoman::interop {

/// Reads config.json of an M2M-100 or NLLB-200; each key must be one that this program reads, one of a table of keys
/// that do not change the result, or null.
/// Throws: Error(kBadData) with file, key and value, as gpt2_config_from_json.
[[nodiscard]] BartConfig m2m100_config_from_json(std::string_view text, const std::string& file_name);

/// Reads the folder of an M2M-100 or NLLB-200 of Hugging Face transformers. It opens config.json, model.safetensors or
/// the files of its index, sentencepiece.bpe.model, vocab.json (M2M-100 alone), tokenizer_config.json or
/// special_tokens_map.json, whose additional_special_tokens are the languages in the order of their ids, and, if it
/// exists, generation_config.json. A language `__fr__` or `fra_Latn` is the piece >>fr<< or >>fra_Latn<< of the
/// vocabulary: a source begins with that of its language, a translation with that of its own. The result computes the
/// same logits, and languages.json says what it translates. Throws: Error(kBadData) with the file, its value and what
/// is supported, as import_marian.
[[nodiscard]] ImportedModel import_m2m100(const std::filesystem::path& folder);

/// Returns the positions [T, D] of an M2M-100 as fairseq computes them: sines, then cosines, from the third position
/// on; the first two belong to no position.
[[nodiscard]] tensor::Tensor fairseq_positions(int64_t positions, int64_t d_model);

/// Returns the folder of an M2M-100, or of an NLLB-200 if the languages have codes with a script, as transformers reads
/// it. It computes the same logits. @param folder  of the model, for errors
/// Throws: Error(kBadData) for a model that is none, as export_bart; also for positions, an output bias and an <s> that
/// were trained, because the layout has none: "m/model.safetensors: encoder.embedding.positions are not those of
/// fairseq, M2M-100 has these only; the model cannot be exported".
[[nodiscard]] ExportedModel export_m2m100(const models::ModelFiles& model, const std::filesystem::path& folder,
                                          const ExportedSearch& search);

}  // namespace dragoman::interop
