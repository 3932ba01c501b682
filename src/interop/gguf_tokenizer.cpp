#include "interop/gguf_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "data/vocabulary/text_steps.h"
#include "data/vocabulary/tokenizer_json.h"
#include "data/vocabulary/vocabulary.h"

namespace dragoman::interop {
namespace {

using data::BpeSplit;
using data::TokenizerSpec;

// Types of tokens.
constexpr int32_t kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5;

constexpr std::string_view kSpaceMark = "\xE2\x96\x81";  // U+2581, which llama.cpp writes for a space

// llama.cpp's name of a split of byte-level BPE; empty if there is none.
std::string_view split_name(const TokenizerSpec& spec) {
  if (!spec.spelling.byte_level || !spec.normalizer.empty() || spec.splits.size() != 1 ||
      spec.splits.front().kind != data::SplitStep::Kind::kPattern) {
    return "";
  }
  switch (spec.splits.front().pattern) {
    case BpeSplit::kGpt2:
      return spec.model.ignore_merges ? "" : "gpt-2";
    case BpeSplit::kLlama3:
      return "llama-bpe";  // takes whole words before merges
    case BpeSplit::kQwen2:
      return spec.model.ignore_merges ? "" : "qwen2";
    case BpeSplit::kNone:
      return "";
  }
  return "";
}

bool is_of_characters(const TokenizerSpec& spec) {
  return !spec.spelling.byte_level && spec.merges.empty() && spec.normalizer.empty() && spec.splits.empty();
}

std::vector<std::string> texts_of(const TokenizerSpec& spec, bool characters, const std::string& name) {
  std::vector<std::string> texts = spec.pieces;
  if (characters) {
    for (std::string& text : texts) {
      base::check_data(text.find(kSpaceMark) == std::string::npos,
                       "{}: a piece has the character U+2581, which llama.cpp writes for a space", name);
      text = data::replaced(text, " ", std::string(kSpaceMark));
    }
  }
  return texts;
}

std::vector<int32_t> types_of(const TokenizerSpec& spec) {
  std::vector<int32_t> types(spec.pieces.size(), kNormal);
  if (spec.model.unk >= 0) {
    types[static_cast<size_t>(spec.model.unk)] = kUnknown;
  }
  for (const data::AddedToken& token : spec.added) {
    types[static_cast<size_t>(token.id)] = token.special ? kControl : kUserDefined;
  }
  return types;
}

std::vector<std::string> merges_of(const TokenizerSpec& spec) {
  std::vector<std::string> merges;
  for (const data::BpeMerge& merge : spec.merges) {
    merges.push_back(spec.pieces[static_cast<size_t>(merge.left)] + " " +
                     spec.pieces[static_cast<size_t>(merge.right)]);
  }
  return merges;
}

void add_special(const data::Vocabulary& vocabulary, GgufFile& file) {
  const data::SpecialIds& special = vocabulary.special();
  const auto add = [&](const char* key, int32_t id) {
    if (id >= 0) {
      file.add(fmt::format("tokenizer.ggml.{}_token_id", key), static_cast<uint32_t>(id));
    }
  };
  add("bos", special.bos);
  add("eos", special.eos.empty() ? -1 : special.eos.front());
  add("eot", special.eos.size() < 2 ? -1 : special.eos[1]);  // a second token that ends a text
  add("unknown", special.unk);
  add("padding", special.pad);
  file.add("tokenizer.ggml.add_bos_token", vocabulary.adds_bos());
  file.add("tokenizer.ggml.add_eos_token", false);
  file.add("tokenizer.ggml.add_space_prefix", false);
}

}  // namespace

void add_gguf_tokenizer(std::string_view tokenizer_json, const std::string& name, int64_t rows, GgufFile& file) {
  const TokenizerSpec spec = data::read_tokenizer_json(tokenizer_json, name);
  const std::string_view split = split_name(spec);
  const bool characters = is_of_characters(spec);
  base::check_data(
      !split.empty() || characters,
      "{}: llama.cpp has byte-level BPE with the splits of GPT-2, Llama-3 and Qwen2, without normalizer, and "
      "vocabularies of characters; the model cannot be exported",
      name);
  std::vector<std::string> texts = texts_of(spec, characters, name);
  std::vector<int32_t> types = types_of(spec);
  while (static_cast<int64_t>(texts.size()) < rows) {  // rows of the embedding without a piece
    texts.push_back(fmt::format("[UNUSED{}]", texts.size()));
    types.push_back(kUnused);
  }
  file.add("tokenizer.ggml.model", std::string_view(characters ? "llama" : "gpt2"));
  file.add("tokenizer.ggml.tokens", texts);
  file.add("tokenizer.ggml.token_type", types);
  if (characters) {
    file.add("tokenizer.ggml.scores", std::vector<float>(texts.size(), 0.0F));
  } else {
    file.add("tokenizer.ggml.pre", split);
    file.add("tokenizer.ggml.merges", merges_of(spec));
  }
  add_special(data::Vocabulary::from_bytes(tokenizer_json, name), file);
}

}  // namespace dragoman::interop
