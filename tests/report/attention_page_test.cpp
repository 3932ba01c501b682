#include "report/attention_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/error.h"
#include "report/attention_page_from_word.h"
#include "report/attention_page_token.h"
#include "report/attention_page_word.h"
#include "support/error_of.h"
#include "support/markup_check.h"

namespace dragoman::report {
namespace {

using nlohmann::json;
using test_support::count_of;
using test_support::MarkupCheck;
using testing::HasSubstr;
using testing::Not;

/// `layers` x `heads` matrices; each weight tells its place.
AttentionGrid grid(size_t layers, size_t heads, size_t rows, size_t columns) {
  AttentionGrid result(layers, std::vector<std::vector<float>>(heads));
  for (size_t layer = 0; layer < layers; ++layer) {
    for (size_t head = 0; head < heads; ++head) {
      for (size_t i = 0; i < rows * columns; ++i) {
        result[layer][head].push_back(0.1F * static_cast<float>(layer) + 0.01F * static_cast<float>(head) +
                                      0.0001F * static_cast<float>(i));
      }
    }
  }
  return result;
}

AttentionPageData sample_page() {
  AttentionPageData data;
  data.source_text = "the animal";
  data.translation = "das Tier";
  data.source_pieces = {"\u2581the", "\u2581animal", "</s>"};
  data.decoder_pieces = {"<s>", "\u2581das"};
  data.target_pieces = {"\u2581das", "</s>"};
  data.encoder_self = grid(2, 3, 3, 3);
  data.decoder_self = grid(1, 3, 2, 2);
  data.cross = grid(1, 3, 2, 3);
  return data;
}

/// The JSON in the page.
json data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const size_t begin = page.find(open) + open.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

void expect_sound(const std::string& markup) {
  const auto fault = MarkupCheck::first_fault(markup);
  EXPECT_FALSE(fault.has_value()) << *fault;
}

TEST(AttentionPage, EmbedsEveryWeight) {
  const std::string page = attention_page(sample_page());
  expect_sound(page);
  const json data = data_of(page);
  ASSERT_EQ(data["kinds"].size(), 3U);
  EXPECT_EQ(data["kinds"][0]["layers"].size(), 2U);
  EXPECT_EQ(data["kinds"][0]["layers"][1][2][4], 1204) << "layer 1, head 2, cell 4 is 0.1204";
  EXPECT_EQ(data["kinds"][1]["rows"], json({"\u2581das", "</s>"}));
  EXPECT_EQ(data["kinds"][1]["columns"], json({"\u2581the", "\u2581animal", "</s>"}));
  EXPECT_EQ(data["kinds"][2]["rows"], json({"<s>", "\u2581das"}));
}

TEST(AttentionPage, NeedsNothingFromOutside) {
  std::string page = attention_page(sample_page());
  const std::string svg_namespace = "http://www.w3.org/2000/svg";  // a name, never fetched
  page.erase(page.find(svg_namespace), svg_namespace.size());
  for (const char* reference : {"http:", "https:", "src=", "url(", "@import", "<link", "href=", "fetch(", "import("}) {
    EXPECT_THAT(page, Not(HasSubstr(reference)));
  }
}

TEST(AttentionPage, HostileTextsStayTexts) {
  const std::string hostile = "</script><script>alert(1)</script><!--\u2028\xFF&amp;'\"";
  AttentionPageData data = sample_page();
  data.title = data.source_text = data.translation = hostile;
  data.source_pieces[1] = data.target_pieces[0] = data.decoder_pieces[1] = hostile;
  const std::string page = attention_page(data);
  expect_sound(page);
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("<!--")));
  EXPECT_EQ(count_of(page, "</script>"), 2U) << "the data's end and the script's end";
  const std::string seen = data_of(page)["kinds"][0]["rows"][1];
  EXPECT_EQ(seen, "</script><script>alert(1)</script><!--\u2028\uFFFD&amp;'\"") << "the reader gets the text back";
}

TEST(AttentionPage, WeightsThatAreNotFiniteAreNull) {
  AttentionPageData data = sample_page();
  data.cross[0][0][0] = NAN;
  data.cross[0][0][1] = INFINITY;
  const json weights = data_of(attention_page(data))["kinds"][1]["layers"][0][0];
  EXPECT_TRUE(weights[0].is_null());
  EXPECT_TRUE(weights[1].is_null());
}

TEST(AttentionPage, LeavesOutKindsWithoutWeights) {
  AttentionPageData data = sample_page();
  data.cross.clear();
  EXPECT_EQ(data_of(attention_page(data))["kinds"].size(), 2U);
  EXPECT_TRUE(data_of(attention_page({}))["kinds"].empty());
  expect_sound(attention_page({}));
}

TEST(AttentionPage, RefusesSizesThatDisagree) {
  AttentionPageData data = sample_page();
  data.cross[0][1].pop_back();
  EXPECT_THAT(test_support::error_of([&] { attention_page(data); }),
              HasSubstr("cross layer 0 head 1 has 5 weights, but 2 x 3 pieces"));
}

TEST(AttentionFromWord, DrawsOneFigureALayerFromTheChosenWord) {
  AttentionPageData data = sample_page();
  data.from_word = "animal";
  const std::string page = attention_page(data);
  EXPECT_EQ(count_of(page, "<figcaption>"), 2U);
  EXPECT_THAT(page, HasSubstr("Where “animal” looks"));
  EXPECT_THAT(page, HasSubstr("“animal”在看哪里"));
  expect_sound(attention_from_word(data));
  EXPECT_THAT(attention_page(sample_page()), Not(HasSubstr("<figcaption>")));
}

/// A sentence whose word has three pieces, after a word that ends like it.
AttentionPageData pieces_page() {
  AttentionPageData data;
  data.source_pieces = {"\u2581w", "ause", "\u2581be", "c", "ause", "\u2581it", ".", "</s>"};
  data.encoder_self = {{std::vector<float>(64, 0.0F), std::vector<float>(64, 0.0F)}};
  data.from_word = "because";
  return data;
}

TEST(AttentionFromWord, AWordOfSeveralPiecesIsOneTokenWithTheMeanOfTheirRowsAndTheSumOfTheirColumns) {
  AttentionPageData data = pieces_page();
  std::vector<float>& weights = data.encoder_self[0][1];
  weights[2 * 8 + 5] = 0.9F;  // "be" looks at "it"
  weights[3 * 8 + 5] = 0.6F;
  weights[3 * 8 + 2] = 0.3F;  // "c" looks at "be" and "ause"
  weights[3 * 8 + 4] = 0.1F;
  const WordPlace word = find_word(data);
  EXPECT_EQ(word.begin, 2U);
  EXPECT_EQ(word.end, 5U);
  const TokenAttention attention = attention_from(data, word, 0);
  EXPECT_EQ(attention.tokens, (std::vector<std::string>{"\u2581w", "ause", "because", "\u2581it", ".", "</s>"}));
  EXPECT_EQ(attention.query, 2U);
  EXPECT_FLOAT_EQ(attention.weights[1][3], 0.5F);
  EXPECT_FLOAT_EQ(attention.weights[1][2], 0.4F / 3.0F);
  expect_sound(attention_page(data));
}

TEST(AttentionFromWord, AWholeWordComesBeforeAPartOfOne) {
  AttentionPageData data;
  data.source_pieces = {"\u2581w", "it", "h", "\u2581it", ".", "</s>"};
  data.from_word = "it";
  EXPECT_EQ(find_word(data).begin, 3U);
  data.source_pieces = {"\u2581w", "it", "h", "</s>"};
  EXPECT_EQ(find_word(data).begin, 1U) << "without a whole word, the part";
  data.source_pieces = {"\u2581it", "'", "s", "</s>"};
  EXPECT_EQ(find_word(data).begin, 0U);
}

TEST(AttentionPage, OpensAtTheHeadInWhichTheWordLooksMostAtAnotherWord) {
  AttentionPageData data = pieces_page();
  data.encoder_self.push_back({std::vector<float>(64, 0.0F), std::vector<float>(64, 0.0F)});
  for (size_t row = 2; row < 5; ++row) {
    data.encoder_self[1][0][row * 8 + 5] = 0.7F;  // at "it"
    data.encoder_self[0][1][row * 8 + 3] = 0.9F;  // at itself
    data.encoder_self[0][0][row * 8 + 7] = 0.8F;  // at the end
    data.encoder_self[1][1][row * 8 + 6] = 0.8F;  // at the full stop
  }
  EXPECT_EQ(data_of(attention_page(data))["open"], json({{"layer", 1}, {"head", 0}, {"row", 2}}));
  EXPECT_THAT(attention_page(data), HasSubstr("It looks most at “it”: 0.70, layer 2, head 1."));
  EXPECT_TRUE(data_of(attention_page(sample_page()))["open"].is_null());
}

TEST(AttentionPage, EveryTextOfTheScriptIsInBothLanguages) {
  const std::string page = attention_page(sample_page());
  const json chinese = data_of(page)["chinese"];
  const std::regex pattern("\\Wt\\((?:[A-Za-z =<0\"]* \\? )?\"([^\"]+)\"(?: : \"([^\"]+)\")?");
  size_t found = 0;
  for (std::sregex_iterator match(page.begin(), page.end(), pattern), end; match != end; ++match) {
    for (size_t group = 1; group < match->size(); ++group) {
      if (const std::string text = (*match)[group]; !text.empty()) {
        EXPECT_TRUE(chinese.contains(text)) << text;
        ++found;
      }
    }
  }
  EXPECT_GE(found, 10U);
  const json data = data_of(page);
  for (const json& kind : data["kinds"]) {
    EXPECT_TRUE(chinese.contains(kind["name"].get<std::string>()) && chinese.contains(kind["note"].get<std::string>()));
  }
}

TEST(AttentionFromWord, NamesThePiecesWhenTheWordIsNotThere) {
  AttentionPageData data = sample_page();
  data.from_word = "street";
  EXPECT_EQ(test_support::error_of([&] { attention_from_word(data); }),
            "attention: the sentence has no word 'street'; its pieces are the, animal, </s>");
}

TEST(AttentionFromToken, DrawsACellForEachHeadAndTokenAndAnArcForEachTokenLookedAt) {
  const std::string svg = attention_from_token_svg(
      {{"the", "<animal>", "it"}, 2, {{0.0F, 0.75F, 0.25F}, {0.0F, 0.25F, 0.75F}}, "where \"it\" looks"});
  expect_sound(svg);
  EXPECT_EQ(count_of(svg, "<rect class=\"ta-cell\""), 6U);
  EXPECT_EQ(count_of(svg, "<path class=\"ta-arc\""), 2U) << "no arc to \"the\": its weight is 0";
  EXPECT_THAT(svg, HasSubstr("<title>head 1 / 第 1 头: it \u2192 &lt;animal&gt;: 0.750</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>mean of heads / 各头的平均: it \u2192 &lt;animal&gt;: 0.500</title>"));
  EXPECT_THAT(svg, HasSubstr("aria-label=\"where &quot;it&quot; looks\""));
}

TEST(AttentionFromToken, NanAndNoHeadsAreHarmless) {
  const std::string svg = attention_from_token_svg({{"a", "b"}, 0, {{NAN, 1.0F}}, ""});
  expect_sound(svg);
  EXPECT_THAT(svg, HasSubstr("not a number"));
  EXPECT_THAT(svg, Not(HasSubstr("\"nan")));
  expect_sound(attention_from_token_svg({{"a"}, 0, {}, ""}));
}

TEST(AttentionFromToken, RefusesSizesThatDisagree) {
  EXPECT_THROW(attention_from_token_svg({{"a"}, 1, {}, ""}), base::Error);
  EXPECT_THROW(attention_from_token_svg({{}, 0, {}, ""}), base::Error);
  EXPECT_THROW(attention_from_token_svg({{"a", "b"}, 0, {{1.0F}}, ""}), base::Error);
}

}  // namespace
}  // namespace dragoman::report
