// Tokenizers that a user brings: a SentencePiece model of another program cuts text here as it does there.
#include "data/vocabulary/tokenizer_file.h"

#include <gmock/gmock.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include "base/files.h"
#include "data_test_support.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace dragoman::data {
namespace {

using test_support::error_of;
using testing::HasSubstr;

// Models as `spm_train` makes them; by default pad is missing, and unk, bos, eos are 0, 1, 2.
class ForeignModel : public testing::TestWithParam<const char*> {
 protected:
  ForeignModel() : file_(folder_.path() / "foreign.model") {
    base::write_file_atomic(folder_.path() / "toy.txt", toy_text(400, 1));
    const auto status = sentencepiece::SentencePieceTrainer::Train(
        "--minloglevel=2 --hard_vocab_limit=false --input=" + (folder_.path() / "toy.txt").string() +
        " --model_prefix=" + (folder_.path() / "foreign").string() + " " + GetParam());
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_TRUE(theirs_.Load(file_.string()).ok());
  }

  test_support::TemporaryFolder folder_;
  std::filesystem::path file_;
  sentencepiece::SentencePieceProcessor theirs_;
};
INSTANTIATE_TEST_SUITE_P(
    Options, ForeignModel,
    testing::Values("--vocab_size=60", "--vocab_size=60 --model_type=bpe", "--vocab_size=320 --byte_fallback=true",
                    "--vocab_size=60 --pad_id=0 --eos_id=1 --unk_id=2 --bos_id=-1",
                    "--vocab_size=60 --user_defined_symbols=<sep>,haus,<pad> --control_symbols=<mask>",
                    "--vocab_size=60 --pad_id=3 --pad_piece=[PAD] --unk_piece=[UNK]"));

TEST_P(ForeignModel, CutsTextAsThere) {
  const Vocabulary ours = read_tokenizer_file(file_);
  EXPECT_EQ(ours.special(), (SpecialIds{.pad = 0, .unk = 1, .bos = 2, .eos = {3}}));
  std::vector<std::string> lines = {"haus<sep>hund<pad>", "z漢z", "haus haus", "<mask> hund </s> [PAD]"};
  const std::string text = toy_text(200, 5);
  for (size_t begin = 0, end = text.find('\n'); end != std::string::npos;
       begin = end + 1, end = text.find('\n', begin)) {
    lines.push_back(text.substr(begin, end - begin));
  }
  for (const std::string& line : lines) {
    std::vector<std::string> expected;
    std::vector<int> their_ids;
    ASSERT_TRUE(theirs_.Encode(line, &expected).ok() && theirs_.Encode(line, &their_ids).ok());
    const std::vector<int32_t> ids = ours.encode(line);
    ASSERT_EQ(ids.size(), expected.size()) << line;
    for (size_t i = 0; i < ids.size(); ++i) {
      EXPECT_EQ(ours.piece(ids[i]), theirs_.IsUnknown(their_ids[i]) ? "<unk>" : expected[i]) << line;
    }
    std::string decoded;
    ASSERT_TRUE(theirs_.Decode(expected, &decoded).ok());
    if (std::ranges::find(ids, kUnkId) == ids.end()) {
      EXPECT_EQ(ours.decode(ids), decoded);
    }
  }
}

TEST_P(ForeignModel, StaysWhatItIsWhenItIsReadAgain) {
  const Vocabulary ours = read_tokenizer_file(file_);
  base::write_file_atomic(file_, ours.bytes());
  EXPECT_EQ(read_tokenizer_file(file_).bytes(), ours.bytes());
  EXPECT_EQ(Vocabulary::from_file(file_).bytes(), ours.bytes());
}

TEST_P(ForeignModel, ADamagedOneIsRefused) {
  const std::string bytes = base::read_file(file_);
  base::write_file_atomic(file_, bytes.substr(0, bytes.size() / 2));
  EXPECT_THAT(error_of([&] { static_cast<void>(read_tokenizer_file(file_)); }), HasSubstr("foreign.model"));
}

TEST(TokenizerFile, OurModelsStayAsTheyAre) {
  const test_support::TemporaryFolder folder;
  const Vocabulary own = toy_vocabulary();
  base::write_file_atomic(folder.path() / "own.spm", own.bytes());
  EXPECT_EQ(read_tokenizer_file(folder.path() / "own.spm").bytes(), own.bytes());
}

}  // namespace
}  // namespace dragoman::data
