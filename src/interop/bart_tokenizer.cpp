#include "interop/bart_tokenizer.h"

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "data/vocabulary/sentencepiece_check.h"
#include "data/vocabulary/special_ids.h"

namespace dragoman::interop {
namespace {

using nlohmann::json;

// Numbers, and gives each id the place that it has in the other program.
class Renumbering {
 public:
  explicit Renumbering(std::vector<int64_t> ids) : ids_(std::move(ids)) {}
  void change(json& id) const { id = ids_.at(id.get<size_t>()); }

 private:
  std::vector<int64_t> ids_;
};

void renumber_frame(const Renumbering& ids, json& processor) {
  if (processor.contains("processors")) {
    for (json& part : processor["processors"]) {
      renumber_frame(ids, part);
    }
  }
  for (const char* key : {"sep", "cls"}) {
    if (processor.contains(key)) {
      ids.change(processor[key][1]);
    }
  }
  if (processor.contains("special_tokens")) {
    for (auto& [piece, token] : processor["special_tokens"].items()) {
      for (json& id : token["ids"]) {
        ids.change(id);
      }
    }
  }
}

void renumber(const Renumbering& ids, json& tree) {
  for (auto& [piece, id] : tree["model"]["vocab"].items()) {
    ids.change(id);
  }
  for (json& token : tree["added_tokens"]) {
    ids.change(token["id"]);
  }
  if (tree.contains("post_processor") && tree["post_processor"].is_object()) {
    renumber_frame(ids, tree["post_processor"]);
  }
}

json parse_tokenizer(std::string_view text, const std::string& file) {
  return base::parse_json(text, file, {.max_bytes = data::kMaxModelBytes});
}

}  // namespace

std::string bart_tokenizer_for_import(std::string_view text, const PieceOrder& order, const std::string& file) {
  json tree = parse_tokenizer(text, file);
  const bool has_start = order.theirs[data::kBosId] != order.theirs[data::kEosId];
  std::vector<int64_t> ids(order.theirs.size(), 0);  // our id of each of theirs
  for (size_t id = 0; id < order.theirs.size(); ++id) {
    if (id != data::kBosId || has_start) {
      ids.at(static_cast<size_t>(order.theirs[id])) = static_cast<int64_t>(id);
    }
  }
  renumber(Renumbering(std::move(ids)), tree);
  if (!has_start) {
    tree["model"]["vocab"][kBartStartPiece] = data::kBosId;
    tree["added_tokens"].push_back({{"id", data::kBosId},
                                    {"content", kBartStartPiece},
                                    {"single_word", false},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"normalized", false},
                                    {"special", true}});
  }
  return base::dump_json(tree);
}

std::string bart_tokenizer_for_export(std::string_view text, const std::vector<int64_t>& ours,
                                      const std::string& file) {
  json tree = parse_tokenizer(text, file);
  constexpr int64_t kNone = -1;
  std::vector<int64_t> ids(ours.size() + 1, kNone);  // their id of each of ours
  for (size_t id = 0; id < ours.size(); ++id) {
    ids.at(static_cast<size_t>(ours[id])) = static_cast<int64_t>(id);
  }
  if (ids[data::kBosId] == kNone) {
    tree["model"]["vocab"].erase(kBartStartPiece);
    std::erase_if(tree["added_tokens"].get_ref<json::array_t&>(),
                  [](const json& token) { return token["content"] == kBartStartPiece; });
  }
  renumber(Renumbering(std::move(ids)), tree);
  tree["model"].erase("dragoman");  // the ids that data::Vocabulary::with_special wrote
  return base::dump_json(tree);
}

}  // namespace dragoman::interop
