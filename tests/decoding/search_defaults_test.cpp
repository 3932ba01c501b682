#include "decoding/search/search_defaults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace dragoman::decoding {
namespace {

TEST(SearchDefaults, ComeBackAsTheyWere) {
  SearchOptions options;
  options.beam_size = 7;
  options.ranking.length_penalty = LengthPenalty::kLength;
  options.ranking.alpha = 1.3;
  const SearchOptions read = search_defaults_from_json(search_defaults_json(options), "decoding.json");
  EXPECT_EQ(read.beam_size, 7);
  EXPECT_EQ(read.ranking.length_penalty, LengthPenalty::kLength);
  EXPECT_EQ(read.ranking.alpha, 1.3);
}

TEST(SearchDefaults, WhatIsNotStoredIsTheDefault) {
  EXPECT_EQ(search_defaults_from_json("", "decoding.json").beam_size, SearchOptions().beam_size);
  const SearchOptions read = search_defaults_from_json("{\"alpha\": 2}", "decoding.json");
  EXPECT_EQ(read.ranking.alpha, 2.0);
  EXPECT_EQ(read.beam_size, SearchOptions().beam_size);
}

TEST(SearchDefaults, WhatCannotBeIsNamedWithTheFile) {
  const std::vector<std::pair<const char*, const char*>> refused = {
      {"[]", "decoding.json: must be a JSON object"},
      {"{\"beamsize\": 4}", "decoding.json: unknown key \"beamsize\"; did you mean \"beam_size\"?"},
      {"{\"beam_size\": 4.5}", "decoding.json: beam_size must be an integer, is 4.5"},
      {"{\"beam_size\": 99999999999999}", "decoding.json: beam_size must be an integer, is 99999999999999"},
      {"{\"beam_size\": 0}", "decoding.json: beam_size is 0, must be 1 to 128"},
      {"{\"alpha\": \"much\"}", "decoding.json: alpha must be a number, is \"much\""},
      {"{\"alpha\": -6}", "decoding.json: alpha is -6, must be -5 to 5"},
      {"{\"length_penalty\": 1}", "decoding.json: length_penalty must be a string, is 1"},
      {"{\"length_penalty\": \"wu\"}", "decoding.json: length_penalty is \"wu\", must be one of gnmt, length"},
      {"{", "decoding.json"},
  };
  for (const auto& [text, message] : refused) {
    try {
      search_defaults_from_json(text, "decoding.json");
      ADD_FAILURE() << "accepted: " << text;
    } catch (const base::Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(message));
      EXPECT_EQ(error.exit_status(), 65) << text;
    }
  }
}

}  // namespace
}  // namespace dragoman::decoding
