// With the configuration of the quickstart, the words of its example are one piece each, as its drawings suppose.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "data/sample/sample_corpus.h"
#include "data/vocabulary/vocabulary_trainer.h"
#include "support/temporary_folder.h"

namespace dragoman::data {
namespace {

// As `train --config` reads them.
VocabularyOptions quickstart_options() {
  const YAML::Node config = YAML::LoadFile(DRAGOMAN_QUICKSTART_CONFIG);
  VocabularyOptions options;
  options.size = config["vocab-size"].as<int32_t>();
  options.type = base::from_name<VocabularyOptions::Type>(config["vocab-type"].as<std::string>());
  options.whole_words = config["vocab-words"].as<std::string>("");
  return options;
}

// The pieces of the sentence without the stop, which is a piece of its own.
std::vector<std::string> pieces_of(const Vocabulary& vocabulary, std::string sentence) {
  EXPECT_TRUE(sentence.ends_with('.'));
  std::vector<std::string> pieces;
  for (const int32_t id : vocabulary.encode(sentence)) {
    pieces.emplace_back(vocabulary.piece(id));
  }
  EXPECT_EQ(pieces.back(), ".");
  pieces.pop_back();
  return pieces;
}

TEST(QuickstartVocabulary, EveryWordOfTheExampleIsOnePiece) {
  const test_support::TemporaryFolder folder;
  SampleCorpusOptions corpus;
  corpus.output = folder.path();
  write_sample_corpus(corpus);
  const Vocabulary vocabulary =
      train_vocabulary({folder.path() / "train.en", folder.path() / "train.de"}, quickstart_options()).vocabulary;
  for (const std::string sentence : {"The animal didn't cross the street because it was too tired.",
                                     "The animal didn't cross the street because it was too wide.",
                                     "Das Tier überquerte die Straße nicht, weil es zu müde war.",
                                     "Das Tier überquerte die Straße nicht, weil sie zu breit war."}) {
    std::vector<std::string> words;
    std::istringstream stream(sentence.substr(0, sentence.size() - 1));
    for (std::string word; stream >> word;) {
      const bool comma = word.ends_with(',');
      words.push_back("\u2581" + word.substr(0, word.size() - (comma ? 1 : 0)));
      if (comma) {
        words.emplace_back(",");
      }
    }
    EXPECT_EQ(pieces_of(vocabulary, sentence), words) << sentence;
  }
}

}  // namespace
}  // namespace dragoman::data
