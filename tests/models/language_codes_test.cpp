#include "models/language_codes.h"

#include <gtest/gtest.h>

#include "models/languages.h"

namespace dragoman::models {
namespace {

using Codes = std::vector<std::string>;

TEST(LanguageCodes, TheCommonCodeIsTheShortestOne) {
  EXPECT_EQ(common_language("fra_Latn"), "fr-Latn");
  EXPECT_EQ(common_language("ger"), "de");
  EXPECT_EQ(common_language("EN"), "en");
  EXPECT_EQ(common_language("pt_br"), "pt-BR");
  EXPECT_EQ(common_language("no"), "nb");
  EXPECT_EQ(common_language("iw"), "he");
  EXPECT_EQ(common_language("zh-TW"), "zh-Hant");
  EXPECT_EQ(common_language("ceb"), "ceb");
  EXPECT_EQ(common_language(""), "");
  EXPECT_EQ(common_language(", aar"), ", aar") << "no code, and no place of the table";
}

TEST(LanguageCodes, ScriptsStayWhereTheyTellLanguagesApart) {
  EXPECT_EQ(common_languages({"zho_Hans", "zho_Hant", "eng_Latn", "arb_Arab", "arb_Latn", "ace_Arab", "ace_Latn"}),
            (Codes{"zh", "zh-Hant", "en", "ar", "ar-Latn", "ace-Arab", "ace"}));
  EXPECT_EQ(common_languages({"en_XX", "zh_CN", "pt_XX", "de_DE"}), (Codes{"en", "zh", "pt", "de"}));
  EXPECT_EQ(common_languages({"pt_BR", "pt_PT"}), (Codes{"pt-BR", "pt-PT"}));
  EXPECT_EQ(common_languages({"aka_Latn", "twi_Latn"}), (Codes{"ak", "tw"}));
}

TEST(LanguageCodes, AllSpellingsOfALanguageFindIt) {
  const Codes codes = {"en", "zh", "zh-Hant", "pt-BR", "no", "tl", "de"};
  for (const char* asked : {"en", "EN", "en-GB", "EN-US", "eng", "eng_Latn", "en_XX"}) {
    EXPECT_EQ(match_language(asked, codes), "en") << asked;
  }
  for (const char* asked : {"zh", "ZH-HANS", "zho_Hans", "zh_CN"}) {
    EXPECT_EQ(match_language(asked, codes), "zh") << asked;
  }
  for (const char* asked : {"zt", "zh-TW", "ZH-HANT", "zho_Hant"}) {
    EXPECT_EQ(match_language(asked, codes), "zh-Hant") << asked;
  }
  EXPECT_EQ(match_language("NB", codes), "no");
  EXPECT_EQ(match_language("fil", codes), "tl");
  EXPECT_EQ(match_language("pt", codes), "pt-BR");
  EXPECT_EQ(match_language("por_Latn", codes), "") << "another kind of Portuguese";
  EXPECT_EQ(match_language("xx", codes), "");
  EXPECT_EQ(match_language("", codes), "");
}

TEST(LanguageCodes, LanguagesOfAModelAreTextAndBack) {
  const ModelLanguages languages = languages_between({"eng_Latn", "zho_Hant", "deu_Latn", "no language at all"});
  EXPECT_EQ(codes_of(languages.sources), (Codes{"de", "en", "zh"}));
  EXPECT_TRUE(languages.has_codes());
  EXPECT_EQ(languages_from_json(languages_json(languages), "f"), languages);
  ASSERT_NE(find_language("deu_Latn", languages.targets), nullptr);
  EXPECT_EQ(find_language("GER", languages.targets)->own, "deu_Latn");
  EXPECT_EQ(find_language("it", languages.targets), nullptr);
  EXPECT_EQ(languages_json(ModelLanguages()), "");
}

}  // namespace
}  // namespace dragoman::models
