// The routes of DeepL as functions of a request.
#include <regex>

#include "served_routes.h"

namespace dragoman::serving {
namespace {

TEST_F(Routes, DeeplTranslatesTextsInOrder) {
  const json expected = {{"translations",
                          {{{"detected_source_language", "EN"}, {"text", translated(kCat)}},
                           {{"detected_source_language", "EN"}, {"text", translated(kDog)}}}}};
  EXPECT_EQ(ask_json(post_json("/v2/translate", deepl())), expected);
  EXPECT_EQ(
      ask_json(post_form("/v2/translate", "text=the%20cat%20runs&text=" + kDog + "&source_lang=en&target_lang=de")),
      expected);
  EXPECT_EQ(ask_json(post_json("/v2/translate", deepl({{"source_lang", nullptr}, {"target_lang", "de"}}))), expected);
}

TEST_F(Routes, DeeplDetectsTheLanguageOfEachText) {
  models_.set(served_tiny_models({{"en", "de"}, {"fr", "de"}}));
  const std::string number = "12345";
  const auto answer = [&](const json& texts) {
    return ask_json(post_json("/v2/translate", deepl({{"text", texts}, {"source_lang", nullptr}})))["translations"];
  };
  const auto expected = [](const std::string& language, const std::string& text) {
    return json{{"detected_source_language", language}, {"text", text}};
  };
  EXPECT_EQ(answer({kDog, kFrench, kGerman, kDog}),
            json({expected("EN", translated(kDog)), expected("FR", translated(kFrench, 1)), expected("DE", kGerman),
                  expected("EN", translated(kDog))}));
  EXPECT_EQ(answer({kGerman, kGerman}), json({expected("DE", kGerman), expected("DE", kGerman)}));
  EXPECT_EQ(answer({number, kFrench}),
            json({expected("FR", translated(number, 1)), expected("FR", translated(kFrench, 1))}))
      << "a text in which no language is found has that of the batch";
}

TEST_F(Routes, DeeplCutsEachTextByTheRulesOfItsLanguage) {
  models_.set(served_tiny_models({{"en", "fr"}, {"de", "fr"}}));
  const std::string english = "This is the cat that was 25. Mice were sleeping in the house with the dog.";
  const std::string german = "Die Katze schläft im Haus, und das war am 25. Mai in der großen Stadt.";
  const json answer =
      ask_json(post_json("/v2/translate", {{"text", {english, german}}, {"target_lang", "FR"}}))["translations"];
  EXPECT_EQ(answer[0]["text"], translated(english.substr(0, 28)) + " " + translated(english.substr(29)));
  EXPECT_EQ(answer[1]["text"], translated(german, 1));
}

TEST_F(Routes, DeeplSaysWhatWasAskedFor) {
  const json first = ask_json(post_json("/v2/translate", deepl({{"show_billed_characters", true},
                                                                {"model_type", "prefer_quality_optimized"},
                                                                {"tag_handling", "html"},
                                                                {"formality", "prefer_less"},
                                                                {"target_lang", "DE-AT"},
                                                                {"no_such_field", 1}})))["translations"][0];
  EXPECT_EQ(first["billed_characters"], kCat.size());
  EXPECT_EQ(first["model_type_used"], "quality_optimized");
  EXPECT_EQ(first["tag_handling_version"], "v2");
}

TEST_F(Routes, DeeplRefusesWhatItCannotDo) {
  const auto with = [](const json& more) { return post_json("/v2/translate", deepl(more)); };
  expect_message(with({{"text", json::array()}}), 400, "Parameter 'text' not specified.");
  expect_message(with({{"target_lang", nullptr}}), 400, "Parameter 'target_lang' not specified.");
  expect_message(with({{"target_lang", "XX"}}), 400, "Value for 'target_lang' not supported.");
  expect_message(with({{"source_lang", "XX"}}), 400, "Value for 'source_lang' not supported.");
  expect_message(with({{"formality", "more"}}), 400, "'formality' is not supported for given 'target_lang'.");
  expect_message(with({{"formality", "rude"}}), 400, "Value for 'formality' not supported.");
  expect_message(with({{"tag_handling", "md"}}), 400, "Value for 'tag_handling' not supported.");
  expect_message(with({{"glossary_id", "x"}}), 404, "Glossary not found");
  expect_message(with({{"glossary_id", "x"}, {"source_lang", nullptr}}), 400,
                 "Use of a glossary requires the source_lang parameter to be specified");
  EXPECT_EQ(ask(with({{"context", "about cats"}})).status, 200);
  EXPECT_EQ(ask(with({{"context", json::object()}})).status, 400);
  expect_message(with({{"style_id", "x"}}), 400, "Parameter 'style_id' is not supported by this server.");
  expect_message(post("/v2/translate", "application/json", "nothing"), 400, "Invalid JSON format");
  expect_message(get("/v2/nothing"), 404, "Not found");
}

TEST_F(Routes, DeeplListsLanguagesAndUsage) {
  EXPECT_EQ(ask_json(get("/v2/languages", "type=target")),
            json::parse(R"j([{"language":"DE","name":"German","supports_formality":false},
                            {"language":"EN","name":"English","supports_formality":false},
                            {"language":"PT-BR","name":"Portuguese (Brazil)","supports_formality":false}])j"));
  Request with_form = post_form("/v2/languages", "type=source");
  with_form.method = "GET";
  EXPECT_EQ(ask_json(with_form).size(), 3U) << "the Python client sends the type as a form";
  Request of_type = post("/v2/languages", "application/json", "");
  of_type.method = "GET";
  of_type.query = "type=source";
  EXPECT_EQ(ask_json(of_type).size(), 3U) << "a type for all requests, and no body";
  EXPECT_EQ(ask_json(get("/v2/usage"))["character_count"], 0);
  ask(post_json("/v2/translate", deepl()));
  EXPECT_EQ(ask_json(get("/v2/usage"))["character_count"], kCat.size() + kDog.size());
  EXPECT_EQ(ask_json(get("/v3/languages", "resource=translate_text")).size(), 4U);
  EXPECT_EQ(ask_json(get("/v3/languages", "resource=glossary")).size(), 4U);
}

TEST_F(Routes, DeeplCutsSentencesAsAsked) {
  const std::string two = "The cat runs. The dog sleeps.";
  const auto texts = [&](const json& more) {
    json body = {{"text", {two}}, {"source_lang", "EN"}, {"target_lang", "DE"}};
    body.update(more);
    return ask_json(post_json("/v2/translate", body))["translations"][0]["text"].get<std::string>();
  };
  const std::string apart = translated("The cat runs.") + " " + translated("The dog sleeps.");
  EXPECT_EQ(texts(json::object()), apart);
  EXPECT_EQ(texts({{"split_sentences", "1"}}), apart);
  EXPECT_EQ(texts({{"split_sentences", "nonewlines"}}), apart);
  EXPECT_EQ(texts({{"split_sentences", "0"}}), translated(two));
}

TEST_F(Routes, DeeplReadsMarkupAsAsked) {
  const auto text = [&](const std::string& asked, const json& more) {
    json body = {{"text", {asked}}, {"source_lang", "EN"}, {"target_lang", "DE"}};
    body.update(more);
    return ask_json(post_json("/v2/translate", body))["translations"][0]["text"].get<std::string>();
  };
  const std::string xml = "<s>the cat <x id=\"1\"/>runs</s><s>the dog</s>";
  const std::regex tag("<[^>]*>");
  EXPECT_EQ(std::regex_replace(text(xml, {{"tag_handling", "xml"}}), tag, ""),
            translated(kCat) + translated("the dog"));
  EXPECT_THAT(text(xml, {{"tag_handling", "xml"}, {"splitting_tags", {"x"}}}),
              HasSubstr(translated("the cat") + " <x id=\"1\"/>" + translated("runs") + "</s>"));
  EXPECT_THAT(text("the <q>cat</q> runs", {{"tag_handling", "html"}, {"ignore_tags", "Q"}}), HasSubstr("<q>cat</q>"));
  EXPECT_EQ(text("<p class=\"notranslate\">the cat</p>", {{"tag_handling", "html"}}),
            "<p class=\"notranslate\">the cat</p>");
  const json keep_upper = {{"tag_handling", "xml"}, {"ignore_tags", {"X"}}};
  EXPECT_EQ(text("<X>the cat runs</X>", keep_upper), "<X>the cat runs</X>");
  EXPECT_EQ(text("<x>the cat runs</x>", keep_upper), "<x>" + translated(kCat) + "</x>") << "XML reads case";
}

TEST_F(Routes, DeeplRefusesXmlThatIsNotWellFormed) {
  const json xml = {{"text", {"the cat", "the\n<b>dog"}}, {"tag_handling", "xml"}};
  expect_message(post_json("/v2/translate", deepl(xml)), 400,
                 "Tag handling parsing failed, please check input: mismatched tag at line 2, column 7");
}

}  // namespace
}  // namespace dragoman::serving
