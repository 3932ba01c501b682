// The page with the story of a text, as a file. What it shows is tested in a browser (python/tests/test_pages.py).
#include "serving/story_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>

#include "aligned_translator.h"
#include "decoding/tiny_language_model.h"
#include "served_tiny_model.h"
#include "serving/inspect/inspect_reply.h"
#include "serving/page/page_assets.h"
#include "serving/page/page_modules.h"
#include "support/error_of.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string kText = "the red cat sleeps";

std::string page_of(const std::string& text) {
  const auto translator = tiny_translator();
  return story_page(*translator, {.text = text, .options = translator->search_defaults()});
}

size_t count_of(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

json kept_in(const std::string& page) {
  const std::string open = R"(<script type="application/json" id="kept">)";
  const size_t begin = page.find(open) + open.size();
  return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

const json& part_of(const json& kept, const std::string& part, const std::string& path = {}) {
  const auto found = std::ranges::find_if(
      kept["parts"], [&](const json& one) { return one["part"] == part && one.value("path", std::string()) == path; });
  if (found == kept["parts"].end()) {
    throw std::out_of_range("there is no part " + part + " of " + path);
  }
  return *found;
}

TEST(StoryPage, HoldsWhatTheServerAnswers) {
  const json kept = kept_in(page_of(kText));
  const auto translator = tiny_translator();
  InspectBody body = parse_inspect_body(
      json({{"text", kText},
            {"parts", {{{"part", "attention"}, {"path", "decoder.layers.1.cross_attention"}}, {{"part", "beam"}}}}})
          .dump());
  body.complete(translator->search_defaults());
  const json answer = json::parse(inspect_reply(*translator, body));
  EXPECT_EQ(kept["target"], answer["target"]);
  EXPECT_EQ(kept["model"], answer["model"]);
  EXPECT_TRUE(part_of(kept, "attention", "decoder.layers.1.cross_attention") == answer["parts"][0]);
  EXPECT_TRUE(part_of(kept, "beam") == answer["parts"][1]);
  EXPECT_EQ(part_of(kept, "weights")["attentions"].size(), 6U) << "two layers in the encoder, twice two in the decoder";
  EXPECT_EQ(part_of(kept, "candidates")["steps"].size(), kept["target"]["ids"].size());
  EXPECT_NO_THROW(part_of(kept, "residual", "encoder.layers.1.feed_forward"));
  EXPECT_EQ(kept["request"]["text"], kText);
}

TEST(StoryPage, OfALanguageModelHoldsThePromptAndWhatFollows) {
  const decoding::Generator generator(decoding::tiny_language_model(), decoding::letters(),
                                      decoding::ServiceThreads{.workers = 1});
  const json kept = kept_in(story_page(generator, {.text = "the cat", .options = {}, .max_tokens = 5}));
  EXPECT_EQ(kept["source"]["pieces"], json({"t", "h", "e", " ", "c", "a", "t"}));
  EXPECT_LE(kept["target"]["ids"].size(), 6U + 5U);
  EXPECT_NO_THROW(part_of(kept, "attention", "layers.0.self_attention"));
  EXPECT_NO_THROW(part_of(kept, "attention", "layers.1.self_attention"));
  EXPECT_NO_THROW(part_of(kept, "residual", "layers.1.feed_forward"));
  EXPECT_NO_THROW(part_of(kept, "output", "decoder"));
}

TEST(StoryPage, OfRelativePositionsHoldsWhatTheyAdd) {
  models::TransformerConfig config = test_support::tiny_config(decoding::vocabulary().size());
  config.positions = nn::PositionKind::kRelative;
  auto model = std::make_shared<models::Transformer>(config);
  model->parameters().allocate();
  model->parameters().initialize(1);
  model->parameters().pack_weights();
  const decoding::Translator translator = translator_of(std::move(model));
  const json kept = kept_in(story_page(translator, {.text = kText, .options = translator.search_defaults()}));
  const json& numbers = part_of(kept, "parameter", "encoder.relative_positions.weight")["parameter"];
  EXPECT_EQ(numbers["shape"], json({kept["model"]["relative_buckets"], config.n_heads}));
}

TEST(StoryPage, OfModelsWithoutSelfAttentionHoldsWhatTheyCompute) {
  const auto kept_of = [](std::shared_ptr<models::Model> model) {
    const decoding::Translator translator = translator_of(std::move(model));
    decoding::SearchOptions options = translator.search_defaults();
    options.length.max_length_extra = 3;
    return kept_in(story_page(translator, {.text = kText, .options = options}));
  };
  for (const decoding::RecurrentShape& shape : decoding::kRecurrentShapes) {
    const json kept = kept_of(decoding::tiny_recurrent(shape, decoding::vocabulary().size()));
    EXPECT_NO_THROW(part_of(kept, "cell", "encoder.layers.0.backward")) << shape.name;
    EXPECT_NO_THROW(part_of(kept, "first_state", "decoder.layers.0")) << shape.name;
    EXPECT_NO_THROW(part_of(kept, "output", fmt::format("encoder.layers.{}", shape.layers - 1))) << shape.name;
    EXPECT_EQ(part_of(kept, "weights")["attentions"].empty(), shape.attention == models::RecurrentAttention::kNone);
  }
  const json kept = kept_of(decoding::tiny_convolutional(decoding::vocabulary().size()));
  EXPECT_NO_THROW(part_of(kept, "convolution", "encoder.layers.1"));
  EXPECT_NO_THROW(part_of(kept, "attention", "decoder.layers.1.attention"));
}

TEST(StoryPage, ATextClosesNoElement) {
  const std::string hostile = "the </script><script>alert(1)</script> <!-- & \" '";
  const std::string page = page_of(hostile);
  EXPECT_EQ(count_of(page, "</script>"), count_of(page_of(kText), "</script>"));
  EXPECT_EQ(count_of(page, "<!--"), 0U);
  EXPECT_EQ(kept_in(page)["source"]["text"], hostile);
}

TEST(StoryPage, SaysWhatItCannotShow) {
  EXPECT_THAT(test_support::error_of([] { page_of("  "); }), HasSubstr("the text is blank"));
  std::string much;
  for (int i = 0; i < 200; ++i) {
    much += "cat ";
  }
  EXPECT_THAT(test_support::error_of([&] { page_of(much); }), HasSubstr("can be looked into"));
}

// The bytes that a text in base64 stands for.
std::string decoded(std::string_view text) {
  const std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t value = alphabet.find(c);
    if (value == std::string_view::npos) {
      break;  // the = at the end
    }
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xFF);
    }
  }
  return bytes;
}

TEST(PageModules, TheMapHoldsEveryScriptThatIsImported) {
  const json imports = json::parse(import_map("story_file.js", {{"api.js", "kept_replies.js"}}))["imports"];
  const std::string begin = "data:text/javascript;base64,";
  std::set<std::string> imported = {"assets/story_file.js"};
  for (const auto& [name, address] : imports.items()) {
    const std::string script = decoded(address.get<std::string>().substr(begin.size()));
    EXPECT_EQ(script.find("\"/assets/"), std::string::npos) << name << " asks a server";
    for (size_t at = script.find("from \""); at != std::string::npos; at = script.find("from \"", at + 1)) {
      const size_t from = at + 6;
      if (const std::string quoted = script.substr(from, script.find('"', from) - from);
          quoted.starts_with("assets/")) {
        imported.insert(quoted);  // other quotes stand in texts
      }
    }
  }
  std::set<std::string> held;
  for (const auto& [name, address] : imports.items()) {
    held.insert(name);
  }
  EXPECT_EQ(held, imported);
  EXPECT_TRUE(imports["assets/api.js"] == imports["assets/kept_replies.js"]) << "one script, not two with a state each";
  EXPECT_EQ(held.count("assets/translate.js"), 0U) << "views that it does not show";
  const Asset* story = find_asset("/assets/story_layout.js");
  ASSERT_NE(story, nullptr);
  EXPECT_GT(decoded(imports["assets/story_layout.js"].get<std::string>().substr(begin.size())).size(),
            story->bytes.size() / 2);
}

TEST(PageModules, RefusesAFileThatIsNotThere) {
  EXPECT_THAT(test_support::error_of([] { static_cast<void>(import_map("none.js", {})); }),
              HasSubstr("no file none.js"));
  EXPECT_THAT(test_support::error_of([] { static_cast<void>(page_texts({"none.css"})); }),
              HasSubstr("no file none.css"));
}

}  // namespace
}  // namespace dragoman::serving
