// The tokenizer.json of a tokenizer.model of Llama: the ids are those of SentencePiece, whose models are trained here.
#include "interop/sentencepiece_tokenizer.h"

#include <gtest/gtest.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <fstream>

#include "base/files.h"
#include "base/random.h"
#include "base/utf8.h"
#include "data/vocabulary/vocabulary.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace dragoman::interop {
namespace {

using base::ErrorKind;
using test_support::expect_error;

const std::vector<std::string> kWords = {"the",   "house", "mouse", "cat",           "running",      "sleeps",
                                         "under", "42",    "1789",  "s\u00fc\u00df", "\u4f60\u597d", "don't",
                                         "a",     "I",     "x=y;",  "\u20ac"};

std::string line_of(base::Random& random) {
  std::string line;
  for (uint64_t words = 1 + random.below(12); words > 0; --words) {
    line += kWords[random.below(kWords.size())] + (random.below(8) == 0 ? "  " : " ");
  }
  return line;
}

// Trains a model as that of Llama. @param more  other options of the trainer
std::string trained_model(const std::filesystem::path& folder, const std::string& more = "") {
  {
    std::ofstream text(folder / "text");
    base::Random random(1, 0);
    for (int i = 0; i < 2000; ++i) {
      text << line_of(random) << "\n";
    }
  }
  const std::string prefix = (folder / "model").string();
  const auto status = sentencepiece::SentencePieceTrainer::Train(  // of options that are given twice the first counts
      more + " --input=" + (folder / "text").string() + " --model_prefix=" + prefix +
      " --model_type=bpe --vocab_size=360 --byte_fallback=true --normalization_rule_name=identity "
      "--remove_extra_whitespaces=false --unk_id=0 --bos_id=1 --eos_id=2 --pad_id=-1 --split_digits=true "
      "--hard_vocab_limit=false --minloglevel=2");
  EXPECT_TRUE(status.ok()) << status.ToString();
  return base::read_file(prefix + ".model");
}

TEST(SentencePieceTokenizer, IdsAreThoseOfSentencePiece) {
  const test_support::TemporaryFolder folder;
  const std::string bytes = trained_model(folder.path());
  sentencepiece::SentencePieceProcessor expected;
  ASSERT_TRUE(expected.LoadFromSerializedProto(bytes).ok());
  const data::Vocabulary vocabulary =
      data::Vocabulary::from_bytes(tokenizer_json_of_sentencepiece(bytes, "tokenizer.model", true), "tokenizer.model");
  EXPECT_EQ(vocabulary.size(), expected.GetPieceSize());
  EXPECT_TRUE(vocabulary.adds_bos());
  EXPECT_EQ(vocabulary.special().bos, 1);
  base::Random random(2, 0);
  std::vector<std::string> texts = {"the cat",         " the", "  a", "a\nb", "\n\n", "\U0001f600 \u0416\u03b1",
                                    "thehouse under.", "\t"};
  for (int i = 0; i < 2000; ++i) {
    std::u32string text = base::decode_utf8(line_of(random));
    for (uint64_t changes = random.below(4); changes > 0; --changes) {
      text[random.below(text.size())] =
          static_cast<char32_t>(0x20 + random.below(random.below(2) == 0 ? 0x60 : 0x3000));
    }
    texts.push_back(base::encode_utf8(text));
  }
  for (const std::string& text : texts) {
    std::vector<int> ids;
    ASSERT_TRUE(expected.Encode(text, &ids).ok());
    EXPECT_EQ(vocabulary.encode(text), std::vector<int32_t>(ids.begin(), ids.end())) << text;
    EXPECT_EQ(vocabulary.decode(vocabulary.encode(text)), text);
  }
}

TEST(SentencePieceTokenizer, OtherModelsAreRefused) {
  const test_support::TemporaryFolder folder;
  const auto expect_refused = [&](const std::string& bytes, const std::string& text) {
    expect_error(ErrorKind::kBadData, {"tokenizer.model", text},
                 [&] { static_cast<void>(tokenizer_json_of_sentencepiece(bytes, "tokenizer.model", true)); });
  };
  expect_refused(trained_model(folder.path(), "--model_type=unigram"), "is a unigram model");
  expect_refused(trained_model(folder.path(), "--normalization_rule_name=nmt_nfkc"), "changes text before it is cut");
  expect_refused(trained_model(folder.path(), "--remove_extra_whitespaces=true"), "changes text before it is cut");
  expect_refused("", "has 0 bytes");
  expect_refused("{}", "tokenizer.model");
  std::string cut = trained_model(folder.path());
  expect_refused(cut.substr(0, cut.size() / 2), "cut short");
}

}  // namespace
}  // namespace dragoman::interop
