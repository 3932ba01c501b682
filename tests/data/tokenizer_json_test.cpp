#include "data/vocabulary/tokenizer_json.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "data/vocabulary/tokenizer_makers.h"
#include "data_test_support.h"

namespace dragoman::data {
namespace {

using base::ErrorKind;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

json token(int64_t id, const std::string& content, bool special = true) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", special}};
}

json small_file() {
  return json::parse(R"({
    "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
    "pre_tokenizer": null, "post_processor": null, "decoder": {"type": "Fuse"},
    "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
              "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
              "vocab": {"a": 0, "b": 1, "ab": 2, " ": 3}, "merges": ["a b"]}})");
}

Vocabulary read(const json& file) {
  return Vocabulary::from_bytes(file.dump(), "t.json");
}

// The error when the value at `pointer` of a good file is `value`.
std::string refusal(const std::string& pointer, json value) {
  json file = small_file();
  file[json::json_pointer(pointer)] = std::move(value);
  return error_of(ErrorKind::kBadData, [&] { read(file); });
}

TEST(TokenizerJson, ReadsMergesInBothSpellings) {
  json file = small_file();
  EXPECT_THAT(read(file).encode("aabb a"), ElementsAre(0, 2, 1, 3, 0));
  file["model"]["merges"] = json::array({json::array({"a", "b"})});
  EXPECT_THAT(read(file).encode("aabb a"), ElementsAre(0, 2, 1, 3, 0));
  file["model"].erase("type");  // as in the oldest files
  EXPECT_THAT(read(file).encode("ab"), ElementsAre(2));
}

TEST(TokenizerJson, AddedTokensTakeTheLongestAndTheirSpaces) {
  json file = small_file();
  file["added_tokens"] = {token(4, "<x>"), token(5, "<x>y"), token(6, "W")};
  file["added_tokens"][0]["lstrip"] = true;
  file["added_tokens"][1]["rstrip"] = true;
  file["added_tokens"][2]["single_word"] = true;
  const Vocabulary vocabulary = read(file);
  EXPECT_THAT(vocabulary.encode("a <x> a"), ElementsAre(0, 4, 3, 0));
  EXPECT_THAT(vocabulary.encode("a <x>y a"), ElementsAre(0, 3, 5, 0));
  EXPECT_THAT(vocabulary.encode("W aW a W"), ElementsAre(6, 3, 0, 3, 0, 3, 6));
}

TEST(TokenizerJson, KnowsWhatStandsBeforeAText) {
  json file = small_file();
  file["added_tokens"] = {token(4, "<s>"), token(5, "</s>")};
  file["post_processor"] = json::parse(R"({"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": [4], "tokens": ["<s>"]}}})");
  const Vocabulary vocabulary = read(file);
  EXPECT_TRUE(vocabulary.adds_bos());
  EXPECT_EQ(vocabulary.special(), (SpecialIds{.bos = 4, .eos = {5}}));
  EXPECT_THAT(vocabulary.encode("a"), ElementsAre(0));
  EXPECT_EQ(vocabulary.frame(), (TextFrame{.first = 4}));
  file["post_processor"]["single"].push_back(file["post_processor"]["single"][0]);
  EXPECT_EQ(read(file).frame(), (TextFrame{.first = 4, .last = 4}));
  file["post_processor"]["single"].push_back(file["post_processor"]["single"][0]);
  EXPECT_THAT(error_of(ErrorKind::kBadData, [&] { read(file); }), HasSubstr("at most one token before"));
}

TEST(TokenizerJson, KnowsWhatStandsAroundTwoTexts) {
  json file = small_file();
  file["added_tokens"] = {token(4, "<s>"), token(5, "</s>")};
  file["post_processor"] = {{"type", "RobertaProcessing"}, {"sep", {"</s>", 5}}, {"cls", {"<s>", 4}}};
  const TextFrame two_separators{.first = 4, .last = 5, .separators = 2};
  EXPECT_EQ(read(file).frame(), two_separators);
  file["post_processor"]["type"] = "BertProcessing";
  EXPECT_EQ(read(file).frame(), (TextFrame{.first = 4, .last = 5, .separators = 1}));
  const auto named = [](const char* id) { return json{{"SpecialToken", {{"id", id}, {"type_id", 0}}}}; };
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  file["post_processor"] = {
      {"type", "TemplateProcessing"},
      {"single", json::array({named("<s>"), text, named("</s>")})},
      {"pair", json::array({named("<s>"), text, named("</s>"), named("</s>"), text, named("</s>")})},
      {"special_tokens",
       {{"<s>", {{"id", "<s>"}, {"ids", json::array({4})}}}, {"</s>", {{"id", "</s>"}, {"ids", json::array({5})}}}}}};
  EXPECT_EQ(read(file).frame(), two_separators);
}

TEST(TokenizerJson, UnknownCharactersAreUnkOrLeftOut) {
  json file = small_file();
  EXPECT_THAT(read(file).encode("axyb"), ElementsAre(2));  // as `tokenizers`: a and b become neighbours
  file["model"]["vocab"]["?"] = 4;
  file["model"]["unk_token"] = "?";
  EXPECT_THAT(read(file).encode("axyb"), ElementsAre(0, 4, 4, 1));
  file["model"]["fuse_unk"] = true;
  EXPECT_THAT(read(file).encode("axyb"), ElementsAre(0, 4, 1));
}

TEST(TokenizerJson, RefusesByNameWhatItDoesNotKnow) {
  EXPECT_THAT(refusal("/model/type", "Unigram"), HasSubstr("t.json: model.type is \"Unigram\"; known are BPE"));
  EXPECT_THAT(refusal("/version", "2.0"), HasSubstr("version is \"2.0\""));
  EXPECT_THAT(refusal("/modle", 1), HasSubstr("did you mean \"model\""));
  EXPECT_THAT(refusal("/model/end_of_word_suffix", "</w>"), HasSubstr("</w>"));
  EXPECT_THAT(refusal("/model/dropout", 0.1), HasSubstr("dropout is 0.1"));
  EXPECT_THAT(refusal("/normalizer", {{"type", "Lowercase"}}), HasSubstr("normalizer.type is \"Lowercase\""));
  EXPECT_THAT(refusal("/pre_tokenizer", {{"type", "Whitespace"}}),
              HasSubstr("known are BertPreTokenizer, ByteLevel, Digits"));
  EXPECT_THAT(refusal("/pre_tokenizer", json::parse(R"({"type": "Sequence", "pretokenizers": [{"type": "X"}]})")),
              HasSubstr("pre_tokenizer.pretokenizers[0].type is \"X\""));
  EXPECT_THAT(refusal("/pre_tokenizer", json::parse(R"({"type": "Split", "pattern": {"Regex": "\\w+"},
                                                        "behavior": "Isolated", "invert": false})")),
              HasSubstr("\\w+"));
  EXPECT_THAT(refusal("/post_processor", {{"type", "PostX"}}), HasSubstr("post_processor.type is \"PostX\""));
  EXPECT_THAT(refusal("/post_processor", {{"type", "BertProcessing"}}), HasSubstr("\"post_processor.cls\" is missing"));
  EXPECT_THAT(refusal("/decoder", {{"type", "CTC"}}), HasSubstr("decoder.type is \"CTC\""));
  EXPECT_THAT(refusal("/decoder", {{"type", "WordPiece"}, {"prefix", "##"}}),
              HasSubstr("decoder is WordPiece, but model is not"));
  EXPECT_THAT(refusal("/decoder", nullptr), HasSubstr("decoder is missing"));
  EXPECT_THAT(refusal("/decoder", {{"type", "ByteLevel"}}), HasSubstr("must both be ByteLevel"));
  EXPECT_THAT(refusal("/added_tokens", {{{"id", 4}, {"content", "x"}, {"colour", 1}}}), HasSubstr("colour"));
}

TEST(TokenizerJson, RefusesDamagedFiles) {
  EXPECT_THAT(refusal("/model", 3), HasSubstr("model"));
  EXPECT_THAT(refusal("/model/vocab", json::array()), HasSubstr("model.vocab must be an object"));
  EXPECT_THAT(refusal("/model/vocab", json::object()), HasSubstr("at least one piece"));
  EXPECT_THAT(refusal("/model/vocab/b", 0), HasSubstr("id 0 belongs to the pieces"));
  EXPECT_THAT(refusal("/model/vocab/b", 4), HasSubstr("must be the integers 0 to 3"));
  EXPECT_THAT(refusal("/model/vocab/b", -1), HasSubstr("must be the integers 0 to 3"));
  EXPECT_THAT(refusal("/model/vocab/b", 1.5), HasSubstr("must be the integers 0 to 3"));
  EXPECT_THAT(refusal("/model/vocab/b", "1"), HasSubstr("must be the integers 0 to 3"));
  EXPECT_THAT(refusal("/model/vocab/" + std::string(5000, 'x'), 4), HasSubstr("5000 bytes"));
  EXPECT_THAT(refusal("/model/merges", "a b"), HasSubstr("merges"));
  EXPECT_THAT(refusal("/model/merges/0", "b a"), HasSubstr("merge 1 is \"b a\", and \"ba\" is no piece"));
  EXPECT_THAT(refusal("/model/merges/0", "a c"), HasSubstr("\"c\" is no piece"));
  EXPECT_THAT(refusal("/model/merges/0", "ab"), HasSubstr("merge 1"));
  EXPECT_THAT(refusal("/model/merges/0", {1, 2}), HasSubstr("merge 1"));
  EXPECT_THAT(refusal("/model/unk_token", "x"), HasSubstr("unk_token"));
  EXPECT_THAT(refusal("/added_tokens", {token(4, "")}), HasSubstr("empty"));
  EXPECT_THAT(refusal("/added_tokens", {token(9, "<x>")}), HasSubstr("the next free id is 4"));
  EXPECT_THAT(refusal("/added_tokens", {token(1, "ab")}), HasSubstr("in model.vocab it has 2"));
  EXPECT_THAT(refusal("/added_tokens", {token(4, "<x>"), token(5, "<x>")}), HasSubstr("stands twice"));
  EXPECT_THAT(refusal("/model/dragoman", {{"pad", -1}, {"unk", -1}, {"bos", 4}, {"eos", json::array()}}),
              HasSubstr("bos"));
}

TEST(TokenizerJson, RefusesTextThatIsNoJson) {
  const auto error = [](const std::string& text) {
    return error_of(ErrorKind::kBadData, [&] { Vocabulary::from_bytes(text, "t.json"); });
  };
  EXPECT_THAT(error(R"({"a":)" + std::string(1'000'000, '[')), HasSubstr("nests deeper"));
  EXPECT_THAT(error("{"), HasSubstr("t.json"));
  EXPECT_THAT(error("{}"), HasSubstr("\"model\" is missing"));
  EXPECT_THAT(error(R"({"model": {"vocab": {"a": 0, "a": 1}}})"), HasSubstr("stands twice"));
  EXPECT_THAT(error("{\"\xFF\": 1}"), HasSubstr("UTF-8"));
}

// Any change of one byte gives a vocabulary or an error, never anything else.
TEST(TokenizerJson, SurvivesChangedBytes) {
  const std::string good = small_file().dump();
  base::Random random(6);
  for (int trial = 0; trial < 5000; ++trial) {
    std::string text = good;
    text[1 + random.below(text.size() - 1)] = static_cast<char>(32 + random.below(96));
    try {
      const Vocabulary vocabulary = Vocabulary::from_bytes(text, "t.json");
      (void)vocabulary.decode(vocabulary.encode("aabb ab é"));
    } catch (const base::Error&) {
    }
  }
}

TEST(VocabAndMerges, AreTheTwoFilesOfGpt2) {
  const Vocabulary vocabulary =
      from_vocab_and_merges(R"({"a": 0, "b": 1, "ab": 2, "<|endoftext|>": 3})", "#version: 0.2\na b\n");
  EXPECT_THAT(vocabulary.encode("ab<|endoftext|>ba"), ElementsAre(2, 3, 1, 0));
  EXPECT_EQ(vocabulary.special(), (SpecialIds{.bos = 3, .eos = {3}}));
  EXPECT_EQ(error_of(ErrorKind::kBadData, [] { from_vocab_and_merges(R"({"a": 0})", "a\n"); }),
            "merges.txt: line 1 is \"a\", must be two pieces with a space between them");
  EXPECT_THAT(error_of(ErrorKind::kBadData, [] { from_vocab_and_merges("[]", ""); }), HasSubstr("vocab.json"));
}

}  // namespace
}  // namespace dragoman::data
