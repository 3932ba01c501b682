#include "cli/study_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace dragoman::cli {
namespace {

class StudyFile : public ::testing::Test {
 protected:
  StudyFile() {
    for (const char* text : {"train.en", "train.de"}) {
      std::ofstream(folder_.path() / text) << "one\n";
    }
    std::ofstream(folder_.path() / "two.yaml")
        << "texts: {source: train.en, target: train.de}\n"
           "options: {preset: tiny, d-model: 64, vocab-size: 60, tokenizer: pieces.spm, dropout: 0.1}\n"
           "rows: {one: {}}\n"
           "stages:\n"
           "  first: {do: train, source: source, target: target}\n"
           "  kept: {do: filter, source: source, target: target, model: first, keep: 0.5}\n"
           "  second: {do: train, source: source, target: target, start-from: first}\n";
  }

  study::Study read(const std::vector<std::string>& changes = {}) const {
    return read_study(folder_.path() / "two.yaml", folder_.path(), changes);
  }

  test_support::TemporaryFolder folder_;
};

TEST_F(StudyFile, AStageThatStartsFromAModelHasItsShapeAndVocabulary) {
  const study::Study study = read();
  using Words = std::vector<std::string>;
  EXPECT_EQ(study.options_of(study.rows.front(), study.stages[0]).arguments(),
            (Words{"--preset=tiny", "--d-model=64", "--vocab-size=60", "--tokenizer=pieces.spm", "--dropout=0.1"}));
  EXPECT_EQ(study.options_of(study.rows.front(), study.stages[2]).arguments(),
            (Words{"--preset=tiny", "--dropout=0.1"}));
}

TEST_F(StudyFile, AChangedStageTakesTheOptionsOfItsCommand) {
  const study::Study study = read({"kept.batch-tokens=100", "second.dropout=0.2"});
  EXPECT_EQ(study.stages[1].options.find("batch-tokens")->front(), "100");
  EXPECT_EQ(study.stages[2].options.find("dropout")->front(), "0.2");
  EXPECT_THROW(read({"kept.dropout=0.2"}), base::Error);
}

TEST_F(StudyFile, AChangeOfWhatIsNotThereNamesWhatIs) {
  using test_support::expect_error;
  expect_error(base::ErrorKind::kUsage,
               {"no stage is called frist; stages: first, kept, second; did you mean \"first\""},
               [&] { read({"frist.dropout=0.2"}); });
  std::ofstream(folder_.path() / "two.yaml", std::ios::app) << "variables: {from: en}\n";
  expect_error(base::ErrorKind::kUsage, {"no variable and no option of that name; did you mean \"from\""},
               [&] { read({"form=de"}); });
}

}  // namespace
}  // namespace dragoman::cli
