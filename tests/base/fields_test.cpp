// Field tables: what is said once of a field holds in checks, texts and JSON.
#include "base/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/field_json.h"
#include "support/error_of.h"

namespace dragoman {
namespace {

using nlohmann::json;
using test_support::error_of;

enum class Colour { kRed, kGreen };

constexpr base::Names<Colour> names_of(Colour) {
  return {"colour", {{Colour::kRed, "red"}, {Colour::kGreen, "green"}}};
}

struct Paint {
  int layers = 2;
  float gloss = 0.5F;
  double price = 1.0;
  bool dries = true;
  Colour colour = Colour::kGreen;
  std::optional<Colour> primer;
  std::string maker = "unknown";
  int64_t reserve = 0;

  static constexpr const char* kTitle = "Paint";

  template <typename Visit>
  static void fields(Visit&& visit) {
    using base::Field;
    visit(Field("layers", &Paint::layers, "Coats of paint", {1, 8}, "coats"));
    visit(Field("gloss", &Paint::gloss, "How it shines", {0, 1, true}).in(base::kMostUsed));
    visit(Field("price", &Paint::price, "Of a litre", {0}, "euro"));
    visit(Field("dries", &Paint::dries, "Whether it ever does"));
    visit(Field("colour", &Paint::colour, "As seen by day"));
    visit(Field("primer", &Paint::primer, "Below the paint"));
    visit(Field("maker", &Paint::maker, "Who sells it"));
    visit(Field("reserve", &Paint::reserve, "In store", {-1, 1e12}).course().without_flag().under("--in-store"));
  }
};

static_assert(base::HasFields<Paint> && !base::HasFields<Colour> && !base::HasFields<int>);

TEST(Range, SaysWhatItHolds) {
  EXPECT_EQ((base::Range{1, 128}).text(), "1 to 128");
  EXPECT_EQ((base::Range{0, 1, true}).text(), "above 0, to 1");
  EXPECT_EQ((base::Range{0}).text(), "0 or more");
  EXPECT_EQ((base::Range{-5, 1e6}).text(), "-5 to 1000000");
  EXPECT_EQ(base::Range{}.text(), "");
}

TEST(Range, HoldsItsEnds) {
  EXPECT_TRUE((base::Range{1, 2}).holds(1) && (base::Range{1, 2}).holds(2));
  EXPECT_FALSE((base::Range{1, 2}).holds(0.99) || (base::Range{1, 2}).holds(2.01));
  EXPECT_TRUE((base::Range{0, 1, true}).holds(1e-300));
  EXPECT_FALSE((base::Range{0, 1, true}).holds(0));
  EXPECT_FALSE((base::Range{0}).holds(std::nan("")));
}

TEST(Fields, AreVisitedInTheirOrder) {
  std::vector<std::string> names;
  Paint::fields([&](const auto& field) { names.emplace_back(field.name); });
  EXPECT_THAT(names, testing::ElementsAre("layers", "gloss", "price", "dries", "colour", "primer", "maker", "reserve"));
}

TEST(Fields, AreFoundByTheirMember) {
  EXPECT_STREQ(base::field_of(&Paint::layers).name, "layers");
  EXPECT_STREQ(base::field_of(&Paint::colour).name, "colour");
}

TEST(Fields, AreDescribedWithUnitAndRange) {
  EXPECT_EQ(base::field_of(&Paint::layers).description(), "Coats of paint (coats, 1 to 8)");
  EXPECT_EQ(base::field_of(&Paint::gloss).description(), "How it shines (above 0, to 1)");
  EXPECT_EQ(base::field_of(&Paint::maker).description(), "Who sells it");
  EXPECT_EQ(base::described("Help", "tokens", {}), "Help (tokens)");
}

TEST(Fields, HaveTheFlagOfTheirNameUnlessTheyNameAnother) {
  EXPECT_EQ(base::field_of(&Paint::layers).flag_spelling(), "--layers");
  EXPECT_EQ(base::flag_spelling("max_length_ratio"), "--max-length-ratio");
  EXPECT_EQ(base::field_of(&Paint::reserve).flag_spelling(), "--in-store");
}

TEST(Fields, StandUnderTheTitleOfTheirTableUnlessTheyNameAnother) {
  EXPECT_STREQ(base::field_of(&Paint::layers).title(), "Paint");
  EXPECT_STREQ(base::field_of(&Paint::gloss).title(), "Most used");
}

TEST(CheckFields, NamesFieldValueAndRange) {
  const auto error = [](auto change) {
    Paint paint;
    change(paint);
    return error_of([&] { base::check_fields(paint); });
  };
  EXPECT_EQ(error([](Paint&) {}), "no error");
  EXPECT_EQ(error([](Paint& paint) { paint.layers = 9; }), "layers is 9, must be 1 to 8");
  EXPECT_EQ(error([](Paint& paint) { paint.gloss = 0; }), "gloss is 0, must be above 0, to 1");
  EXPECT_EQ(error([](Paint& paint) { paint.price = std::nan(""); }), "price is nan, must be 0 or more");
  EXPECT_EQ(error([](Paint& paint) { paint.reserve = -2; }), "reserve is -2, must be -1 to 1000000000000");
}

TEST(TextOf, IsWhatTheCommandLineReads) {
  EXPECT_EQ(base::text_of(true), "true");
  EXPECT_EQ(base::text_of(0.6), "0.6");
  EXPECT_EQ(base::text_of(0.1F), "0.1");
  EXPECT_EQ(base::text_of(Colour::kRed), "red");
  EXPECT_EQ(base::text_of(std::optional<Colour>()), "auto");
  EXPECT_EQ(base::text_of(std::string("text")), "text");
}

TEST(JsonFields, ComeBackAsTheyWere) {
  const auto all = [](const auto&) { return true; };
  const Paint paint = {3, 0.25F, 9.5, false, Colour::kRed, Colour::kGreen, "somebody", 7};
  const json tree = base::json_of_fields(paint, all);
  EXPECT_EQ(tree, json::parse(R"({"layers": 3, "gloss": 0.25, "price": 9.5, "dries": false, "colour": "red",
                                  "primer": "green", "maker": "somebody", "reserve": 7})"));
  Paint read;
  base::read_fields(base::JsonFields(tree, "paint.json"), read, all);
  EXPECT_EQ(base::json_of_fields(read, all), tree);
}

TEST(JsonFields, FloatsAreTheirShortestDecimals) {
  Paint paint;
  paint.gloss = 0.3F;
  const json tree = base::json_of_fields(paint, [](const auto& field) { return std::string(field.name) == "gloss"; });
  EXPECT_EQ(base::dump_json(tree), "{\"gloss\":0.3}");
  paint.gloss = 0;
  base::read_fields(base::JsonFields(tree, "paint.json"), paint, [](const auto&) { return true; });
  EXPECT_EQ(paint.gloss, 0.3F);
}

TEST(JsonFields, OfAnotherTypeAreRefused) {
  const auto error = [](const char* text) {
    Paint paint;
    const auto known = [](const auto& field) { return field.flag != base::Flag::kNone; };
    const json tree = json::parse(text);
    return error_of([&] { base::read_fields(base::JsonFields(tree, "paint.json"), paint, known); });
  };
  EXPECT_EQ(error(R"({"layers": 2.5})"), "paint.json: layers must be an integer, is 2.5");
  EXPECT_EQ(error(R"({"layers": 2147483648})"), "paint.json: layers must be an integer, is 2147483648");
  EXPECT_EQ(error(R"({"layers": 18446744073709551615})"),
            "paint.json: layers must be an integer, is 18446744073709551615");
  EXPECT_EQ(error(R"({"gloss": "much"})"), "paint.json: gloss must be a number, is \"much\"");
  EXPECT_EQ(error(R"({"dries": 1})"), "paint.json: dries must be true or false, is 1");
  EXPECT_EQ(error(R"({"colour": 1})"), "paint.json: colour must be a string, is 1");
  EXPECT_EQ(error(R"({"colour": "blue"})"), "colour is \"blue\", must be one of red, green");
  EXPECT_EQ(error(R"({"maker": null, "reserve": "not chosen"})"), "no error");
  EXPECT_EQ(error("[]"), "paint.json: must be a JSON object");
}

}  // namespace
}  // namespace dragoman
