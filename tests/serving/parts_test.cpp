// The small parts: admission, keys, languages, forms, files, heads of answers, metrics.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "base/files.h"
#include "base/random.h"
#include "base/sha256.h"
#include "recorded_exchange.h"
#include "serving/http/reply_head.h"
#include "serving/http/request_fields.h"
#include "serving/service/admission.h"
#include "serving/service/api_keys.h"
#include "serving/service/metrics.h"
#include "serving/service/served_models.h"
#include "serving/service/translated_files.h"
#include "serving/text/language_detector.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace dragoman::serving {
namespace {

using namespace std::chrono_literals;
using base::ErrorKind;
using test_support::expect_error;
using testing::HasSubstr;

// ---- admission

TEST(Admission, TakesWhatIsInWorkAndRefusesTheRest) {
  Admission admission({.in_work = 800, .longest_wait = 2s});
  std::vector<Admission::Ticket> tickets;
  for (int i = 0; i < 8; ++i) {
    const auto ticket = admission.enter(100);
    ASSERT_TRUE(ticket) << i;
    tickets.push_back(*ticket);
  }
  EXPECT_FALSE(admission.enter(1));
  EXPECT_EQ(admission.refused(), 1U);
  admission.leave(tickets[3], 100, Admission::Outcome::kDone);
  EXPECT_TRUE(admission.enter(100));
  EXPECT_EQ(admission.inside(), 800);
}

TEST(Admission, OneRequestIsAlwaysTakenAndKeepsOnlyLargeOnesOut) {
  Admission admission({.in_work = 800, .longest_wait = 2s});
  const auto huge = admission.enter(100'000);
  EXPECT_TRUE(huge);
  EXPECT_FALSE(admission.enter(1000));
  EXPECT_FALSE(admission.enter(500)) << "its turns take as long as those of the huge one: 1000";
  int small = 0;
  while (admission.enter(50)) {
    ++small;
  }
  EXPECT_EQ(small, (800 - 100) / 50);
  admission.leave(*huge, 99'990, Admission::Outcome::kDone);
  EXPECT_TRUE(admission.enter(50)) << "of the huge one only 10 are left";
}

TEST(Admission, TheQueueHoldsSecondsOfWorkAtTheSpeedMeasured) {
  Admission admission({.in_work = 100, .longest_wait = 2s});
  auto now = Admission::Clock::now() + 1s;
  std::deque<Admission::Ticket> inside;
  const auto enter = [&] {
    const auto ticket = admission.enter(10, now);
    if (ticket) {
      inside.push_back(*ticket);
    }
    return ticket.has_value();
  };
  while (enter()) {
  }
  // 1000 a second, always with enough work.
  for (int i = 0; i < 1000; ++i) {
    now += 10ms;
    admission.leave(inside.front(), 10, Admission::Outcome::kDone, now);
    inside.pop_front();
    ASSERT_TRUE(enter()) << i;
  }
  EXPECT_NEAR(admission.rate(), 1000.0, 50.0);
  int64_t more = 0;
  while (enter()) {
    more += 10;
  }
  EXPECT_NEAR(static_cast<double>(more), 2.0 * admission.rate(), 20.0);
}

// A slow model gets a small batch, so that the lines in work are done soon.
TEST(Admission, NoMoreIsBegunThanIsDoneSoon) {
  for (const auto& [speed, in_work] : {std::pair(100, 512), {400, 800}, {5000, 4000}}) {
    Admission admission({.in_work = 4000, .longest_wait = 2s});
    EXPECT_EQ(admission.in_work(), 4000) << "the speed is not known";
    auto now = Admission::Clock::now() + 1s;
    const auto ticket = admission.enter(1'000'000, now);
    for (int i = 0; i < 100; ++i) {  // ten seconds
      now += 100ms;
      admission.leave(*ticket, speed / 10, Admission::Outcome::kDone, now);
    }
    EXPECT_NEAR(static_cast<double>(admission.in_work()), in_work, 0.02 * in_work) << speed << " a second";
  }
}

TEST(Admission, WhatItIsToldAtFirstHoldsUntilTheSpeedIsMeasured) {
  Admission admission({.in_work = 4000, .longest_wait = 2s}, 300.0);
  EXPECT_EQ(admission.rate(), 300.0);
  EXPECT_EQ(admission.in_work(), 600);
  int64_t entered = 0;
  auto now = Admission::Clock::now() + 1s;
  std::deque<Admission::Ticket> inside;
  for (auto ticket = admission.enter(10, now); ticket; ticket = admission.enter(10, now)) {
    inside.push_back(*ticket);
    entered += 10;
  }
  EXPECT_EQ(entered, 600 + 600) << "in work, and what is done in 2 s";
  for (int i = 0; i < 60; ++i) {  // 1000 a second, for 0.6 s
    now += 10ms;
    admission.leave(inside.front(), 10, Admission::Outcome::kDone, now);
    inside.pop_front();
  }
  EXPECT_NEAR(admission.rate(), 1000.0, 50.0) << "not a mean of both";
}

TEST(Admission, IdleTimeSaysNothingAboutTheSpeed) {
  Admission admission({.in_work = 100, .longest_wait = 2s});
  auto now = Admission::Clock::now() + 1s;
  for (int i = 0; i < 100; ++i) {
    now += 1s;
    const auto ticket = admission.enter(10, now);
    ASSERT_TRUE(ticket);
    now += 1ms;
    admission.leave(*ticket, 10, Admission::Outcome::kDone, now);
  }
  EXPECT_EQ(admission.rate(), 0.0);
}

// ---- keys

class Keys : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& text) const {
    base::write_file_atomic(folder_.path() / "keys", text);
    return folder_.path() / "keys";
  }
  test_support::TemporaryFolder folder_;
};

TEST_F(Keys, AreKnownByTheirHash) {
  ApiKeys keys(file("\n# a comment\n" + base::sha256_hex("good") + " name\r\n"));
  EXPECT_EQ(keys.use("good", 5), ApiKeys::Verdict::kGood);
  EXPECT_EQ(keys.use("bad", 5), ApiKeys::Verdict::kUnknown);
  EXPECT_EQ(keys.use("", 5), ApiKeys::Verdict::kUnknown);
  EXPECT_EQ(keys.use(base::sha256_hex("good"), 5), ApiKeys::Verdict::kUnknown) << "the hash is no key";
  EXPECT_EQ(keys.characters_of("good"), 5);
}

TEST_F(Keys, LimitsRefillWithinAMinute) {
  ApiKeys keys(file(base::sha256_hex("k") + " name 2 100\n"));
  auto now = RateBucket::Clock::now();
  EXPECT_EQ(keys.use("k", 60, now), ApiKeys::Verdict::kGood);
  EXPECT_EQ(keys.use("k", 60, now), ApiKeys::Verdict::kTooMuch) << "characters";
  EXPECT_EQ(keys.use("k", 40, now), ApiKeys::Verdict::kGood);
  EXPECT_EQ(keys.use("k", 0, now), ApiKeys::Verdict::kTooMuch) << "requests";
  now += 31s;
  EXPECT_EQ(keys.use("k", 50, now), ApiKeys::Verdict::kGood);
  EXPECT_EQ(keys.use("k", 500, now + 2min), ApiKeys::Verdict::kGood) << "more than a minute's from a full bucket";
  EXPECT_EQ(keys.use("k", 1, now + 3min), ApiKeys::Verdict::kTooMuch) << "then it is in debt";
}

TEST_F(Keys, BadFilesNameTheLine) {
  const std::string hash = base::sha256_hex("a");
  expect_error(ErrorKind::kBadData, {"keys: line 2", "SHA-256"}, [&] { ApiKeys keys(file("#\nsecret name\n")); });
  expect_error(ErrorKind::kBadData, {"line 1", "HASH NAME"}, [&] { ApiKeys keys(file(hash + "\n")); });
  expect_error(ErrorKind::kBadData, {"line 1", "\"x\" must be a number"}, [&] { ApiKeys keys(file(hash + " n x\n")); });
  expect_error(ErrorKind::kBadData, {"line 2", "twice"}, [&] { ApiKeys keys(file(hash + " n\n" + hash + " m\n")); });
}

// ---- languages and models

TEST(Languages, CodesAreCheckedAndTidied) {
  for (const std::string good : {"en", "deu", "pt-BR", "zh-Hant-TW", "EN"}) {
    EXPECT_TRUE(is_language_code(good)) << good;
  }
  for (const std::string bad :
       {"", "e", "engl", "en-", "-en", "en_us", "en-toolongpart", "e1", "en--us", "en us", "../x"}) {
    EXPECT_FALSE(is_language_code(bad)) << bad;
  }
  EXPECT_EQ(tidy_language("PT_br"), "pt-BR");
  EXPECT_EQ(tidy_language("ZH-hant"), "zh-Hant");
  EXPECT_EQ(tidy_language("zh-TW"), "zh-Hant");
  EXPECT_EQ(tidy_language("pb"), "pt-BR");
  EXPECT_EQ(language_name("de"), "German");
  EXPECT_EQ(language_name("qqq"), "qqq");
}

TEST(Languages, ServedCodesAreMatched) {
  const std::vector<std::string> codes = {"en", "zh-Hans", "zh-Hant", "pt-BR"};
  EXPECT_EQ(models::match_language("EN-us", codes), "en");
  EXPECT_EQ(models::match_language("pt", codes), "pt-BR");
  EXPECT_EQ(models::match_language("zt", codes), "zh-Hant");
  EXPECT_EQ(models::match_language("zh", codes), "") << "two kinds are served, it is neither";
  EXPECT_EQ(models::match_language("pt-PT", codes), "");
  EXPECT_EQ(models::match_language("", codes), "");
}

TEST(Languages, ModelsAreNamedWithTheirPair) {
  const ModelSpec spec = model_spec_from("EN:pt-br=a/b=c");
  EXPECT_EQ(spec.pair, (LanguagePair{"en", "pt-BR"}));
  EXPECT_EQ(spec.folder, "a/b=c");
  EXPECT_EQ(model_spec_from("my-model").folder, "my-model");
  EXPECT_EQ(model_spec_from("./a:b=c").folder, "./a:b=c") << "a folder by its slash";
  expect_error(ErrorKind::kUsage, {"\"e\" is no language code"}, [] { static_cast<void>(model_spec_from("e:de=m")); });
  expect_error(ErrorKind::kUsage, {"both en"}, [] { static_cast<void>(model_spec_from("en:en=m")); });
  expect_error(ErrorKind::kUsage, {"folder is missing"}, [] { static_cast<void>(model_spec_from("en:de=")); });
}

TEST(LanguageDetector, AnswersWithServedCodesOnly) {
  const std::vector<std::string> codes = {"fr", "pt-BR"};
  EXPECT_EQ(detect_language("O rato roeu a roupa do rei de Roma.", codes).front().code, "pt-BR");
  const DetectedLanguage nothing = detect_language("12345", codes).front();
  EXPECT_EQ(nothing.code, "fr");
  EXPECT_EQ(nothing.confidence, 0.0);
  base::Random random(5);
  for (int trial = 0; trial < 2000; ++trial) {
    std::string bytes;
    for (uint64_t i = random.below(60); i > 0; --i) {
      bytes += static_cast<char>(random.below(256));
    }
    for (const DetectedLanguage& one : detect_language(bytes, codes)) {
      EXPECT_TRUE(one.code == "fr" || one.code == "pt-BR");
      EXPECT_TRUE(one.confidence >= 0.0 && one.confidence <= 100.0);
    }
  }
}

// ---- fields

TEST(RequestFields, PercentSignsAreReadOnce) {
  EXPECT_EQ(percent_decoded("a%20b+c%2B%252F%zz%4"), "a b c+%2F%zz%4");
  EXPECT_EQ(percent_decoded("%F0%9F%98%80"), "😀");
}

TEST(RequestFields, AnyBytesAreText) {
  const RequestFields fields(post_form("/", "q=%FF%00a&q=b&&=&x"));
  EXPECT_EQ(fields.texts("q"), (std::vector<std::string>{"\xEF\xBF\xBD a", "b"}));
  EXPECT_EQ(fields.text("q"), "\xEF\xBF\xBD a");
  EXPECT_EQ(fields.text("x"), "");
  EXPECT_EQ(fields.text("y"), "");
}

TEST(RequestFields, AByteOrderMarkOfJsonIsNoText) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_EQ(RequestFields(post("/", "application/json", mark + R"({"q":"a"})")).text("q"), "a");
  EXPECT_THROW(RequestFields(post("/", "application/json", mark + mark + "{}")), HttpError);
  using namespace std::string_literals;
  EXPECT_EQ(RequestFields(post("/", "application/json", "\xFF\xFE{\0\"\0q\0\"\0:\0\"\0\xE4\0\"\0}\0"s)).text("q"), "ä");
}

TEST(RequestFields, TextIsReadInTheCharsetThatTheClientNames) {
  const auto q = [](const std::string& type, const std::string& body) {
    return RequestFields(post("/", type, body)).text("q");
  };
  const std::string form = "application/x-www-form-urlencoded; charset=";
  EXPECT_EQ(q(form + "iso-8859-1", "q=caf%E9"), "café");
  EXPECT_EQ(q(form + "ISO-8859-1", "q=caf\xE9 %96"), "café –") << "as browsers read it";
  EXPECT_EQ(q(form + "\"windows-1251\"", "q=%E4%E0"), "да");
  EXPECT_EQ(q(form + "Shift_JIS", "q=%93%FA%96%7B"), "日本");
  EXPECT_EQ(q(form + "UTF-8", "q=caf%C3%A9"), "café");
  EXPECT_EQ(q(form + "utf8", "q=caf%C3%A9"), "café");
  EXPECT_EQ(q("application/json; charset=iso-8859-1", "{\"q\":\"caf\xE9\"}"), "café");
  Request query = post("/", form + "iso-8859-1", "");
  query.query = "q=caf%C3%A9";
  EXPECT_EQ(RequestFields(query).text("q"), "café") << "a query is UTF-8";
  const auto multipart = [&](const std::string& of_part, const std::string& more) {
    return q("multipart/form-data; boundary=b",
             "--b\r\nContent-Disposition: form-data; name=q\r\n" + of_part + "\r\ncaf\xE9\r\n" + more + "--b--");
  };
  EXPECT_EQ(multipart("Content-Type: text/plain; charset=iso-8859-1\r\n", ""), "café");
  EXPECT_EQ(multipart("", "--b\r\nContent-Disposition: form-data; name=_charset_\r\n\r\niso-8859-1\r\n"), "café");
  EXPECT_EQ(multipart("", ""), "caf\xEF\xBF\xBD");
}

TEST(RequestFields, ACharsetThatIsNotKnownIsRefusedByName) {
  for (const std::string name : {"utf-9", "../../etc/passwd", "utf-16", "utf-7"}) {
    try {
      RequestFields(post("/", "application/x-www-form-urlencoded; charset=" + name, "q=a"));
      ADD_FAILURE() << name;
    } catch (const HttpError& error) {
      EXPECT_EQ(error.status(), 415);
      EXPECT_THAT(error.what(), HasSubstr("\"" + name + "\""));
    }
  }
}

TEST(RequestFields, UploadsAreUtf8WithoutAMark) {
  const auto upload = [](const std::string& type, const std::string& bytes) {
    return RequestFields(post("/", "multipart/form-data; boundary=b",
                              "--b\r\nContent-Disposition: form-data; name=file; filename=a.txt\r\nContent-Type: " +
                                  type + "\r\n\r\n" + bytes + "\r\n--b--"))
        .uploads()
        .front()
        .bytes;
  };
  using namespace std::string_literals;
  EXPECT_EQ(upload("text/plain", "\xEF\xBB\xBFä"), "ä");
  EXPECT_EQ(upload("text/plain", "\xFF\xFE\xE4\0"s), "ä");
  EXPECT_EQ(upload("text/plain", "\xFE\xFF\0\xE4"s), "ä");
  EXPECT_EQ(upload("text/plain; charset=iso-8859-1", "\xE4"), "ä");
}

TEST(RequestFields, NumbersAndTruthsAreStrict) {
  const RequestFields fields(post_json("/", {{"a", "3"}, {"b", 4}, {"c", 1.5}, {"d", true}, {"e", "yes"}, {"f", "0"}}));
  EXPECT_EQ(fields.number("a", 0), 3);
  EXPECT_EQ(fields.number("b", 0), 4);
  EXPECT_THROW(static_cast<void>(fields.number("c", 0)), HttpError);
  EXPECT_EQ(fields.number("none", 7), 7);
  EXPECT_TRUE(fields.truth("d", false));
  EXPECT_FALSE(fields.truth("f", true));
  EXPECT_THROW(fields.truth("e", true), HttpError);
}

TEST(RequestFields, BadMultipartFormsAreRefused) {
  const auto status = [](const std::string& type, const std::string& body) {
    try {
      RequestFields fields(post("/", type, body));
    } catch (const HttpError& error) {
      return error.status();
    }
    return 200;
  };
  const std::string type = "multipart/form-data; boundary=b";
  const std::string part = "--b\r\nContent-Disposition: form-data; name=q\r\n\r\nx\r\n";
  EXPECT_EQ(status(type, part + "--b--\r\n"), 200);
  EXPECT_EQ(status("multipart/form-data; boundary=\"b\"", part + "--b--"), 200);
  EXPECT_EQ(status(type, "\r\n" + part + "--b--"), 200) << "an empty preamble";
  EXPECT_EQ(status(type, "For old readers\r\n\r\n" + part + "--b--\r\nbehind the end\r\n--b\r\n"), 200);
  for (const std::string& bad : {std::string(), part, part + "--c--", "x" + part, "x" + part + "--c--",
                                 std::string("--b\r\nX: y\r\n\r\nx\r\n--b--"), std::string("--b\r\n\r\n--b--")}) {
    EXPECT_EQ(status(type, bad), 400) << bad;
  }
  EXPECT_EQ(status("multipart/form-data", part), 400);
  // Every cut or damaged form gets an answer.
  const std::string whole = part + part + "--b--\r\n";
  for (size_t size = 0; size < whole.size(); ++size) {
    status(type, whole.substr(0, size));
    std::string damaged = whole;
    damaged[size] = '\r';
    status(type, damaged);
  }
}

// ---- files

TEST(TranslatedFiles, AreFoundByNameForTenMinutes) {
  TranslatedFiles files;
  const auto now = TranslatedFiles::Clock::now();
  const std::string name = files.keep("a", now);
  EXPECT_NE(files.keep("b", now), name);
  EXPECT_EQ(files.find(name, now + 9min), "a");
  EXPECT_EQ(files.find(name, now + 10min), std::nullopt);
  EXPECT_EQ(files.find("", now), std::nullopt);
}

TEST(TranslatedFiles, TheOldestGoWhenThereIsNoRoom) {
  TranslatedFiles files;
  const std::string first = files.keep(std::string(TranslatedFiles::kMostBytes / 2 + 1, 'a'));
  const std::string second = files.keep(std::string(TranslatedFiles::kMostBytes / 2, 'b'));
  EXPECT_EQ(files.find(first), std::nullopt);
  EXPECT_TRUE(files.find(second).has_value());
}

// ---- answers

TEST(ReplyHead, GuardsBrowsersAndCannotBeSplit) {
  const std::string head = reply_head({.body = "abc", .headers = {{"X-A", "b"}, {"X-B", "c\r\nSet-Cookie: d"}}},
                                      Framing::kLength, Connection::kKeepAlive, std::vector<Header>{{"X-Server", "d"}});
  EXPECT_THAT(head, HasSubstr("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(head, HasSubstr("Content-Length: 3\r\n"));
  EXPECT_THAT(head, HasSubstr("X-A: b\r\n"));
  EXPECT_THAT(head, HasSubstr("X-Server: d\r\n"));
  EXPECT_THAT(head, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
  EXPECT_THAT(head, HasSubstr("default-src 'none'; script-src 'self'"));
  EXPECT_THAT(head, testing::Not(HasSubstr("Set-Cookie")));
  EXPECT_TRUE(is_one_line({"X-A", "b"}));
  EXPECT_FALSE(is_one_line({"X-B", "c\nd"}));
  EXPECT_FALSE(is_one_line({"X-C\rD", "e"}));
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
}

TEST(Metrics, LabelsAreEscaped) {
  EXPECT_EQ(label_value("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
}

}  // namespace
}  // namespace dragoman::serving
