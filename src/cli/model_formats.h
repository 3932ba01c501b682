#pragma once

#include "base/names.h"

namespace dragoman::cli {

/// The models of other programs that `import --from` reads and `export --to` writes.
enum class ModelFormat {
  kMarian,      ///< a MarianMT folder of Hugging Face transformers
  kGpt2,        ///< a GPT-2 folder
  kLlama,       ///< a folder of a Llama, Mistral, Qwen2 or Qwen3
  kGguf,        ///< a file of llama.cpp, which is only written
  kBert,        ///< a folder of a BERT; this and the next are only read
  kRoberta,     ///< a folder of a RoBERTa
  kDistilBert,  ///< a folder of a DistilBERT
  kT5,          ///< a folder of a T5, v1.1, mT5 or FLAN-T5
};

constexpr base::Names<ModelFormat> names_of(ModelFormat) {
  return {"format",
          {{ModelFormat::kMarian, "hf-marian"},
           {ModelFormat::kGpt2, "hf-gpt2"},
           {ModelFormat::kLlama, "hf-llama"},
           {ModelFormat::kGguf, "gguf"},
           {ModelFormat::kBert, "hf-bert"},
           {ModelFormat::kRoberta, "hf-roberta"},
           {ModelFormat::kDistilBert, "hf-distilbert"},
           {ModelFormat::kT5, "hf-t5"}}};
}

}  // namespace dragoman::cli
