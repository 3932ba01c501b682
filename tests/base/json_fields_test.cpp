#include "base/json_fields.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "support/expect_error.h"

namespace dragoman::base {
namespace {

using nlohmann::json;
using test_support::expect_error;

class JsonFieldsTest : public ::testing::Test {
 protected:
  void expect_refused(const std::string& message, const std::function<void()>& read) {
    expect_error(ErrorKind::kBadData, {message}, read);
  }

  const json tree_ = parse_json(R"({"width": 512, "rate": 0.5, "tied": true, "name": "x", "ids": [1], "none": null,
                                    "huge": 18446744073709551615, "part": {"head": "first"}})",
                                "config.json");
  const JsonFields fields_{tree_, "config.json"};
};

TEST_F(JsonFieldsTest, ValuesAreReadWithTheirTypes) {
  EXPECT_EQ(fields_.integer<int>("width"), 512);
  EXPECT_EQ(fields_.integer("width", 512, 512), 512);
  EXPECT_EQ(fields_.number("width"), 512.0);
  EXPECT_EQ(fields_.number("rate"), 0.5);
  EXPECT_TRUE(fields_.flag("tied"));
  EXPECT_EQ(fields_.text("name"), "x");
  EXPECT_EQ(fields_.list("ids").size(), 1U);
  EXPECT_EQ(fields_.object("part").text("head"), "first");
}

TEST_F(JsonFieldsTest, NullCountsAsMissing) {
  EXPECT_FALSE(fields_.has("none"));
  EXPECT_EQ(fields_.number("none", 2.5), 2.5);
  EXPECT_TRUE(fields_.flag("absent", true));
  EXPECT_EQ(fields_.text("absent", "y"), "y");
  expect_refused("config.json: key \"none\" is missing", [&] { static_cast<void>(fields_.number("none")); });
}

TEST_F(JsonFieldsTest, WrongTypesAreNamedWithTheirValue) {
  expect_refused("config.json: rate must be an integer, is 0.5",
                 [&] { static_cast<void>(fields_.integer<int>("rate")); });
  expect_refused("config.json: name must be a number, is \"x\"", [&] { static_cast<void>(fields_.number("name")); });
  expect_refused("config.json: width must be true or false, is 512", [&] { static_cast<void>(fields_.flag("width")); });
  expect_refused("config.json: part must be a list, is {", [&] { static_cast<void>(fields_.list("part")); });
  expect_refused("config.json: part.head must be a number, is \"first\"",
                 [&] { static_cast<void>(fields_.object("part").number("head")); });
  expect_refused("config.json: ids must be a JSON object", [&] { static_cast<void>(fields_.object("ids")); });
}

TEST_F(JsonFieldsTest, IntegersThatDoNotFitAreRefused) {
  expect_refused("width must be an integer from 1 to 511, is 512",
                 [&] { static_cast<void>(fields_.integer("width", 1, 511)); });
  expect_refused("width must be an integer, is 512", [&] { static_cast<void>(fields_.integer<int8_t>("width")); });
  expect_refused("huge must be an integer, is 18446744073709551615",
                 [&] { static_cast<void>(fields_.integer<int64_t>("huge")); });
}

TEST_F(JsonFieldsTest, UnknownKeysSuggestTheNearestOne) {
  EXPECT_NO_THROW(fields_.object("part").check_known({"head"}));
  expect_refused("config.json: unknown key \"part.head\"; did you mean \"heads\"?", [&] {
    fields_.object("part").check_known({"heads", "step"});
  });
}

TEST(JsonFields, TheKindOfErrorsIsTheCallers) {
  const json list = json::array();
  expect_error(ErrorKind::kUsage, {"inspect: parts[1] must be a JSON object"},
               [&] { JsonFields(list, "inspect", ErrorKind::kUsage, "parts[1]"); });
  expect_error(ErrorKind::kBadData, {"config.json: must be a JSON object"}, [&] { JsonFields(list, "config.json"); });
}

}  // namespace
}  // namespace dragoman::base
