#include "interop/hf_tokenizer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "data/chat/chat_template.h"
#include "data/vocabulary/sentencepiece_check.h"
#include "data/vocabulary/tokenizer_makers.h"
#include "interop/hf_config.h"
#include "interop/model_source.h"
#include "interop/sentencepiece_tokenizer.h"
#include "models/model_folder.h"

namespace dragoman::interop {
namespace {

namespace fs = std::filesystem;
using data::Vocabulary;
using nlohmann::json;

constexpr const char* kVocabName = "vocab.json";
constexpr const char* kMergesName = "merges.txt";
constexpr const char* kSentencePieceName = "tokenizer.model";

// Whether the tokenizer of a folder puts bos before each text, as those of Llama do if nothing else is said.
bool adds_bos(const fs::path& folder) {
  if (!is_there(folder / kHfTokenizerConfigName)) {
    return true;
  }
  const std::string file = (folder / kHfTokenizerConfigName).string();
  const json tree = base::parse_json(read_json(folder, kHfTokenizerConfigName), file);
  const base::JsonFields fields(tree, file);
  base::check_data(!fields.flag("add_eos_token", false),
                   "{}: add_eos_token is true; dragoman puts no token behind a text", file);
  return fields.flag("add_bos_token", true);
}

Vocabulary read_sentencepiece(const fs::path& folder) {
  const std::string name = (folder / kSentencePieceName).string();
  const std::string bytes = base::read_file(name, data::kMaxModelBytes);
  return Vocabulary::from_bytes(tokenizer_json_of_sentencepiece(bytes, name, adds_bos(folder)), name);
}

Vocabulary read_files(const fs::path& folder, HfLayout layout) {
  if (is_there(folder / kHfTokenizerName)) {
    return Vocabulary::from_file(folder / kHfTokenizerName);
  }
  if ((layout == HfLayout::kLlama || layout == HfLayout::kMistral) && is_there(folder / kSentencePieceName)) {
    return read_sentencepiece(folder);
  }
  const bool has_pieces = is_there(folder / kVocabName) && is_there(folder / kMergesName);
  const bool is_plain = layout == HfLayout::kGpt2 && has_pieces && !is_there(folder / "added_tokens.json");
  base::check_data(is_plain,
                   "{}: is missing; {}. Load the tokenizer with AutoTokenizer of transformers and save it with "
                   "save_pretrained, which writes the file",
                   (folder / kHfTokenizerName).string(),
                   has_pieces ? "vocab.json and merges.txt do not say how text is cut" : "no other tokenizer is read");
  try {
    return data::from_vocab_and_merges(base::read_file(folder / kVocabName, data::kMaxModelBytes),
                                       base::read_file(folder / kMergesName, data::kMaxModelBytes));
  } catch (const base::Error& error) {
    base::fail(error.kind(), "{}: {}", folder.string(), error.what());
  }
}

// The id if the vocabulary has it, otherwise -1.
int32_t known_id(int64_t id, const char* name, const Vocabulary& vocabulary, std::vector<std::string>& notes) {
  if (id >= vocabulary.size()) {
    notes.push_back(
        fmt::format("{} {} is beyond the {} pieces of the tokenizer and is left out", name, id, vocabulary.size()));
    return -1;
  }
  return static_cast<int32_t>(id);
}

data::SpecialIds special_of(const HfTokenIds& ids, const Vocabulary& vocabulary, std::vector<std::string>& notes) {
  data::SpecialIds special = vocabulary.special();
  if (const int32_t pad = known_id(ids.pad, "pad_token_id", vocabulary, notes); pad >= 0) {
    special.pad = pad;
  }
  const int32_t bos = known_id(ids.bos, "bos_token_id", vocabulary, notes);
  if (bos >= 0 && !vocabulary.adds_bos()) {  // otherwise the tokenizer says which
    special.bos = bos;
  }
  special.eos.clear();
  for (const int64_t id : ids.eos) {
    if (const int32_t eos = known_id(id, "eos_token_id", vocabulary, notes); eos >= 0) {
      special.eos.push_back(eos);
    }
  }
  return special;
}

}  // namespace

void check_hf_tokenizer(const Vocabulary& vocabulary, const fs::path& folder, int64_t vocab_size) {
  base::check_data(vocabulary.format() == Vocabulary::Format::kTokenizerJson, "{}: must be a JSON object",
                   (folder / kHfTokenizerName).string());
  base::check_data(
      vocabulary.size() <= vocab_size,
      "{}: its tokenizer has {} pieces, vocab_size of config.json is {}; the files are of different models",
      folder.string(), vocabulary.size(), vocab_size);
}

Vocabulary read_hf_tokenizer(const fs::path& folder, const HfLanguageConfig& config, std::vector<std::string>& notes) {
  const Vocabulary vocabulary = read_files(folder, config.layout);
  check_hf_tokenizer(vocabulary, folder, config.model.vocab_size);
  HfTokenIds ids = config.ids;
  if (is_there(folder / kHfGenerationName)) {
    const HfTokenIds of_generation =
        generation_ids_from_json(read_json(folder, kHfGenerationName), (folder / kHfGenerationName).string());
    ids.eos = of_generation.eos.empty() ? ids.eos : of_generation.eos;
    ids.bos = of_generation.bos < 0 ? ids.bos : of_generation.bos;
    ids.pad = of_generation.pad < 0 ? ids.pad : of_generation.pad;
  }
  return vocabulary.with_special(special_of(ids, vocabulary, notes));
}

std::string hf_tokenizer_config_json(const Vocabulary& vocabulary, int64_t max_positions, const std::string& chat) {
  json tree = {{"tokenizer_class", "PreTrainedTokenizerFast"},
               {"clean_up_tokenization_spaces", false},
               {"model_max_length", max_positions}};
  const data::SpecialIds& special = vocabulary.special();
  const auto name = [&](const char* key, int32_t id) {
    if (id >= 0) {
      tree[key] = vocabulary.piece(id);
    }
  };
  name("bos_token", special.bos);
  name("pad_token", special.pad);
  name("unk_token", special.unk);
  name("eos_token", special.eos.empty() ? -1 : special.eos.front());
  if (!chat.empty()) {
    const data::ChatFile file = data::chat_file_from_json(chat, models::kChatName);
    tree["chat_template"] = file.source;
    for (const auto& [key, token] : file.tokens) {
      tree[key] = token;
    }
  }
  return base::dump_json(tree, 2) + "\n";
}

}  // namespace dragoman::interop
