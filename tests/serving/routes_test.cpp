// Routes as functions of a request: LibreTranslate's, keys, streams, operation.
#include <regex>

#include "served_routes.h"
#include "support/compressed.h"

namespace dragoman::serving {
namespace {

// ---- LibreTranslate

TEST_F(Routes, TranslateTakesJsonFormsAndQueries) {
  const json expected = {{"translatedText", translated(kCat)}};
  EXPECT_EQ(ask_json(post_json("/translate", {{"q", kCat}, {"source", "en"}, {"target", "de"}})), expected);
  EXPECT_EQ(ask_json(post_form("/translate", "q=the+cat%20runs&source=en&target=de")), expected);
  EXPECT_EQ(ask_json(post("/translate", "multipart/form-data; boundary=xx",
                          "--xx\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nthe cat runs\r\n"
                          "--xx\r\nContent-Disposition: form-data; name=source\r\n\r\nen\r\n"
                          "--xx\r\nContent-Disposition: form-data; name=\"target\"\r\n\r\nde\r\n--xx--\r\n")),
            expected);
  Request query = post_form("/translate", "");
  query.query = "q=the%20cat%20runs&source=EN&target=De&unknown=1";
  EXPECT_EQ(ask_json(query), expected);
}

TEST_F(Routes, BatchesKeepTheirOrderAndShape) {
  const json answer = ask_json(post_json(
      "/translate", {{"q", {kCat, "", kDog, "😀 🎉"}}, {"source", "auto"}, {"target", "de"}, {"alternatives", 2}}));
  EXPECT_EQ(answer["translatedText"], json({translated(kCat), "", translated(kDog), "😀 🎉"}));
  EXPECT_EQ(answer["detectedLanguage"].size(), 4U);
  EXPECT_EQ(answer["detectedLanguage"][0]["language"], "en");
  EXPECT_EQ(answer["alternatives"].size(), 4U);
  EXPECT_LE(answer["alternatives"][0].size(), 2U);
  EXPECT_TRUE(answer["alternatives"][0].is_array());
}

TEST_F(Routes, ABatchOfLibreTranslateHasOneLanguage) {
  const json answer =
      ask_json(post_json("/translate", {{"q", {kFrench, kGerman, kGerman}}, {"source", "auto"}, {"target", "en"}}));
  EXPECT_EQ(answer["detectedLanguage"][0]["language"], "de");
  EXPECT_EQ(answer["translatedText"], json({translated(kFrench, 1), translated(kGerman, 1), translated(kGerman, 1)}));
}

TEST_F(Routes, LinesAreTranslatedApartAndLineEndsOfFormsMadePlain) {
  const std::string both = translated(kCat) + "\n\n" + translated(kDog);
  EXPECT_EQ(ask_json(post_json("/translate", {{"q", kCat + "\n\n" + kDog}, {"source", "en"}, {"target", "de"}})),
            json({{"translatedText", both}}));
  EXPECT_EQ(ask_json(post_form("/translate", "q=the cat runs%0D%0A%0D%0A" + kDog + "&source=en&target=de")),
            json({{"translatedText", both}}));
}

TEST_F(Routes, BlanksAtTheEndsOfLinesStay) {
  const std::string text = "  " + kCat + " \n\t" + kDog + "\n ";
  const std::string expected = "  " + translated(kCat) + " \n\t" + translated(kDog) + "\n ";
  const json fields = {{"q", text}, {"source", "en"}, {"target", "de"}};
  EXPECT_EQ(ask_json(post_json("/translate", fields)).at("translatedText"), expected);
  EXPECT_EQ(ask_json(post_json("/v2/translate", deepl({{"text", {text}}})))["translations"][0]["text"], expected);
  EXPECT_THAT(ask(post_json("/v1/stream", fields)).body, HasSubstr(json{{"translatedText", expected}}.dump()));
}

TEST_F(Routes, SentencesEndByTheRulesOfTheSourceLanguage) {
  const std::string text = "The cat runs 25. Mouse runs.";
  const std::string apart = translated("The cat runs 25.") + " " + translated("Mouse runs.");
  for (const std::string format : {"text", "html"}) {
    EXPECT_EQ(ask_json(post_json("/translate", {{"q", text}, {"source", "en"}, {"target", "de"}, {"format", format}})),
              json({{"translatedText", apart}}));
    EXPECT_EQ(ask_json(post_json("/translate", {{"q", text}, {"source", "de"}, {"target", "en"}, {"format", format}})),
              json({{"translatedText", translated(text, 1)}}));
  }
  EXPECT_EQ(ask_json(post_json("/v2/translate", deepl({{"text", {text}}})))["translations"][0]["text"], apart);
}

TEST_F(Routes, TheTargetLanguageItselfComesBackUnchanged) {
  EXPECT_EQ(ask_json(post_json("/translate", {{"q", "  Ja,\r\nnein "}, {"source", "de"}, {"target", "de"}})),
            json({{"translatedText", "  Ja,\nnein "}}));
}

TEST_F(Routes, LibreTranslateErrorsHaveItsTexts) {
  const auto with = [](json fields) { return post_json("/translate", std::move(fields)); };
  expect_error(with({{"source", "en"}, {"target", "de"}}), 400, "Invalid request: missing q parameter");
  expect_error(with({{"q", ""}, {"source", "en"}, {"target", "de"}}), 400, "Invalid request: missing q parameter");
  expect_error(with({{"q", json::array()}, {"source", "en"}, {"target", "de"}}), 400,
               "Invalid request: missing q parameter");
  expect_error(with({{"q", "a"}, {"target", "de"}}), 400, "Invalid request: missing source parameter");
  expect_error(with({{"q", "a"}, {"source", "en"}}), 400, "Invalid request: missing target parameter");
  expect_error(with({{"q", "a"}, {"source", "zz"}, {"target", "de"}}), 400, "zz is not supported");
  expect_error(with({{"q", "a"}, {"source", "en"}, {"target", "zz"}}), 400, "zz is not supported");
  expect_error(with({{"q", "a"}, {"source", "de"}, {"target", "pt"}}), 400,
               "Portuguese (Brazil) (pt-BR) is not available as a target language from German (de)");
  expect_error(with({{"q", "a"}, {"source", "en"}, {"target", "de"}, {"format", "rtf"}}), 400,
               "rtf format is not supported");
  expect_error(with({{"q", "a"}, {"source", "en"}, {"target", "de"}, {"alternatives", 10000}}), 400,
               "Invalid request: alternatives parameter must be <= 16");
  expect_error(with({{"q", "a"}, {"source", "en"}, {"target", "de"}, {"alternatives", "x"}}), 400,
               "Invalid request: alternatives parameter is not a number");
  expect_error(with({{"q", {{"a", 1}}}, {"source", "en"}, {"target", "de"}}), 400,
               "Invalid request: q parameter is not a string");
  expect_error(with({{"q", std::string(5001, 'a')}, {"source", "en"}, {"target", "de"}}), 400,
               "Invalid request: request (5001) exceeds text limit (5000)");
  expect_error(with({{"q", std::vector<std::string>(129, "a")}, {"source", "en"}, {"target", "de"}}), 400,
               "Invalid request: request (129) exceeds text limit (128)");
  expect_error(post("/translate", "application/json", "[1]"), 400, "Invalid JSON format");
  expect_error(post("/translate", "application/json", "{\"q\":"), 400, "Invalid JSON format");
  expect_error(post("/suggest", "application/json", "{}"), 403, "Suggestions are disabled on this server.");
  expect_error(get("/translate"), 405, "Method not allowed");
  expect_error(get("/nothing"), 404, "Not found");
}

TEST_F(Routes, CharactersAreCountedNotBytes) {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text += "ä";
  }
  EXPECT_EQ(ask(post_json("/translate", {{"q", text}, {"source", "de"}, {"target", "de"}})).status, 200);
}

TEST_F(Routes, LanguagesAreThoseOfTheModels) {
  EXPECT_EQ(ask_json(get("/languages")), json::parse(R"j([{"code":"en","name":"English","targets":["de","en"]},
                            {"code":"de","name":"German","targets":["en","de"]},
                            {"code":"fr","name":"French","targets":["pt-BR","fr"]},
                            {"code":"pt-BR","name":"Portuguese (Brazil)","targets":["pt-BR"]}])j"));
  Request with_body = post_form("/languages", "api_key=");
  with_body.method = "GET";
  EXPECT_EQ(ask(with_body).status, 200) << "libretranslatepy sends a form with GET";
}

TEST_F(Routes, AliasesFindTheirLanguage) {
  for (const std::string target : {"pt-BR", "pb", "pt", "PT_br", "pt-br"}) {
    EXPECT_EQ(ask_json(post_json("/translate", {{"q", kCat}, {"source", "fr"}, {"target", target}})),
              json({{"translatedText", translated(kCat, 2)}}))
        << target;
  }
  expect_error(post_json("/translate", {{"q", kCat}, {"source", "fr"}, {"target", "pt-PT"}}), 400,
               "pt-PT is not supported");
}

TEST_F(Routes, DetectsAmongTheServedLanguages) {
  const auto first = [&](const std::string& text) {
    return ask_json(post_json("/detect", {{"q", text}}))[0]["language"].get<std::string>();
  };
  EXPECT_EQ(first("The quick brown fox jumps over the lazy dog."), "en");
  EXPECT_EQ(first("Der schnelle braune Fuchs springt über den faulen Hund."), "de");
  EXPECT_EQ(first("Le renard brun saute par-dessus le chien paresseux."), "fr");
  EXPECT_EQ(first("O cachorro não quer brincar com a raposa hoje."), "pt-BR");
  EXPECT_EQ(ask_json(post_json("/detect", {{"q", "素早い茶色の狐"}}))[0]["confidence"], 0.0)
      << "Japanese is not served";
  expect_error(post_form("/detect", ""), 400, "Invalid request: missing q parameter");
}

TEST_F(Routes, HtmlKeepsItsTags) {
  const std::string html = "<p class=\"x\">the cat <b>runs</b> &amp; sleeps<!-- c --></p>";
  const std::string answer =
      ask_json(post_json("/translate", {{"q", html}, {"source", "en"}, {"target", "de"}, {"format", "html"}}))
          .at("translatedText");
  EXPECT_THAT(answer, testing::MatchesRegex("<p class=\"x\">[^<>]*<b>[^<>]+</b>[^<>]*<!-- c --></p>"));
  EXPECT_EQ(std::regex_replace(answer, std::regex("<[^>]*>"), ""), translated("the cat runs & sleeps"))
      << "one sentence, and no character of it is one of HTML";
  const json unchanged = {{"q", html}, {"source", "de"}, {"target", "de"}, {"format", "html"}};
  EXPECT_EQ(ask_json(post_json("/translate", unchanged)).at("translatedText"), html);
}

TEST_F(Routes, FilesAreTranslatedLineByLineAndFetchedOnce) {
  const auto form = [](const std::string& file_name) {
    return post("/translate_file", "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + file_name +
                    "\"\r\nContent-Type: text/plain\r\n\r\nthe cat runs\n\n" + kDog +
                    "\n\r\n--b\r\nContent-Disposition: form-data; name=\"source\"\r\n\r\nen\r\n"
                    "--b\r\nContent-Disposition: form-data; name=\"target\"\r\n\r\nde\r\n--b--");
  };
  const std::string url = ask_json(form("a.txt")).at("translatedFileUrl");
  ASSERT_THAT(url, testing::StartsWith("http://localhost/download_file/"));
  const Reply file = ask(get(url.substr(std::string("http://localhost").size())));
  EXPECT_EQ(file.status, 200);
  EXPECT_EQ(file.body, translated(kCat) + "\n\n" + translated(kDog) + "\n");
  expect_error(form("a.pdf"), 400, "Invalid request: file format not supported");
  expect_error(post_form("/translate_file", ""), 400, "Invalid request: missing file parameter");
  expect_error(get("/download_file/../../etc/passwd"), 404, "File not found");
}

TEST_F(Routes, CompressedFilesAreTranslatedUpToTheLimitOfABody) {
  const auto form = [](const std::string& file_name, const std::string& bytes) {
    return post("/translate_file", "multipart/form-data; boundary=b",
                "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + file_name + "\"\r\n\r\n" + bytes +
                    "\r\n--b\r\nContent-Disposition: form-data; name=\"source\"\r\n\r\nen\r\n"
                    "--b\r\nContent-Disposition: form-data; name=\"target\"\r\n\r\nde\r\n--b--");
  };
  for (const auto& [ending, compress] : test_support::compressors()) {
    const std::string name = "a.txt." + ending;
    const std::string url = ask_json(form(name, compress("\xEF\xBB\xBFthe cat runs\n"))).at("translatedFileUrl");
    EXPECT_EQ(ask(get(url.substr(std::string("http://localhost").size()))).body, translated(kCat) + "\n") << name;
    const std::string bomb = compress(std::string((size_t{1} << 20) + 1, 'a'));
    expect_error(form(name, bomb), 400,
                 "Invalid request: " + name + ": decompresses to more than 1048576 bytes; cut the text into parts");
    const std::string whole = compress("the cat runs\n");
    EXPECT_EQ(ask(form(name, whole.substr(0, whole.size() / 2))).status, 400) << name << " is cut off";
  }
}

// ---- keys

TEST_F(Routes, WithKeysOnlyKeysOpen) {
  lock("secret");
  const json fields = {{"q", kCat}, {"source", "en"}, {"target", "de"}};
  expect_error(post_json("/translate", fields), 403, "Please contact the server operator to get an API key");
  json wrong = fields;
  wrong["api_key"] = "guess";
  expect_error(post_json("/translate", wrong), 403, "Invalid API key");
  json right = fields;
  right["api_key"] = "secret";
  EXPECT_EQ(ask(post_json("/translate", right)).status, 200);
  EXPECT_EQ(ask(post_json("/v2/translate", deepl())).status, 403);
  Request request = post_json("/v2/translate", deepl());
  request.headers.push_back({"Authorization", "DeepL-Auth-Key secret"});
  EXPECT_EQ(ask(request).status, 200);
  for (const std::string same : {"deepl-auth-key secret", "DEEPL-AUTH-KEY  secret "}) {
    request.headers.back().value = same;
    EXPECT_EQ(ask(request).status, 200) << same;
  }
  for (const std::string wrong_scheme : {"DeepL-Auth-Keysecret", "Bearer secret", "DeepL-Auth-Key", "secret"}) {
    request.headers.back().value = wrong_scheme;
    EXPECT_EQ(ask(request).status, 403) << wrong_scheme;
  }
  EXPECT_EQ(ask(get("/health")).status, 200) << "health needs no key";
  EXPECT_EQ(ask_json(get("/frontend/settings"))["keyRequired"], true);
}

TEST_F(Routes, KeysHaveLimits) {
  lock("secret", "3 0");
  const json fields = {{"q", kCat}, {"source", "en"}, {"target", "de"}, {"api_key", "secret"}};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ask(post_json("/translate", fields)).status, 200);
  }
  const Reply reply = ask(post_json("/translate", fields));
  EXPECT_EQ(reply.status, 429);
  EXPECT_THAT(reply.body, HasSubstr("Slowdown"));
}

// ---- the rest

TEST_F(Routes, StreamsEndInTheTranslation) {
  for (const int beam : {0, 1}) {
    json fields = {{"q", kDog + "\n" + kCat}, {"source", "en"}, {"target", "de"}};
    if (beam > 0) {
      fields["beam_size"] = beam;
    }
    const Reply reply = ask(post_json("/v1/stream", fields));
    EXPECT_EQ(reply.content_type, "text/event-stream");
    std::map<int, std::string> last;
    std::string done;
    std::istringstream lines(reply.body);
    for (std::string event, data, blank;
         std::getline(lines, event) && std::getline(lines, data) && std::getline(lines, blank);) {
      const json value = json::parse(data.substr(6));
      if (event == "event: token") {
        last[value["line"]] = value["text"];
      } else {
        EXPECT_EQ(event, "event: done");
        done = value["translatedText"];
      }
    }
    EXPECT_EQ(done, last[0] + "\n" + last[1]);
  }
  EXPECT_EQ(ask(post_json("/v1/stream", {{"q", {"a"}}, {"source", "en"}, {"target", "de"}})).status, 400);
}

TEST_F(Routes, HealthFollowsTheState) {
  EXPECT_EQ(ask_json(get("/health")), json({{"status", "ok"}}));
  EXPECT_EQ(ask(get("/v2/health/ready")).status, 200);
  context_.is_ready = false;
  EXPECT_EQ(ask(get("/health")).status, 503);
  EXPECT_EQ(ask(get("/v2/health/ready")).status, 503);
  EXPECT_EQ(ask(get("/v2/health/live")).status, 200) << "alive while it drains";
}

TEST_F(Routes, MetricsAreLinesOfPrometheus) {
  metrics_.add_request("/translate", 200, 0.02);
  metrics_.add_request("other", 404, 0.0001);
  ask(post_json("/translate", {{"q", kCat}, {"source", "en"}, {"target", "de"}}));
  const std::string text = ask(get("/metrics")).body;
  EXPECT_THAT(text, HasSubstr("dragoman_requests_total{route=\"/translate\",code=\"200\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("dragoman_request_duration_seconds_bucket{route=\"/translate\",le=\"0.025\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("dragoman_request_duration_seconds_bucket{route=\"/translate\",le=\"0.01\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("dragoman_requests_in_flight 0\n"));
  EXPECT_THAT(text, HasSubstr("dragoman_model_info{sha256=\"0\",source=\"en\",target=\"de\"} 1\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("the cat")));
}

TEST_F(Routes, PathsAreNeverFollowed) {
  for (const std::string dots :
       {"..", "%2e%2e", "%2E.", "..%2f", "....//", "..\\", "%252e%252e", "..;", "%c0%ae%c0%ae"}) {
    for (const std::string prefix : {"/", "/assets/", "/download_file/", "/v2/", "/translate/"}) {
      for (const std::string file : {"/etc/passwd", "%2fetc%2fpasswd", "/config.json", "\\windows\\win.ini", ""}) {
        EXPECT_EQ(ask(get(prefix + dots + file)).status, 404) << prefix + dots + file;
      }
    }
  }
}

TEST_F(Routes, OptionsTellsWhatThereIsAndCorsOnlyWhenAllowed) {
  Request request = get("/translate");
  request.method = "OPTIONS";
  const Reply reply = ask(request);
  EXPECT_EQ(reply.status, 204);
  for (const Header& header : reply.headers) {
    EXPECT_NE(header.name, "Access-Control-Allow-Origin");
  }
  Router open(OtherOrigins::kAllowed);
  add_health_routes(open, context_);
  request.path = "/health";
  const auto exchange = std::make_shared<RecordedExchange>(request);
  open.handle(exchange);
  const Reply allowed = exchange->answer();
  EXPECT_EQ(std::ranges::count(allowed.headers, "Access-Control-Allow-Methods", &Header::name), 1);
}

// Malformed JSON and wrong types always get an answer in the shape of the interface.
TEST_F(Routes, MalformedJsonIsAnswered) {
  const std::string good = R"({"q":"the cat runs","source":"en","target":"de","alternatives":1,"format":"text"})";
  std::vector<std::string> bodies;
  for (size_t size = 0; size < good.size(); ++size) {
    bodies.push_back(good.substr(0, size));
  }
  for (size_t at = 0; at < good.size(); ++at) {
    for (const std::string& bad : {std::string(1, '\0'), std::string("\xFF"), std::string("\n\""), std::string("{[")}) {
      bodies.push_back(good.substr(0, at) + bad + good.substr(at));
    }
  }
  for (const std::string value :
       {"1", "true", "[]", "{}", "1e999", "-1", "99999999999999999999", "\"\\ud800\"", "[[\"a\"]]", "[null]", "[1,{}]",
        "\"\\u0000\"", "NaN", "'a'", "0x1", "01", "1.", "\"\xED\xA0\x80\""}) {
    for (const std::string name : {"q", "source", "target", "alternatives", "format", "api_key"}) {
      bodies.push_back("{\"q\":\"a\",\"source\":\"en\",\"target\":\"de\",\"" + name + "\":" + value + "}");
      bodies.push_back("{\"" + name + "\":" + value + "}");
    }
  }
  bodies.push_back(std::string(100'000, '['));
  bodies.push_back("{\"q\":" + std::string(40, '[') + std::string(40, ']') + "}");
  bodies.push_back("\xEF\xBB\xBF" + good);
  bodies.push_back(good + good);
  bodies.push_back("{\"q\":\"a\",\"q\":\"b\",\"source\":\"en\",\"target\":\"de\"}");
  EXPECT_GE(bodies.size(), 500U);
  size_t refused = 0;
  for (const std::string& body : bodies) {
    const Reply reply = ask(post("/translate", "application/json", body));
    EXPECT_TRUE(reply.status == 400 || reply.status == 200) << reply.status << " for " << body.substr(0, 200);
    refused += reply.status == 400 ? 1 : 0;
    const json answer = json::parse(reply.body, nullptr, /*allow_exceptions=*/false);
    EXPECT_TRUE(answer.is_object() && answer.contains(reply.status == 200 ? "translatedText" : "error")) << reply.body;
  }
  EXPECT_GT(refused, bodies.size() * 8 / 10);
  EXPECT_EQ(ask(post("/translate", "application/json", good)).status, 200);
}

}  // namespace
}  // namespace dragoman::serving
