#include "data/vocabulary/vocabulary.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <set>
#include <thread>

#include "base/files.h"
#include "base/utf8.h"
#include "data/text/text_file.h"
#include "data/vocabulary/subword_sampler.h"
#include "data_test_support.h"
#include "support/corpora.h"
#include "support/temporary_folder.h"

namespace dragoman::data {
namespace {

using base::ErrorKind;
using Type = VocabularyOptions::Type;

std::string squeezed(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' && c != '\t') {
      out.push_back(c);
    } else if (!out.empty() && out.back() != ' ') {
      out.push_back(' ');
    }
  }
  if (out.ends_with(' ')) {
    out.pop_back();
  }
  return out;
}

std::string random_line(base::Random& random) {
  static const std::vector<std::string> parts = {"haus",   "hund", " ",    "  ",          "läuft", "x",
                                                 "\xFF",   "<s>",  "</s>", "<unk>",       "\t",    "\xE2\x96\x81",
                                                 "<0x41>", "漢",   "é",    "\xE2\x80\xA8"};
  std::string line;
  for (uint64_t i = random.below(12); i > 0; --i) {
    line += parts[random.below(parts.size())];
  }
  return line;
}

class EachVocabulary : public testing::TestWithParam<std::pair<Type, bool>> {
 protected:
  Vocabulary vocabulary_ = toy_vocabulary(GetParam().first, GetParam().second);
};

INSTANTIATE_TEST_SUITE_P(All, EachVocabulary,
                         testing::Values(std::pair(Type::kUnigram, false), std::pair(Type::kUnigram, true),
                                         std::pair(Type::kBpe, false), std::pair(Type::kBpe, true)));

TEST(WholeWords, AreOnePieceBehindASpace) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += "the dog didn't eat the state-of-the-art cake\nwhy didn't it\n";
  }
  const test_support::TemporaryFolder folder;
  base::write_file_atomic(folder.path() / "text", text);
  for (const Type type : {Type::kUnigram, Type::kBpe}) {
    VocabularyOptions options;
    options.size = 60;
    options.type = type;
    options.whole_words = "didn't,state-of-the-art";
    const Vocabulary vocabulary = train_vocabulary({folder.path() / "text"}, options).vocabulary;
    const std::string line = "why didn't the state-of-the-art dog eat";
    std::set<std::string> pieces;
    for (const int32_t id : vocabulary.encode(line)) {
      pieces.insert(vocabulary.piece(id));
    }
    EXPECT_TRUE(pieces.contains("\u2581didn't")) << base::name_of(type);
    EXPECT_TRUE(pieces.contains("\u2581state-of-the-art")) << base::name_of(type);
    EXPECT_EQ(vocabulary.decode(vocabulary.encode(line)), line);
    for (const char* wrong : {"a,,b", "a b", ",a"}) {
      options.whole_words = wrong;
      EXPECT_THROW(train_vocabulary({folder.path() / "text"}, options), base::Error) << wrong;
    }
  }
}

TEST_P(EachVocabulary, SpecialPiecesAreAlwaysTheFirstFour) {
  EXPECT_EQ(vocabulary_.piece(kPadId), "<pad>");
  EXPECT_EQ(vocabulary_.piece(kUnkId), "<unk>");
  EXPECT_EQ(vocabulary_.piece(kBosId), "<s>");
  EXPECT_EQ(vocabulary_.piece(kEosId), "</s>");
  EXPECT_EQ(vocabulary_.is_bpe(), GetParam().first == Type::kBpe);
  EXPECT_EQ(vocabulary_.has_byte_fallback(), GetParam().second);
  for (int32_t id = 0; id < vocabulary_.size(); ++id) {
    ASSERT_EQ(vocabulary_.id(vocabulary_.piece(id)), id);
  }
}

TEST_P(EachVocabulary, DecodeUndoesEncode) {
  base::Random random(11);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::string line = random_line(random);
    const std::vector<int32_t> ids = vocabulary_.encode(line);
    for (const int32_t id : ids) {
      ASSERT_TRUE(id == kUnkId || (id > kEosId && id < vocabulary_.size())) << id << " in " << line;
    }
    const std::string decoded = vocabulary_.decode(ids);
    ASSERT_TRUE(base::is_valid_utf8(decoded)) << line;
    ASSERT_EQ(decoded.find('\n'), std::string::npos) << line;
    if (std::count(ids.begin(), ids.end(), kUnkId) == 0) {
      ASSERT_EQ(decoded, vocabulary_.normalize(line)) << line;
    }
  }
}

TEST_P(EachVocabulary, ASampledCutSpellsTheSameText) {
  base::Random lines(12), random(13);
  std::set<std::vector<int32_t>> cuts;
  for (int trial = 0; trial < 2000; ++trial) {
    const std::string line = random_line(lines);
    const std::vector<int32_t> ids = vocabulary_.encode_sampled(line, 0.1, random);
    ASSERT_EQ(vocabulary_.decode(ids), vocabulary_.decode(vocabulary_.encode(line))) << line;
    cuts.insert(vocabulary_.encode_sampled("der hund läuft nicht", 0.1, random));
  }
  EXPECT_GT(cuts.size(), 5u);
}

// Unigram with much smoothing, or BPE without dropout: the sampler must find SentencePiece's own cut.
TEST_P(EachVocabulary, SamplingWithoutNoiseIsTheBestCut) {
  const double alpha = GetParam().first == Type::kBpe ? 0.0 : 1e4;
  base::Random lines(14), random(15);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::string line = random_line(lines);
    ASSERT_EQ(vocabulary_.encode_sampled(line, alpha, random), vocabulary_.encode(line)) << line;
  }
}

TEST_P(EachVocabulary, SamplingRepeatsWithItsSeedInAnyThread) {
  const auto draw = [this](uint64_t seed) {
    base::Random random(seed);
    std::vector<int32_t> all;
    for (int i = 0; i < 50; ++i) {
      const auto ids = vocabulary_.encode_sampled("die katze schläft und der hund läuft", 0.1, random);
      all.insert(all.end(), ids.begin(), ids.end());
    }
    return all;
  };
  std::vector<std::vector<int32_t>> seen(4);
  std::vector<std::thread> threads;  // first, for whoever samples first makes what sampling takes
  for (auto& result : seen) {
    threads.emplace_back([&result, &draw] { result = draw(1); });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  const auto expected = draw(1);
  EXPECT_NE(draw(2), expected);
  for (const auto& result : seen) {
    EXPECT_EQ(result, expected);
  }
}

TEST_P(EachVocabulary, ModelBytesRoundTrip) {
  const Vocabulary again = Vocabulary::from_bytes(vocabulary_.bytes(), "again.spm");
  EXPECT_EQ(again.sha256(), vocabulary_.sha256());
  EXPECT_EQ(again.sha256(), base::sha256_hex(vocabulary_.bytes()));
  EXPECT_EQ(again.encode("der hund läuft"), vocabulary_.encode("der hund läuft"));
}

TEST_P(EachVocabulary, BlankTextHasNoIds) {
  for (const char* blank : {"", " ", "\t \t", "\xC2\xA0", "\xE3\x80\x80"}) {
    EXPECT_TRUE(vocabulary_.encode(blank).empty()) << testing::PrintToString(blank);
    EXPECT_TRUE(encode_source(vocabulary_, blank).empty());
  }
  EXPECT_EQ(encode_source(vocabulary_, "haus").back(), kEosId);
  EXPECT_EQ(vocabulary_.decode({}), "");
}

TEST_P(EachVocabulary, IdsOutOfRangeAreErrors) {
  for (const int32_t id : {-1, vocabulary_.size(), 1 << 30}) {
    const std::vector<int32_t> ids{4, id};
    EXPECT_THAT(error_of(ErrorKind::kRuntime, [&] { static_cast<void>(vocabulary_.decode(ids)); }),
                testing::HasSubstr("id " + std::to_string(id)));
    error_of(ErrorKind::kRuntime, [&] { vocabulary_.piece(id); });
  }
}

TEST(Vocabulary, BytePiecesNeverBreakALine) {
  const Vocabulary vocabulary = toy_vocabulary(Type::kUnigram, true);
  base::Random random(16);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<int32_t> ids(random.below(20));
    for (int32_t& id : ids) {
      id = static_cast<int32_t>(random.below(static_cast<uint64_t>(vocabulary.size())));
    }
    const std::string text = vocabulary.decode(ids);
    ASSERT_TRUE(base::is_valid_utf8(text));
    ASSERT_EQ(text.find_first_of(std::string("\n\r\0", 3)), std::string::npos);
  }
}

TEST(Vocabulary, TheSameTextAndOptionsGiveTheSameBytes) {
  const TemporaryFolder folder;
  const auto file = folder.write("toy.txt", toy_text(3000, 1));
  VocabularyOptions options;
  options.size = 40;
  options.max_lines = 500;
  const TrainedVocabulary first = train_vocabulary({file}, options);
  EXPECT_EQ(first.lines_used, 500u);
  EXPECT_EQ(first.note, "");
  EXPECT_EQ(first.vocabulary.size(), 40);
  EXPECT_EQ(first.vocabulary.bytes(), train_vocabulary({file}, options).vocabulary.bytes());
  options.seed = 2;
  EXPECT_NE(first.vocabulary.bytes(), train_vocabulary({file}, options).vocabulary.bytes());
}

TEST(Vocabulary, ASmallTextGivesTheLargestPossibleVocabularyAndSaysSo) {
  const TemporaryFolder folder;
  const auto file = folder.write("toy.txt", toy_text(50, 1));
  for (const Type type : {Type::kUnigram, Type::kBpe}) {
    VocabularyOptions options;
    options.type = type;
    options.size = 30000;
    const TrainedVocabulary trained = train_vocabulary({file}, options);
    EXPECT_LT(trained.vocabulary.size(), 30000);
    EXPECT_THAT(trained.note, testing::HasSubstr("30000 pieces were asked for"));
    EXPECT_THAT(trained.note, testing::HasSubstr(std::to_string(trained.vocabulary.size())));
  }
}

TEST(Vocabulary, TrainingRefusesWhatCannotWork) {
  const TemporaryFolder folder;
  const auto file = folder.write("toy.txt", toy_text(50, 1));
  const auto refusal = [&](ErrorKind kind, const std::filesystem::path& path, auto change) {
    VocabularyOptions options;
    change(options);
    return error_of(kind, [&] { train_vocabulary({path}, options); });
  };
  EXPECT_THAT(refusal(ErrorKind::kUsage, file, [](auto& options) { options.size = 8; }),
              testing::HasSubstr("too small for the characters"));
  EXPECT_THAT(refusal(ErrorKind::kUsage, file, [](auto& options) { options.size = 3; }),
              testing::HasSubstr("size is 3"));
  EXPECT_THAT(refusal(ErrorKind::kUsage, file, [](auto& options) { options.character_coverage = 0.5; }),
              testing::HasSubstr("character coverage is 0.5"));
  EXPECT_THAT(refusal(ErrorKind::kUsage, file, [](auto& options) { options.normalization = "nfc"; }),
              testing::HasSubstr("\"nfc\""));
  EXPECT_THAT(refusal(ErrorKind::kBadData, folder.write("blank", "\n \n\t\n"), [](auto&) {}),
              testing::HasSubstr("nothing can be learned"));
  for (const char* invisible :
       {"\xE2\x80\xA8\xE2\x80\xA8", "\x01", "\xE2\x96\x81", "a\xE2\x96\x85", "\xFF", "\xE3\x80\x80"}) {
    EXPECT_THAT(refusal(ErrorKind::kBadData, folder.write("invisible", invisible), [](auto&) {}),
                testing::HasSubstr("no line has visible text"));
  }
  EXPECT_THAT(refusal(ErrorKind::kBadData, folder.path() / "none", [](auto&) {}), testing::HasSubstr("cannot open"));
  error_of(ErrorKind::kUsage, [] { train_vocabulary({}, {}); });
}

// On real text: ASCII lines come back as they were but for white space; all lines come back normalised.
TEST(Vocabulary, RealTextComesBack) {
  const std::string names[] = {"multi30k/val.en", "multi30k/val.de", "multi30k/val.fr"};
  if (const std::string missing = test_support::missing_corpora({names[0], names[1], names[2]}); !missing.empty()) {
    GTEST_SKIP() << missing;
  }
  VocabularyOptions options;
  options.size = 2000;
  const std::vector<std::filesystem::path> files = {
      test_support::corpus_file(names[0]), test_support::corpus_file(names[1]), test_support::corpus_file(names[2])};
  const Vocabulary vocabulary = train_vocabulary(files, options).vocabulary;
  for (const auto& file : files) {
    for (const std::string& line : read_lines(file)) {
      const std::string decoded = vocabulary.decode(vocabulary.encode(line));
      ASSERT_EQ(decoded, vocabulary.normalize(line));
      ASSERT_EQ(vocabulary.decode(vocabulary.encode(decoded)), decoded);
      const bool ascii = std::all_of(line.begin(), line.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; });
      if (ascii) {
        ASSERT_EQ(decoded, squeezed(line));
      }
    }
  }
}

TEST(Vocabulary, IdentityNormalizationKeepsFullWidthPunctuation) {
  const TemporaryFolder folder;
  VocabularyOptions options;
  options.size = 40;
  options.normalization = "identity";
  const std::string line = "你好，世界！“…”";
  const auto file = folder.write("zh.txt", line + "\n世界，你好。\n");
  const Vocabulary vocabulary = train_vocabulary({file}, options).vocabulary;
  EXPECT_EQ(vocabulary.decode(vocabulary.encode(line)), line);
}

// The law of the lattice: each cut of "abc" is drawn with its share of exp(alpha * score).
TEST(SubwordSampler, LatticeDrawsEachCutInProportion) {
  const std::vector<ScoredPiece> pieces = {{"a", -1, 4},    {"b", -2, 5},  {"c", -1.5, 6},
                                           {"ab", -2.2, 7}, {"bc", -3, 8}, {"abc", -4, 9}};
  const double alpha = 0.7;
  const std::map<std::vector<int32_t>, double> score = {{{4, 5, 6}, -4.5}, {{7, 6}, -3.7}, {{4, 8}, -4.0}, {{9}, -4.0}};
  double total = 0;
  for (const auto& [cut, sum] : score) {
    total += std::exp(alpha * sum);
  }
  const SubwordSampler sampler(SubwordSampler::Model::kUnigram, pieces, kUnkId);
  base::Random random(17);
  std::map<std::vector<int32_t>, int> seen;
  const int draws = 100000;
  for (int i = 0; i < draws; ++i) {
    std::vector<int32_t> ids;
    for (const auto& segment : sampler.sample("abc", alpha, random)) {
      ids.push_back(segment.id);
    }
    ++seen[ids];
  }
  ASSERT_EQ(seen.size(), score.size());
  for (const auto& [cut, sum] : score) {
    const double expected = std::exp(alpha * sum) / total;
    EXPECT_NEAR(seen[cut] / static_cast<double>(draws), expected, 5 * std::sqrt(expected / draws))
        << testing::PrintToString(cut);
  }
}

TEST(SubwordSampler, FullDropoutLeavesCharacters) {
  const Vocabulary vocabulary = toy_vocabulary(Type::kBpe);
  base::Random random(18);
  const auto ids = vocabulary.encode_sampled("hund", 1.0, random);
  ASSERT_EQ(ids.size(), 5u) << "the space before, then four letters";
}

}  // namespace
}  // namespace dragoman::data
