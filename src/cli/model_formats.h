#pragma once

#include "base/names.h"

namespace dragoman::cli {

/// The models of other programs that `import --from` reads: folders of Hugging Face transformers.
enum class ImportFormat {
  kMarian,      ///< a MarianMT
  kGpt2,        ///< a GPT-2
  kLlama,       ///< a Llama, Mistral, Qwen2 or Qwen3
  kBert,        ///< a BERT
  kRoberta,     ///< a RoBERTa
  kDistilBert,  ///< a DistilBERT
  kT5,          ///< a T5, v1.1, mT5 or FLAN-T5
  kM2m100,      ///< an M2M-100 or NLLB-200
  kMbart,       ///< an mBART-50
  kBart,        ///< a BART
};

constexpr base::Names<ImportFormat> names_of(ImportFormat) {
  return {"format",
          {{ImportFormat::kMarian, "hf-marian"},
           {ImportFormat::kGpt2, "hf-gpt2"},
           {ImportFormat::kLlama, "hf-llama"},
           {ImportFormat::kBert, "hf-bert"},
           {ImportFormat::kRoberta, "hf-roberta"},
           {ImportFormat::kDistilBert, "hf-distilbert"},
           {ImportFormat::kT5, "hf-t5"},
           {ImportFormat::kM2m100, "hf-m2m100"},
           {ImportFormat::kMbart, "hf-mbart"},
           {ImportFormat::kBart, "hf-bart"}}};
}

/// The models of other programs that `export --to` writes: folders likewise, or a file.
enum class ExportFormat {
  kMarian,
  kGpt2,
  kLlama,
  kGguf,  ///< a file of llama.cpp
  kT5,
  kBert,
  kRoberta,
  kDistilBert,
  kM2m100,
  kMbart,
  kBart,
};

constexpr base::Names<ExportFormat> names_of(ExportFormat) {
  return {"format",
          {{ExportFormat::kMarian, "hf-marian"},
           {ExportFormat::kGpt2, "hf-gpt2"},
           {ExportFormat::kLlama, "hf-llama"},
           {ExportFormat::kGguf, "gguf"},
           {ExportFormat::kT5, "hf-t5"},
           {ExportFormat::kBert, "hf-bert"},
           {ExportFormat::kRoberta, "hf-roberta"},
           {ExportFormat::kDistilBert, "hf-distilbert"},
           {ExportFormat::kM2m100, "hf-m2m100"},
           {ExportFormat::kMbart, "hf-mbart"},
           {ExportFormat::kBart, "hf-bart"}}};
}

}  // namespace dragoman::cli
