// A model of several languages behind the routes: all its pairs, in the codes of each interface.
#include "served_routes.h"

namespace dragoman::serving {
namespace {

using Codes = std::vector<std::string>;

class ManyLanguages : public Routes {
 protected:
  ManyLanguages() { models_.set(served_many_model()); }

  std::string translated_between(const std::string& line, const char* source, const char* target) const {
    const ServedModel& served = models_.get()->all().front();
    const decoding::TranslationRequest request{
        .text = line, .languages = served.translator->choose_languages({source, target}).tokens};
    return served.translator->translate_requests({&request, 1}, served.search).front().text;
  }
};

TEST_F(ManyLanguages, AreListedWithAllPairs) {
  const json languages = ask_json(get("/languages"));
  ASSERT_EQ(languages.size(), 5U);
  EXPECT_EQ(languages[0], json::parse(R"j({"code":"de","name":"German","targets":["en","fr","zh","zh-Hant","de"]})j"));
  EXPECT_EQ(ask_json(get("/frontend/settings"))["language"]["target"]["code"], "en");
  Codes deepl_codes;
  for (const json& language : ask_json(get("/v2/languages"))) {
    deepl_codes.push_back(language["language"]);
  }
  EXPECT_EQ(deepl_codes, (Codes{"DE", "EN", "FR", "ZH", "ZH-HANT"}));
  EXPECT_EQ(ask_json(get("/v3/languages", "resource=translate_text")).size(), 5U);
  EXPECT_EQ(ask_json(get("/v2/glossary-language-pairs"))["supported_languages"].size(), 12U) << "of 4 base languages";
  EXPECT_THAT(ask(get("/metrics")).body, HasSubstr("source=\"5 languages\",target=\"5 languages\""));
}

TEST_F(ManyLanguages, ChooseWhatTheModelWrites) {
  std::vector<std::string> texts;
  for (const char* target : {"de", "fr", "zh-Hant"}) {
    texts.push_back(translated_between(kCat, "en", target));
    const json answer = ask_json(post_json("/translate", {{"q", kCat}, {"source", "en"}, {"target", target}}));
    EXPECT_EQ(answer["translatedText"], texts.back()) << target;
  }
  EXPECT_FALSE(texts[0] == texts[1] && texts[1] == texts[2]) << "the code of the target has no influence";
  EXPECT_EQ(
      ask_json(post_json("/translate", {{"q", kCat}, {"source", "eng_Latn"}, {"target", "zt"}}))["translatedText"],
      texts[2]);
  const auto deepl_text = [&](const char* source, const char* target) {
    const json body = {{"text", {kCat}}, {"source_lang", source}, {"target_lang", target}};
    return ask_json(post_json("/v2/translate", body))["translations"][0]["text"].get<std::string>();
  };
  EXPECT_EQ(deepl_text("EN", "DE"), texts[0]);
  EXPECT_EQ(deepl_text("EN", "ZH-HANT"), texts[2]);
  const json stream = {{"q", kCat}, {"source", "en"}, {"target", "fr"}};
  EXPECT_THAT(ask(post_json("/v1/stream", stream)).body, HasSubstr(json{{"translatedText", texts[1]}}.dump()));
}

TEST_F(ManyLanguages, AreDetected) {
  const json answer = ask_json(post_json("/translate", {{"q", kGerman}, {"source", "auto"}, {"target", "fr"}}));
  EXPECT_EQ(answer["detectedLanguage"]["language"], "de");
  EXPECT_EQ(answer["translatedText"], translated_between(kGerman, "de", "fr"));
  const json two = {{"text", {kFrench, kGerman}}, {"target_lang", "EN"}};
  const json translations = ask_json(post_json("/v2/translate", two))["translations"];
  EXPECT_EQ(translations[0]["detected_source_language"], "FR");
  EXPECT_EQ(translations[0]["text"], translated_between(kFrench, "fr", "en"));
  EXPECT_EQ(translations[1]["text"], translated_between(kGerman, "de", "en"));
}

TEST_F(ManyLanguages, OthersAreRefused) {
  expect_error(post_json("/translate", {{"q", "a"}, {"source", "en"}, {"target", "it"}}), 400, "it is not supported");
  EXPECT_EQ(ask_json(post_json("/translate", {{"q", "a"}, {"source", "fr"}, {"target", "fr"}}))["translatedText"], "a");
}

// A folder of one pair serves beside it: the first model of a pair has it.
TEST(ServedModelsOfManyLanguages, TheFirstModelOfAPairHasIt) {
  std::vector<ServedModel> all = served_tiny_models({{"en", "de"}})->all();
  all.push_back(served_many_model()->all().front());
  const ServedModels models(std::move(all));
  EXPECT_EQ(models.find("EN", "ger").model, &models.all()[0]);
  EXPECT_EQ(models.find("en", "de").tokens, decoding::LanguageTokens());
  EXPECT_EQ(models.find("de", "en").model, &models.all()[1]);
  EXPECT_TRUE(models.find("de", "en").tokens.target.has_value());
  EXPECT_EQ(models.find("de", "de").model, nullptr);
  EXPECT_EQ(models.targets_of("fr"), (Codes{"de", "en", "zh", "zh-Hant"}));
  EXPECT_EQ(models.sources_of("de"), (Codes{"en", "fr", "zh", "zh-Hant"}));
}

}  // namespace
}  // namespace dragoman::serving
