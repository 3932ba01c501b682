// What encoders are trained on: labelled and tagged texts, ids of texts in their frame, hidden pieces, a vocabulary of
// word pieces.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "data/encoder_input.h"
#include "data/input_examples.h"
#include "data/labels.h"
#include "data/masked_examples.h"
#include "data/text/labelled_text.h"
#include "data/vocabulary/tokenizer_makers.h"
#include "data/vocabulary/word_piece_trainer.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace dragoman::data {
namespace {

using base::ErrorKind;
using test_support::expect_error;

constexpr std::string_view kText =
    "the cat sleeps near the river. the dog sleeps near the house, the cows sleep! unhappiness and happiness, unhappy "
    "cats; the sleeping dogs";

Vocabulary word_pieces(int32_t size = 90) {
  const std::string_view texts[] = {kText};
  return train_word_piece(texts, {.size = size});
}

class LabelledFiles : public testing::Test {
 protected:
  std::vector<std::filesystem::path> file(const std::string& text) {
    std::ofstream(folder_.path() / "t.tsv") << text;
    return {folder_.path() / "t.tsv"};
  }
  test_support::TemporaryFolder folder_;
};

TEST_F(LabelledFiles, TextsAndPairsAreRead) {
  const auto texts =
      read_labelled_texts(file("1\ta \"quoted\" text\n0\tb\xC2\xA0"
                               "b\n"));
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[0].label, "1");
  EXPECT_EQ(texts[0].text.first, "a \"quoted\" text");
  EXPECT_FALSE(texts[0].text.second.has_value());
  EXPECT_EQ(texts[1].text.first,
            "b\xC2\xA0"
            "b");
  EXPECT_EQ(texts[1].place, (folder_.path() / "t.tsv").string() + ":2") << "two folders may hold the same name";
  EXPECT_EQ(read_labelled_texts(file("x\ta\tb\n"))[0].text.second, "b");
}

TEST_F(LabelledFiles, LinesThatAreNoExamplesAreNamed) {
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"1\ta\tb\n0\tc\n", {"t.tsv:2: has 2 columns", "half of a pair is missing"}},
      {"1\ta\n0\tc\td\n", {"t.tsv:2: has 3 columns", "on all lines or on none"}},
      {"1\ta\n\n", {"t.tsv:2: has 1 column, must be a label and a text"}},
      {"1\ta\tb\n0\tc\t \n", {"t.tsv:2: the second text is empty"}},
      {"1\ta\n0\t\n", {"t.tsv:2: the text is empty"}},
      {"\ta\n", {"t.tsv:1: the label is empty"}},
      {"1\ta\tb\tc\n", {"t.tsv:1: has 4 columns"}}};
  for (const auto& [text, parts] : cases) {
    expect_error(ErrorKind::kBadData, parts, [&, text = text] { read_labelled_texts(file(text)); });
  }
}

TEST_F(LabelledFiles, TaggedWordsAreRead) {
  const std::string columns = "the\tDT\tB-NP\ncat\tNN\tI-NP\n\n\nruns\tVB\tB-VP\n";
  for (const std::string& text : {columns, [&] {
                                    std::string blanks = columns;
                                    std::ranges::replace(blanks, '\t', ' ');
                                    return blanks;
                                  }()}) {
    const auto sentences = read_tagged_words(file(text));
    ASSERT_EQ(sentences.size(), 2U);
    EXPECT_EQ(sentences[0].words, (std::vector<std::string>{"the", "cat"}));
    EXPECT_EQ(sentences[0].tags, (std::vector<std::string>{"B-NP", "I-NP"}));
    EXPECT_EQ(sentences[1].place, (folder_.path() / "t.tsv").string() + ":5");
  }
  EXPECT_EQ(read_tagged_words(file("the\ncat\n"), false)[0].words.size(), 2U);
  expect_error(ErrorKind::kBadData, {"t.tsv:2: has 1 column, must be a word and its tag"},
               [&] { read_tagged_words(file("the\tDT\ncat\n")); });
  expect_error(ErrorKind::kBadData, {"t.tsv:1: has an empty tag"}, [&] { read_tagged_words(file("the\t\n")); });
}

TEST(Labels, GoIntoAFileAndComeBack) {
  const Labels labels = labels_of({"b", "a", "b", "\"c\""});
  EXPECT_EQ(labels.names(), (std::vector<std::string>{"\"c\"", "a", "b"}));
  EXPECT_EQ(Labels::from_json(labels.to_json(), "labels.json").names(), labels.names());
  EXPECT_EQ(labels.id("b"), 2);
  EXPECT_EQ(labels.id("d"), -1);
  for (const char* text : {"[]", R"({"labels": ["a", 1]})", R"({"labels": ["a", "a"]})", R"({"labels": [""]})", "{"}) {
    expect_error(ErrorKind::kBadData, {"labels.json"}, [&] { Labels::from_json(text, "labels.json"); });
  }
}

TEST(WordPieceTrainer, EveryWordOfTheTextHasPiecesAndFrequentOnesAreWhole) {
  const Vocabulary vocabulary = word_pieces();
  EXPECT_LE(vocabulary.size(), 90);
  const std::vector<int32_t> ids = vocabulary.encode(kText);
  EXPECT_EQ(std::ranges::count(ids, vocabulary.special().unk), 0);
  EXPECT_EQ(vocabulary.pieces(vocabulary.encode("the Sleep")), (std::vector<std::string>{"the", "sleep"}));
  EXPECT_EQ(vocabulary.pieces(vocabulary.encode("tteh")), (std::vector<std::string>{"t", "##t", "##e", "##h"}))
      << "a word that the text lacks, of its characters";
  EXPECT_EQ(vocabulary.piece(vocabulary.frame().first), "[CLS]");
  EXPECT_EQ(word_pieces().sha256(), vocabulary.sha256());
  EXPECT_LT(word_pieces(60).size(), vocabulary.size());
  expect_error(ErrorKind::kUsage, {"vocabulary", "20", "pieces"}, [] { word_pieces(20); });
  const std::string_view nothing[] = {" \n"};
  expect_error(ErrorKind::kBadData, {"holds no word"}, [&] { train_word_piece(nothing, {}); });
}

TEST(EncoderInput, PairsStandInTheirFrameAndTheLongerTextIsCut) {
  const Vocabulary vocabulary = word_pieces();
  const int32_t cls = vocabulary.frame().first, sep = vocabulary.frame().last;
  const int32_t the = vocabulary.id("the"), sleep = vocabulary.id("sleep");
  EncoderInput input = encoder_input(vocabulary, {"the", "sleep the"}, 20);
  EXPECT_EQ(input.ids, (std::vector<int32_t>{cls, the, sep, sleep, the, sep}));
  EXPECT_EQ(input.second_begin, 3);
  EXPECT_FALSE(input.is_cut);
  input = encoder_input(vocabulary, {"the", "sleep the the the the"}, 7);
  EXPECT_EQ(input.ids, (std::vector<int32_t>{cls, the, sep, sleep, the, the, sep}));
  EXPECT_TRUE(input.is_cut);
  input = encoder_input(vocabulary, {"the the the the the", "sleep sleep sleep sleep"}, 7);
  EXPECT_EQ(input.ids, (std::vector<int32_t>{cls, the, the, sep, sleep, sleep, sep}));
  input = encoder_input(vocabulary, {"the the the", std::nullopt}, 4);
  EXPECT_EQ(input.ids, (std::vector<int32_t>{cls, the, the, sep}));
  EXPECT_TRUE(input.is_cut);
  EXPECT_EQ(encoder_input(vocabulary, {"", std::nullopt}, 4).ids, (std::vector<int32_t>{cls, sep}));
}

TEST(EncoderInput, WordsAreFoundByTheirFirstPiecesAndLongSentencesBecomeParts) {
  const Vocabulary vocabulary = word_pieces();
  const std::vector<std::string> words = {"the", "tteh", "\xE2\x80\x8B", "sleep", "the"};
  const std::vector<EncoderInput> whole = word_inputs(vocabulary, words, 20);
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_EQ(whole[0].word_rows, (std::vector<int32_t>{1, 2, 6, 7, 8}));
  EXPECT_EQ(whole[0].ids[6], vocabulary.special().unk) << "a word of which nothing is left";
  const std::vector<EncoderInput> parts = word_inputs(vocabulary, words, 6);
  size_t rows = 0;
  for (const EncoderInput& part : parts) {
    EXPECT_LE(part.ids.size(), 6U);
    rows += part.word_rows.size();
  }
  EXPECT_EQ(rows, words.size());
  EXPECT_TRUE(word_inputs(vocabulary, {"tteh"}, 4)[0].is_cut);
}

TEST(EncoderInput, WindowsShareTheirLastPieces) {
  const Vocabulary vocabulary = word_pieces();
  const int32_t cls = vocabulary.frame().first, sep = vocabulary.frame().last;
  const int32_t the = vocabulary.id("the"), sleep = vocabulary.id("sleep");
  const TextOrPair text = {"the sleep the sleep the", std::nullopt};
  const std::vector<EncoderInput> windows = encoder_windows(vocabulary, text, 5, 1);
  ASSERT_EQ(windows.size(), 2U);
  EXPECT_EQ(windows[0].ids, (std::vector<int32_t>{cls, the, sleep, the, sep}));
  EXPECT_EQ(windows[1].ids, (std::vector<int32_t>{cls, the, sleep, the, sep}));
  EXPECT_EQ(encoder_windows(vocabulary, text, 7, 1).size(), 1U) << "it fits";
  EXPECT_EQ(encoder_windows(vocabulary, text, 5, 0)[0].ids, encoder_input(vocabulary, text, 5).ids) << "cut";
  EXPECT_EQ(encoder_windows(vocabulary, {"", std::nullopt}, 5, 1)[0].ids, (std::vector<int32_t>{cls, sep}));
  EXPECT_TRUE(encoder_windows(vocabulary, {"the the the", "sleep sleep"}, 6, 1)[0].is_cut) << "pairs are cut";
  expect_error(ErrorKind::kUsage, {"stride is 3, must be below 3"}, [&] { encoder_windows(vocabulary, text, 5, 3); });

  const std::vector<std::string> words = {"the", "sleep", "tteh", "the", "sleep", "the"};
  const std::vector<EncoderInput> parts = word_inputs(vocabulary, words, 8, 2);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].word_rows.size(), 3U) << "the fourth word does not fit";
  EXPECT_EQ(parts[1].first_word, 3U) << "the third has four pieces, more than neighbours share";
  const std::vector<EncoderInput> shared = word_inputs(vocabulary, {"the", "sleep", "the", "sleep", "the"}, 5, 2);
  ASSERT_EQ(shared.size(), 3U);
  EXPECT_EQ(shared[1].first_word, 1U);
  EXPECT_EQ(shared[1].word_rows.size(), 3U);
  EXPECT_EQ(shared[2].first_word, 2U);
}

MaskedExamples masked(const MaskedTextOptions& options) {
  const Vocabulary vocabulary = word_pieces();
  std::vector<std::string> documents;
  for (int i = 0; i < 40; ++i) {
    documents.emplace_back(kText);
  }
  return {encode_documents(documents, vocabulary, 1), vocabulary, options};
}

TEST(MaskedExamples, HideAFixedShareInTheProportionsOfThePaper) {
  const Vocabulary vocabulary = word_pieces();
  const MaskedExamples examples = masked({.max_length = 22, .masks = {}, .seed = 3});
  const int32_t mask = vocabulary.id("[MASK]");
  double hidden = 0, masks = 0, kept = 0, read = 0;
  for (uint64_t epoch = 0; epoch < 30; ++epoch) {
    for (uint64_t index = 0; index < examples.size(); ++index) {
      const SentencePair pair = examples.pair(index, epoch);
      ASSERT_EQ(pair.chosen.size(), pair.target.size() + 1);
      ASSERT_TRUE(std::ranges::is_sorted(pair.chosen));
      ASSERT_EQ(std::set<int32_t>(pair.chosen.begin(), pair.chosen.end()).size(), pair.chosen.size());
      ASSERT_EQ(pair.source.front(), vocabulary.frame().first);
      ASSERT_EQ(pair.source.back(), vocabulary.frame().last);
      std::vector<int32_t> targets = pair.target;
      targets.push_back(pair.after_target);
      for (size_t i = 0; i < targets.size(); ++i) {
        const int32_t seen = pair.source[static_cast<size_t>(pair.chosen[i])];
        masks += seen == mask ? 1 : 0;
        kept += seen == targets[i] ? 1 : 0;
        ASSERT_NE(targets[i], vocabulary.frame().first);
        ASSERT_NE(targets[i], mask);
      }
      hidden += static_cast<double>(targets.size());
      read += static_cast<double>(pair.source.size() - 2);
    }
  }
  EXPECT_NEAR(hidden / read, 0.15, 0.015) << "short windows round up to one piece";
  EXPECT_NEAR(masks / hidden, 0.8, 0.02);
  EXPECT_NEAR(kept / hidden, 0.1, 0.02);
}

TEST(MaskedExamples, MasksFollowFromSeedEpochAndIndex) {
  const auto same = [](const SentencePair& a, const SentencePair& b) {
    return a.source == b.source && a.target == b.target && a.chosen == b.chosen && a.after_target == b.after_target;
  };
  const MaskedExamples first = masked({.max_length = 22, .masks = {}, .seed = 3}),
                       again = masked({.max_length = 22, .masks = {}, .seed = 3});
  EXPECT_TRUE(same(first.pair(4, 7), again.pair(4, 7)));
  EXPECT_FALSE(same(first.pair(4, 7), first.pair(4, 8))) << "fresh masks in each epoch";
  EXPECT_FALSE(same(first.pair(4, 7), masked({.max_length = 22, .masks = {}, .seed = 4}).pair(4, 7)));
  const std::vector<uint32_t> order = {3, 1};
  const Examples::Window window = first.window(order, 7);
  EXPECT_EQ(window.sizes[0].source_tokens, first.pair(3, 7).source_tokens());
  EXPECT_TRUE(same(window.pairs[1], first.pair(1, 7)));
}

TEST(MaskedExamples, WholeWordsAreHiddenWithAllTheirPieces) {
  const Vocabulary vocabulary = word_pieces(62);  // few pieces, so that most words have several
  const MaskPieces pieces = mask_pieces(vocabulary);
  const TokenText text = encode_documents({std::string(kText)}, vocabulary, 1);
  const MaskedExamples examples(text, vocabulary, {.max_length = 200, .masks = {0.3, true}, .seed = 2});
  for (uint64_t epoch = 0; epoch < 20; ++epoch) {
    const SentencePair pair = examples.pair(0, epoch);
    std::vector<int32_t> original = pair.source;
    std::vector<int32_t> targets = pair.target;
    targets.push_back(pair.after_target);
    std::set<int32_t> chosen(pair.chosen.begin(), pair.chosen.end());
    for (size_t i = 0; i < targets.size(); ++i) {
      original[static_cast<size_t>(pair.chosen[i])] = targets[i];
    }
    for (size_t row = 2; row + 1 < original.size(); ++row) {
      if (pieces.continues[static_cast<size_t>(original[row])]) {
        EXPECT_EQ(chosen.contains(static_cast<int32_t>(row)), chosen.contains(static_cast<int32_t>(row - 1)))
            << "row " << row << " goes on with the word before";
      }
    }
  }
}

TEST(MaskedExamples, AcrossDocumentsTheWindowsAreFullAndMoveWithTheEpoch) {
  const MaskedExamples examples = masked({.max_length = 50, .across_documents = true, .masks = {}, .seed = 3});
  std::set<size_t> lengths;
  for (uint64_t index = 0; index < examples.size(); ++index) {
    lengths.insert(examples.pair(index, 0).source.size());
  }
  EXPECT_EQ(lengths, std::set<size_t>{50});
}

TEST(MaskedExamples, ATokenizerWithoutAMaskIsRefused) {
  const Vocabulary plain = character_tokenizer("ab", {.with_unk = true});
  expect_error(ErrorKind::kUsage, {"masked-language-model", "[MASK]"}, [&] { mask_pieces(plain); });
}

}  // namespace
}  // namespace dragoman::data
