#include "report/samples_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace dragoman::report {
namespace {

using testing::HasSubstr;

TEST(SamplesFile, ReadsWhatItWrote) {
  const test_support::TemporaryFolder folder;
  const auto path = folder.path() / kSamplesName;
  write_samples(path, {{500, {{"a \"b\"", "c\n", "\u2581"}}}, {1000, {{"a", "", ""}, {"d", "e", "f"}}}});
  const std::vector<SampleSet> sets = read_samples(path);
  ASSERT_EQ(sets.size(), 2U);
  EXPECT_EQ(sets[0].step, 500);
  EXPECT_EQ(sets[0].samples[0].source, "a \"b\"");
  EXPECT_EQ(sets[0].samples[0].reference, "c\n");
  EXPECT_EQ(sets[0].samples[0].hypothesis, "\u2581");
  EXPECT_EQ(sets[1].samples.size(), 2U);
}

TEST(SamplesFile, AMissingFileHasNoSets) {
  const test_support::TemporaryFolder folder;
  EXPECT_TRUE(read_samples(folder.path() / kSamplesName).empty());
}

TEST(SamplesFile, SaysWhichFileHasAnotherForm) {
  const test_support::TemporaryFolder folder;
  const auto path = folder.path() / kSamplesName;
  for (const char* text : {"[1]", "[{\"step\": 1}]", "[{\"step\": \"one\", \"samples\": []}]", "[{"}) {
    base::write_file_atomic(path, text);
    EXPECT_THAT(test_support::error_of([&] { (void)read_samples(path); }), HasSubstr("samples.json")) << text;
  }
}

}  // namespace
}  // namespace dragoman::report
