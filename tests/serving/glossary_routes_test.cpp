// The glossaries of DeepL's interface, versions 2 and 3, as functions of a request.
#include "base/utf8.h"
#include "served_routes.h"

namespace dragoman::serving {
namespace {

class GlossaryRoutes : public Routes {
 protected:
  static Request with_method(const std::string& method, const std::string& path, const std::string& query = "") {
    Request request = get(path, query);
    request.method = method;
    return request;
  }
  static Request with_body(const std::string& method, const std::string& path, const json& body) {
    Request request = post_json(path, body);
    request.method = method;
    return request;
  }
  static json dictionary(const std::string& source, const std::string& target, const std::string& entries) {
    return {{"source_lang", source}, {"target_lang", target}, {"entries", entries}, {"entries_format", "tsv"}};
  }
  static json fields_2(const std::string& entries, const json& more = json::object()) {
    json body = dictionary("en", "de", entries);
    body["name"] = "animals";
    body.update(more);
    return body;
  }
  std::string make(const std::string& entries) {
    return ask_json(post_json("/v2/glossaries", fields_2(entries)), 201)["glossary_id"];
  }
  std::string make_3(const json& dictionaries) {
    return ask_json(post_json("/v3/glossaries", {{"name", "n"}, {"dictionaries", dictionaries}}), 201)["glossary_id"];
  }
  std::string text_with(const std::string& id, const std::string& text, const json& more = json::object()) {
    json body = {{"text", {text}}, {"source_lang", "EN"}, {"target_lang", "DE"}, {"glossary_id", id}};
    body.update(more);
    return ask_json(post_json("/v2/translate", body))["translations"][0]["text"];
  }
  // The translation of a line with these terms, by the model alone.
  std::string with_terms(const std::string& line, const std::vector<std::string>& terms) const {
    const ServedModel& served = models_.get()->all().front();
    decoding::TranslationRequest request;
    request.text = line;
    request.terms = std::make_shared<decoding::TermTable>(terms, "test");
    return served.translator->translate_requests({&request, 1}, served.search).front().text;
  }
  void expect_detail(const Request& request, const std::string& detail) {
    EXPECT_EQ(ask_json(request, 400), json({{"message", "Invalid glossary entries provided"}, {"detail", detail}}));
  }
};

TEST_F(GlossaryRoutes, Version2MakesListsShowsAndRemoves) {
  const json made = ask_json(post_json("/v2/glossaries", fields_2("cat\tmouse\ndog\tcat")), 201);
  const std::string id = made["glossary_id"];
  EXPECT_EQ(id.size(), 36U);
  EXPECT_EQ(made["name"], "animals");
  EXPECT_EQ(made["ready"], true);
  EXPECT_EQ(made["source_lang"], "en");
  EXPECT_EQ(made["target_lang"], "de");
  EXPECT_EQ(made["entry_count"], 2);
  EXPECT_THAT(made["creation_time"].get<std::string>(), testing::MatchesRegex("....-..-..T..:..:..\\....Z"));
  EXPECT_EQ(ask_json(get("/v2/glossaries/" + id)), made);
  EXPECT_EQ(ask_json(get("/v2/glossaries")), json({{"glossaries", {made}}}));
  const Reply entries = ask(get("/v2/glossaries/" + id + "/entries"));
  EXPECT_EQ(entries.body, "cat\tmouse\ndog\tcat");
  EXPECT_EQ(entries.content_type, "text/tab-separated-values; charset=UTF-8");
  Request other = get("/v2/glossaries/" + id + "/entries");
  other.headers.push_back({"Accept", "application/json"});
  EXPECT_EQ(ask(other).status, 415);
  const Reply removed = ask(with_method("DELETE", "/v2/glossaries/" + id));
  EXPECT_EQ(removed.status, 204);
  EXPECT_EQ(removed.body, "");
  expect_message(get("/v2/glossaries/" + id), 404, "Glossary not found");
  expect_message(with_method("DELETE", "/v2/glossaries/" + id), 404, "Glossary not found");
}

TEST_F(GlossaryRoutes, AFormMakesOneToo) {
  const json made = ask_json(
      post_form("/v2/glossaries", "name=n&source_lang=EN&target_lang=de&entries=cat%2Cmouse&entries_format=csv"), 201);
  EXPECT_EQ(made["entry_count"], 1);
  EXPECT_EQ(ask(get("/v2/glossaries/" + made["glossary_id"].get<std::string>() + "/entries")).body, "cat\tmouse");
}

TEST_F(GlossaryRoutes, Version3EditsDictionaries) {
  const std::string id = make_3({dictionary("en", "de", "cat\tmouse"), dictionary("de", "en", "mouse\tcat")});
  const std::string path = "/v3/glossaries/" + id;
  const json info = ask_json(get(path));
  EXPECT_EQ(info["dictionaries"], json::parse(R"([{"source_lang":"en","target_lang":"de","entry_count":1},
                                                  {"source_lang":"de","target_lang":"en","entry_count":1}])"));
  EXPECT_EQ(ask_json(get("/v3/glossaries"))["glossaries"], json({info}));
  EXPECT_EQ(ask_json(get("/v2/glossaries"))["glossaries"], json::array()) << "version 2 knows one dictionary";
  expect_message(get("/v2/glossaries/" + id), 404, "Glossary not found");
  const auto entries = [&] {
    return ask_json(get(path + "/entries", "source_lang=EN&target_lang=DE"))["dictionaries"][0]["entries"];
  };
  const json patched = ask_json(
      with_body("PATCH", path, {{"name", "new"}, {"dictionaries", {dictionary("en", "de", "dog\tcat\ncat\tdog")}}}));
  EXPECT_EQ(patched["name"], "new");
  EXPECT_EQ(entries(), "cat\tdog\ndog\tcat") << "merged";
  EXPECT_EQ(ask_json(with_body("PATCH", path, {{"name", "newer"}}))["name"], "newer");
  EXPECT_EQ(ask_json(with_body("PUT", path + "/dictionaries", dictionary("en", "de", "a\tb"))),
            json({{"source_lang", "en"}, {"target_lang", "de"}, {"entry_count", 1}}));
  EXPECT_EQ(entries(), "a\tb") << "replaced";
  EXPECT_EQ(ask(with_method("DELETE", path + "/dictionaries", "source_lang=en&target_lang=de")).status, 204);
  expect_message(get(path + "/entries", "source_lang=en&target_lang=de"), 404, "Dictionary not found");
  expect_message(with_method("DELETE", path + "/dictionaries", "source_lang=en&target_lang=de"), 404,
                 "Dictionary not found");
  EXPECT_EQ(ask_json(get(path))["dictionaries"].size(), 1U);
  EXPECT_EQ(ask(with_method("DELETE", path)).status, 204);
  expect_message(with_body("PATCH", path, {{"name", "x"}}), 404, "Glossary not found");
}

TEST_F(GlossaryRoutes, WrongRequestsAreRefusedAsByDeepl) {
  const auto post_2 = [](const json& more) { return post_json("/v2/glossaries", fields_2("a\tb", more)); };
  expect_message(post_2({{"name", ""}}), 400, "Missing or invalid argument: name");
  expect_message(post_2({{"name", std::string(1025, 'n')}}), 400, "Missing or invalid argument: name");
  expect_message(post_2({{"source_lang", nullptr}}), 400, "Missing or invalid argument: source_lang");
  expect_message(post_2({{"target_lang", "fr"}}), 400, "Unsupported glossary source and target language pair");
  expect_message(post_2({{"entries_format", "xlsx"}}), 400, "Unsupported entries format specified");
  EXPECT_EQ(ask_json(post_2({{"entries", ""}}), 400)["detail"], "Missing or invalid argument: entries");
  expect_detail(
      post_2({{"entries", "Hello\tHallo\nHello\tServus"}}),
      "Key with the index 1 (starting at position 12) duplicates key with the index 0 (starting at position 0)");
  const auto post_3 = [](const json& dictionaries) {
    return post_json("/v3/glossaries", {{"name", "n"}, {"dictionaries", dictionaries}});
  };
  expect_message(post_3(json::array()), 400, "Glossary dictionaries must be provided");
  expect_message(post_3("x"), 400, "Missing or invalid argument: dictionaries");
  expect_message(post_3({1}), 400, "Missing or invalid argument: dictionaries");
  expect_message(post_3({{{"source_lang", 1}}}), 400, "Missing or invalid argument: source_lang");
  expect_message(post_3({dictionary("en", "de", "a\tb"), dictionary("EN", "DE-AT", "c\td")}), 400,
                 "A glossary has one dictionary for each language pair");
  EXPECT_EQ(glossaries_.list("").size(), 0U);
  for (const std::string path : {"/v2/glossaries/", "/v2/glossaries/..", "/v3/glossaries/x/entries/y"}) {
    EXPECT_EQ(ask(get(path)).status, 404) << path;
  }
  for (const std::string id : {"..", "x", "%2e%2e", "00000000-0000-0000-0000-00000000000G"}) {
    expect_message(get("/v3/glossaries/" + id), 404, "Glossary not found");
  }
  EXPECT_EQ(ask(with_method("PUT", "/v3/glossaries")).status, 405);
}

TEST_F(GlossaryRoutes, ATranslationUsesTheTermsOfEachLine) {
  const std::string id = make("cat\tmouse\nsleeps\truns");
  EXPECT_EQ(text_with(id, kCat), with_terms(kCat, {"cat\tmouse"}));
  EXPECT_THAT(text_with(id, kCat), HasSubstr("mouse"));
  EXPECT_EQ(text_with(id, kCat + "\n" + kDog),
            with_terms(kCat, {"cat\tmouse"}) + "\n" + with_terms(kDog, {"sleeps\truns"}));
  EXPECT_EQ(text_with(id, "the dog"), translated("the dog")) << "no term of the glossary";
  EXPECT_THAT(text_with(id, "<p>the <b>cat</b> runs</p>", {{"tag_handling", "html"}}), HasSubstr("mouse"));
  EXPECT_EQ(text_with(id, kCat, {{"target_lang", "DE-AT"}, {"source_lang", "EN-US"}}),
            with_terms(kCat, {"cat\tmouse"}));
}

TEST_F(GlossaryRoutes, SeveralGlossariesAreUsedTogether) {
  const std::string one = make("cat\tmouse");
  const std::string two = make("cat\tdog\nruns\tsleeps");
  const auto both = [&](const json& ids) {
    return post_json("/v2/translate",
                     {{"text", {kCat}}, {"source_lang", "EN"}, {"target_lang", "DE"}, {"glossary_ids", ids}});
  };
  const std::string expected = with_terms(kCat, {"cat\tmouse", "runs\tsleeps"});
  EXPECT_EQ(ask_json(both({one, two}))["translations"][0]["text"], expected);
  EXPECT_EQ(ask_json(post_form("/v2/translate", "text=the cat runs&source_lang=en&target_lang=de&glossary_ids=" + one +
                                                    "," + two))["translations"][0]["text"],
            expected);
  expect_message(both(json(std::vector<std::string>(6, one))), 400, "Too many glossaries: 6, at most 5 are allowed.");
  expect_message(post_json("/v2/translate", deepl({{"glossary_id", one}, {"glossary_ids", {two}}})), 400,
                 "Parameters 'glossary_id' and 'glossary_ids' cannot be used together.");
}

TEST_F(GlossaryRoutes, ATranslationNeedsTheGlossaryOfItsLanguages) {
  const std::string id = make("cat\tmouse");
  const auto with = [&](const json& more) { return post_json("/v2/translate", deepl(more)); };
  expect_message(with({{"glossary_id", id}, {"source_lang", nullptr}}), 400,
                 "Use of a glossary requires the source_lang parameter to be specified");
  EXPECT_EQ(ask_json(with({{"glossary_id", id}, {"source_lang", "DE"}, {"target_lang", "EN"}}), 404),
            json({{"message", "Dictionary not found"}, {"detail", "The glossary has no dictionary from de to en"}}));
  expect_message(with({{"glossary_id", "00000000-0000-4000-8000-000000000000"}}), 404, "Glossary not found");
}

// A search demands 64 phrases at most. Words of Chinese have no borders, and few tokens of this model.
TEST_F(GlossaryRoutes, MoreTermsThanASearchCanDemandAreNoError) {
  std::string text, entries;
  constexpr char32_t kFirst = U'一';
  for (size_t i = 0; i < 81; ++i) {
    const std::string letters = "housecatd";
    const std::string word = base::encode_utf8(std::u32string(1, kFirst + static_cast<char32_t>(i)));
    text += word;
    entries += word + "\t" + letters[i / 9] + letters[i % 9] + "\n";
  }
  const std::string id = make(entries);
  EXPECT_FALSE(text_with(id, text).empty());
}

TEST_F(GlossaryRoutes, EachKeyHasItsOwn) {
  const std::string of_all = make("cat\tmouse");
  lock("secret");
  const auto as = [](Request request, const std::string& key) {
    request.headers.push_back({"Authorization", "DeepL-Auth-Key " + key});
    return request;
  };
  EXPECT_EQ(ask(get("/v2/glossaries")).status, 403);
  EXPECT_EQ(ask(post_json("/v2/glossaries", fields_2("a\tb"))).status, 403);
  EXPECT_EQ(ask(as(get("/v2/glossaries/" + of_all), "secret")).status, 404);
  const std::string id = ask_json(as(post_json("/v2/glossaries", fields_2("a\tb")), "secret"), 201)["glossary_id"];
  EXPECT_EQ(ask_json(as(get("/v2/glossaries"), "secret"))["glossaries"].size(), 1U);
  lock("other");
  EXPECT_EQ(ask(as(get("/v2/glossaries/" + id), "other")).status, 404);
  EXPECT_EQ(ask(as(post_json("/v2/translate", deepl({{"glossary_id", id}})), "other")).status, 404);
}

TEST_F(GlossaryRoutes, TheLanguagePairsAreThoseOfTheModels) {
  EXPECT_EQ(ask_json(get("/v2/glossary-language-pairs"))["supported_languages"],
            json::parse(R"([{"source_lang":"en","target_lang":"de"},{"source_lang":"de","target_lang":"en"},
                            {"source_lang":"fr","target_lang":"pt"}])"));
  EXPECT_EQ(ask_json(get("/v3/languages", "resource=translate_text"))[0]["features"],
            json({{"glossary", {{"status", "stable"}}}}));
}

TEST_F(GlossaryRoutes, WithoutAFolderTheMessageNamesTheFlag) {
  context_.glossaries = nullptr;
  const auto text_of = [&](const Request& request, int status) { return ask_json(request, status)["message"].dump(); };
  EXPECT_THAT(text_of(post_json("/v2/glossaries", fields_2("a\tb")), 400), HasSubstr("--glossaries DIR"));
  EXPECT_THAT(text_of(post_json("/v3/glossaries", {{"name", "n"}}), 400), HasSubstr("--glossaries DIR"));
  EXPECT_THAT(text_of(get("/v2/glossaries/x"), 404), HasSubstr("--glossaries DIR"));
  EXPECT_THAT(text_of(post_json("/v2/translate", deepl({{"glossary_id", "x"}})), 404), HasSubstr("--glossaries DIR"));
  EXPECT_EQ(ask_json(get("/v2/glossaries")), json({{"glossaries", json::array()}}));
  EXPECT_EQ(ask_json(get("/v3/glossaries")), json({{"glossaries", json::array()}}));
  EXPECT_EQ(ask_json(get("/v2/glossary-language-pairs")), json({{"supported_languages", json::array()}}));
}

TEST_F(GlossaryRoutes, AStoreThatCannotWriteIsToldAndLogged) {
  const std::string id = make("cat\tmouse");
  const std::filesystem::path file = folder_.path() / "glossaries" / (id + ".json");
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);  // in the way, whoever runs the test
  EXPECT_EQ(ask(with_body("PATCH", "/v3/glossaries/" + id, {{"name", "x"}})).status, 503);
  EXPECT_THAT(said_, HasSubstr(id));
}

TEST_F(GlossaryRoutes, MetricsHaveNoIds) {
  EXPECT_EQ(router_.label_of(get("/v2/glossaries/anything")), "/v2/glossaries/{glossary_id}");
  EXPECT_EQ(router_.label_of(get("/v3/glossaries/anything/entries")), "/v3/glossaries/{glossary_id}/entries");
  EXPECT_EQ(router_.label_of(get("/v3/glossaries/a/b")), "other");
}

}  // namespace
}  // namespace dragoman::serving
