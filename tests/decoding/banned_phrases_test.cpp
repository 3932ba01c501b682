// Banned phrases against a plain search of the text that pieces spell.
#include "decoding/search/banned_phrases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "decoding/search/logits_rules.h"
#include "table_model.h"
#include "tiny_vocabulary.h"

namespace dragoman::decoding {
namespace {

using Texts = std::vector<std::string>;

// A space before the line, of several one.
std::string text_of(const Ids& ids) {
  std::string text;
  for (const int32_t id : ids) {
    std::string piece = id <= data::kEosId ? "" : vocabulary().piece(id);
    for (size_t at = piece.find("\xE2\x96\x81"); at != std::string::npos; at = piece.find("\xE2\x96\x81")) {
      piece.replace(at, 3, " ");
    }
    text += piece;
  }
  for (size_t at = text.find("  "); at != std::string::npos; at = text.find("  ")) {
    text.erase(at, 1);
  }
  return text;
}

size_t times_held(const std::string& text, const Texts& phrases) {
  size_t times = 0;
  for (const std::string& phrase : phrases) {
    for (size_t at = text.find(phrase); at != std::string::npos; at = text.find(phrase, at + 1)) {
      ++times;
    }
  }
  return times;
}

Ids searched(const Ids& history, const Texts& phrases) {
  Ids ids;
  for (int32_t id = 0; id < vocabulary().size(); ++id) {
    Ids longer = history;
    longer.push_back(id);
    if (times_held(text_of(longer), phrases) > times_held(text_of(history), phrases)) {
      ids.push_back(id);
    }
  }
  return ids;
}

Ids completing(const BannedPhrases& banned, const Ids& history) {
  const auto ids = banned.completing(history);
  return {ids.begin(), ids.end()};
}

Ids random_ids(base::Random& random) {
  Ids ids(random.below(12));
  for (int32_t& id : ids) {
    id = static_cast<int32_t>(random.below(static_cast<uint64_t>(vocabulary().size())));
  }
  return ids;
}

TEST(BannedPhrases, AreFoundWhateverPiecesSpellThem) {
  const std::vector<Texts> lists = {{"the"},
                                    {"s"},
                                    {"cat", "he", "at, the"},
                                    {"ee", "eee"},
                                    {"red cat sleeps"},
                                    {"t t", "t the"},
                                    {"a", "ma", "mama"}};
  base::Random random(3);
  for (const Texts& phrases : lists) {
    const BannedPhrases banned(vocabulary(), phrases);
    for (int trial = 0; trial < 300; ++trial) {
      // Half of the histories end within a phrase.
      Ids history = random_ids(random);
      if (trial % 2 == 0) {
        const std::string& phrase = phrases[random.below(phrases.size())];
        const Ids begun = vocabulary().encode_sampled(phrase.substr(0, random.below(phrase.size()) + 1), 0.1, random);
        history.insert(history.end(), begun.begin(), begun.end());
      }
      ASSERT_EQ(completing(banned, history), searched(history, phrases))
          << "after \"" << text_of(history) << "\", banned are " << testing::PrintToString(phrases);
    }
  }
}

TEST(BannedPhrases, BlankOnesBanNothingAndSpecialPiecesCompleteNothing) {
  EXPECT_TRUE(BannedPhrases(vocabulary(), Texts{}).empty());
  EXPECT_TRUE(BannedPhrases(vocabulary(), Texts{"", " ", "\t"}).empty());
  const BannedPhrases banned(vocabulary(), Texts{"the"});
  EXPECT_FALSE(banned.empty());
  EXPECT_THAT(completing(banned, vocabulary().encode("th")), testing::Each(testing::Gt(data::kEosId)));
  EXPECT_EQ(completing(banned, {data::kPadId, data::kEosId}), completing(banned, {}));
}

TEST(BannedPhrases, TheOneThatStandsInATextIsNamed) {
  const BannedPhrases banned(vocabulary(), Texts{"", "red cat", "mouse"});
  EXPECT_EQ(banned.found_in("the mouses"), "mouse");
  EXPECT_EQ(banned.found_in("a red cat"), "red cat");
  EXPECT_EQ(banned.found_in("red"), "");
  EXPECT_EQ(BannedPhrases(vocabulary(), Texts{}).found_in("red"), "");
}

TEST(BannedPhrases, AreFoundInBytesToo) {
  const data::Vocabulary bytes = learn_vocabulary(true);
  const BannedPhrases banned(bytes, Texts{"caf\xC3\xA9", "red cat"});
  const Ids begun = bytes.encode("caf\xC3\xA9");
  const auto whole = banned.completing(std::span(begun).first(begun.size() - 1));
  EXPECT_THAT(std::vector(whole.begin(), whole.end()), testing::Contains(bytes.id("<0xA9>")));
  const Ids letters = {bytes.id("<0x72>"), bytes.id("<0x65>"), bytes.id("<0x64>"),
                       bytes.id("<0x0A>"), bytes.id("<0x63>"), bytes.id("<0x61>")};
  const auto end = banned.completing(letters);
  EXPECT_THAT(std::vector(end.begin(), end.end()), testing::Contains(bytes.id("<0x74>"))) << "a line feed is a space";
}

TEST(BannedPhrases, ThreadsThatAskAtOnceGetTheSame) {
  const Ids history = vocabulary().encode("the red c");
  const BannedPhrases alone(vocabulary(), Texts{"cat", "mouse"});
  const Ids expected = completing(alone, history);
  for (int trial = 0; trial < 20; ++trial) {
    const BannedPhrases shared(vocabulary(), Texts{"cat", "mouse"});
    std::vector<Ids> seen(4);
    std::vector<std::thread> threads;
    for (Ids& ids : seen) {
      threads.emplace_back([&] { ids = completing(shared, history); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_THAT(seen, testing::Each(expected));
  }
}

// The likeliest translation is "the cat"; in every other spelling it is nearly as likely.
TEST(BannedPhrases, NoSearchSpellsThem) {
  const auto size = vocabulary().size();
  const auto next = [&](int32_t, const Ids& history) {
    const std::string text = text_of(history);
    std::map<int32_t, double> table;
    const std::string wanted = " the cat";
    for (int32_t id = data::kEosId + 1; id < size; ++id) {
      Ids longer = history;
      longer.push_back(id);
      table[id] = wanted.starts_with(text_of(longer)) ? 1.0 : 0.001;
    }
    table[data::kEosId] = text == wanted ? 100.0 : 0.002;
    double sum = 0.0;
    for (const auto& [id, weight] : table) {
      sum += weight;
    }
    for (auto& [id, weight] : table) {
      weight /= sum;
    }
    return table;
  };
  for (const int beam : {1, 4}) {
    TableModel model(size, next);
    SearchOptions options;
    options.beam_size = beam;
    const Ids free = search_one(model, options, {0, 10}).at(0).ids;
    EXPECT_EQ(text_of(free), " the cat") << "beam " << beam;
    options.rules.banned = std::make_shared<BannedPhrases>(vocabulary(), Texts{"cat"});
    const Ids bound = search_one(model, options, {0, 10}).at(0).ids;
    EXPECT_THAT(text_of(bound), testing::Not(testing::HasSubstr("cat"))) << "beam " << beam;
    EXPECT_NE(bound, Ids()) << "beam " << beam;
  }
}

}  // namespace
}  // namespace dragoman::decoding
