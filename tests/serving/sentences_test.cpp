// Where sentences end, language by language.
#include "serving/text/sentences.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "base/utf8.h"
#include "serving/text/sentence_rules.h"

namespace dragoman::serving {
namespace {

// The line with | at the ends of its sentences.
std::string cut(const std::string& line, const std::string& language) {
  std::string marked = line;
  const std::vector<size_t> ends = sentence_ends(line, language);
  for (size_t i = ends.size(); i > 0; --i) {
    marked.insert(ends[i - 1], "|");
  }
  return marked;
}

// Each line, without its |, is cut at each | and nowhere else.
void expect_cuts(const std::string& language, const std::vector<std::string>& marked_lines) {
  for (const std::string& marked : marked_lines) {
    std::string line = marked;
    std::erase(line, '|');
    EXPECT_EQ(cut(line, language), marked) << language;
  }
}

TEST(Sentences, AWordThatIsAnAbbreviationElsewhereEndsASentence) {
  expect_cuts("en", {"Is the cat tired?| No.| The cat slept.", "The boy loves art.| The girl sings.",
                     "Is he tired?| No.| I slept.", "It grows on a fig.| He did one more rep.| Then he left.",
                     "Give me the gen.| Then go."});
  expect_cuts("fr",
              {"Il sait tout sur l'art.| Marie dort.", "C'est à l'est.| Le chat dort.", "Il en a sept.| Marie dort."});
  expect_cuts("de", {"Das ist seine Art.| Sie schläft.", "Sie schläft mit Max.| Tom schläft.",
                     "Das ist ein Gen.| Es schläft."});
  expect_cuts("es", {"¿Está cansado?| No.| El gato duerme."});
}

TEST(Sentences, AbbreviationsBelongToTheLanguage) {
  expect_cuts("en", {"Mr. Smith met Rep. Jones and Dr. No.", "It is No. 5 of vol. II, p. 3.", "He fell in Jan. 1990.",
                     "Smith v. Jones, e.g. The Case", "He sells at Smith & Co. in town.", "MR. SMITH SLEEPS"});
  expect_cuts("de", {"Hr. Maier, z. B. Hans, kennt Fr. Maier.", "Die Äpfel usw. Birnen",
                     "Siehe Art. 5, Abs. 3 und Nr. 7.", "Etwa 3 Mio. Menschen, vgl. Abb. 2"});
  expect_cuts("fr", {"M. Le Pen et Mme. Dupont", "Voir art. 5.", "Av. J.-C. Rome"});
  expect_cuts("es", {"El Sr. García y la Dra. Ruiz", "Véase la pág. 5.", "Uds. Saben"});
  expect_cuts("", {"Mr. Smith met Dr. Jones and J. R. Brown."});
}

TEST(Sentences, AnAbbreviationAtAnEndIsBeforeAWordThatBeginsSentences) {
  expect_cuts("en", {"He lives in the U.S.A.| The dog sleeps.", "It is 5 p.m.| The dog sleeps.", "The U.S. Senate met.",
                     "They sell apples, pears, etc.| We buy them.", "He works for Apple Inc.| They pay him.",
                     "George W. Bush slept.", "He takes vitamin C.| It helps.", "So do I.| Bob sleeps.",
                     "He met I. M. Pei.", "Ph.D. students met.| U.S. Senators left.", "He saw Albert I. Jones."});
  expect_cuts("es", {"En EE. UU. García duerme.", "En EE. UU.| El gato duerme."});
  expect_cuts("de", {"Sie verkaufen Äpfel usw.| Wir kaufen sie.", "Im Jahr 44 v. Chr.| Er starb."});
}

TEST(Sentences, OrdinalsBelongToTheLanguage) {
  expect_cuts("en", {"The boy was 25.| The girl was 9.| Tom slept.", "He has 25.| 30 people came."});
  expect_cuts("de", {"Am 25. Juni und im 19. Jahrhundert", "Er war 25.| Sie war 9.| Die Katze schlief.",
                     "Wilhelm II. König von Württemberg", "In der Goethestr. 5 wohnt er.",
                     "Das ist gut, d. h. Maria schläft.", "Er war 175.| Maria schlief."});
  expect_cuts("nb", {"Den 17. Mai er fri."});
  expect_cuts("pl", {"W 19. Pułku", "Ma 25.| Ona śpi."});
  expect_cuts("fr", {"Il a 25.| Marie dort."});
  for (const std::string language : {"en", "de", "fr", "zh", ""}) {
    expect_cuts(language,
                {"1. Maria", "A. Maria", "IV. Maria", "• 9. Maria", "(12. Maria)", "Maria sang.| 2. Tom da."});
  }
}

TEST(Sentences, MarksOfAllScriptsEndSentences) {
  expect_cuts("ar", {"هل نمت؟| نعم.| نام القط."});
  expect_cuts("ur", {"بلی سوئی۔| کتا بھاگا۔"});
  expect_cuts("hi", {"नमस्ते।| आप कैसे हैं।", "राम आया॥|सीता आई॥"});
  expect_cuts("hy", {"Կատուն քնեց։| Շունը վազեց։", "Կատուն քնեց:| Շունը վազեց:", "10:30"});
  expect_cuts("am", {"ድመቷ ተኛች።| ውሻው ሮጠ።"});
  expect_cuts("km", {"ឆ្មាគេង។| ឆ្កែរត់។"});
  expect_cuts("my", {"ကြောင်အိပ်သည်။|ခွေးပြေးသည်။"});
  expect_cuts("ja", {"猫は寝た｡|犬は走った。|「はい。」と言った．|終わり", "３．５です"});
  expect_cuts("zh", {"我来了。|你呢？|好！|走", "他说：“好。”|我走了", "我走了。|“好。”|他说：\"好。\"|我走了。|\"好\"",
                     "好吗?|好.|走吧", "你好。，好", "我……我走", "去看《摔跤吧！爸爸》好吗？|好！", "《一。|好。"});
  expect_cuts("el", {"Πώς είσαι;| Καλά."});
  expect_cuts("en", {"One; Two"});
  expect_cuts("ko", {"네.| 저는 잡니다."});
}

TEST(Sentences, ClosingMarksAndCitationsBelongToTheSentence) {
  expect_cuts("en", {"The cat slept.[1]| The dog slept.[2][13]| End", "He said \"go!\"| Then (as ever.)| Left.",
                     "\"Go.\"| \"Come.\"| (No.)| 'Yes.'| End", "Go.| - Come.| – Yes.", "Really?!| Yes...| No",
                     "(He came.) (why) not"});
  expect_cuts("fr", {"« Quoi ? »| Paul dort.", "« Quoi ? » dit Paul.", "Oui.| « Non. »| Si."});
  expect_cuts("de", {"„Geh.“| Er ging.| »Komm.«| »Ja.«| Er kam."});
}

TEST(Sentences, NothingEndsInside) {
  expect_cuts("en", {"example.com is it", "It costs 3.50 or 4. maybe", "What? no.", "A.", "Wait...", "… A", "(A.) - .",
                     "He came. (why) not", "Yes. ", "...", "", "a\u00a0.b"});
}

TEST(Sentences, TakeCodesInAnyForm) {
  for (const std::string language : {"de", "de-AT", "DE", "de_CH"}) {
    expect_cuts(language, {"Am 3. Oktober"});
  }
}

TEST(SentenceRules, ListsHaveBlanksAtBothEnds) {
  for (const std::string language :
       {"", "en", "de", "fr", "es", "it", "pt", "nl", "da", "sv", "fi", "pl", "cs", "hu", "is", "ru", "hy", "el"}) {
    const SentenceRules& rules = sentence_rules(language);
    for (const std::u32string_view list :
         {rules.codes, rules.inside, rules.at_ends, rules.numbers, rules.openers, rules.letters}) {
      EXPECT_TRUE(list.empty() || (list.starts_with(U' ') && list.ends_with(U' '))) << language;
      EXPECT_EQ(list.find(U"  "), std::u32string_view::npos) << language;
    }
    EXPECT_EQ(language.empty(), rules.codes.empty());
  }
}

// Ends are rising places between characters, with words on both sides, for any text.
TEST(Sentences, EndsStandBetweenWordsForAnyText) {
  const std::vector<std::string> parts = {"A",   "b",   " ", ".",  "!",  "?",  "。", "\"", "“", "”", "»",
                                          "[1]", "(",   ")", "5",  "…",  "猫", "-",  "'",  "،", "؟", "no",
                                          "Mr",  "U.S", "M", "\t", "．", "「", "」", "と", ";"};
  base::Random random(5);
  for (int trial = 0; trial < 20000; ++trial) {
    std::string line;
    for (uint64_t i = random.below(16); i > 0; --i) {
      line += parts[random.below(parts.size())];
    }
    size_t begin = 0;
    for (const size_t end : sentence_ends(line, trial % 2 == 0 ? "en" : "de")) {
      ASSERT_GT(end, begin) << line;
      ASSERT_LT(end, line.size()) << line;
      ASSERT_TRUE(base::is_valid_utf8(line.substr(begin, end - begin))) << line;
      begin = end;
    }
  }
}

}  // namespace
}  // namespace dragoman::serving
