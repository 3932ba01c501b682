// The command shortlist, and translate and quantize with what it stores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "models/model_folder.h"
#include "models/model_tensors.h"
#include "support/program.h"
#include "support/running_server.h"
#include "tiny_model.h"
#include "tiny_vocabulary.h"

namespace dragoman::decoding {
namespace {

using test_support::expect_failure;
using test_support::Outcome;
using testing::HasSubstr;

class ShortlistCommands : public testing::Test {
 protected:
  ShortlistCommands() {
    const auto model = tiny_model(nn::NormOrder::kPre, 1, vocabulary().size());
    models::publish_model_folder(program_.folder() / "model",
                                 {.config = models::to_json(model->config()),
                                  .tensors = models::named_tensors(model->parameters()),
                                  .vocabularies = {{"vocabulary.spm", vocabulary().bytes()}},
                                  .languages = "{\"source\":\"en\",\"target\":\"de\"}\n"});
    base::Random random(3);
    std::string source, target;
    for (int line = 0; line < 200; ++line) {
      source += random_line(random, 1 + random.below(5)) + "\n";
      target += random_line(random, 1 + random.below(5)) + "\n";
    }
    program_.write("source", source);
    program_.write("target", target);
  }
  Outcome learn(const std::string& options) const { return program_.run("shortlist --model model " + options); }
  Outcome translate(const std::string& options) const {
    return program_.run("translate --model model --input source " + options);
  }
  std::string file() const {
    std::ostringstream bytes;
    bytes << std::ifstream(program_.folder() / "model" / models::kShortlistName, std::ios::binary).rdbuf();
    return bytes.str();
  }

  test_support::Program program_;
};

TEST_F(ShortlistCommands, WithoutAListTranslateNamesTheCommandThatMakesOne) {
  expect_failure(translate("--shortlist --output out"), 2,
                 {"shortlist", "dragoman shortlist --model DIR --source FILE"});
  EXPECT_FALSE(std::filesystem::exists(program_.folder() / "out"));
}

TEST_F(ShortlistCommands, AListOfFilesIsStoredWithTheModelAndUsed) {
  const std::string without = translate("").out;
  const Outcome learned = learn("--source source --target target --frequent 2 --best 3");
  ASSERT_EQ(learned.status, 0) << learned.err;
  EXPECT_THAT(learned.out, HasSubstr("model/shortlist.safetensors: from 200 pairs of lines"));
  EXPECT_EQ(translate("").out, without) << "nobody asked for the list";
  const Outcome with = translate("--shortlist");
  ASSERT_EQ(with.status, 0) << with.err;
  EXPECT_NE(with.out, without) << "so few pieces must change translations of a random model";
  EXPECT_EQ(translate("--shortlist --workers 2 --batch-tokens 40").out, with.out);
  EXPECT_EQ(program_.run("inspect --model model --verify").status, 0);
  EXPECT_THAT(program_.run("inspect --model model").out, HasSubstr("shortlist.safetensors"));
  EXPECT_THAT(program_.run("inspect --model model --json").out, HasSubstr("\"source\": \"en\"")) << "other files stay";

  ASSERT_EQ(program_.run("quantize --model model --output int8").status, 0);
  EXPECT_EQ(program_.run("translate --model int8 --input source --shortlist").out,
            translate("--shortlist --precision int8").out)
      << "a quantised folder takes the list along";
}

TEST_F(ShortlistCommands, TheFileIsTheSameBytesWithAnyNumberOfWorkers) {
  ASSERT_EQ(learn("--source source --target target --workers 1").status, 0);
  const std::string one = file();
  ASSERT_EQ(learn("--source source --target target --workers 3").status, 0);
  EXPECT_EQ(file(), one);
}

TEST_F(ShortlistCommands, AListOfTheModelsOwnTranslationsChangesNoneOfThem) {
  const Outcome learned = learn("--source source --best 100");
  ASSERT_EQ(learned.status, 0) << learned.err;
  EXPECT_THAT(learned.err, HasSubstr("translated 200 of 200 lines"));
  EXPECT_EQ(translate("--beam-size 1 --shortlist").out, translate("--beam-size 1").out);
}

TEST_F(ShortlistCommands, ServeTranslatesWithTheListAndDoesNotStartWithoutOne) {
  expect_failure(program_.run("serve --model en:de=model --port 0 --shortlist"), 2, {"dragoman shortlist --model DIR"});
  ASSERT_EQ(learn("--source source --target target --frequent 2 --best 3").status, 0);
  std::istringstream expected(translate("--shortlist").out), lines(program_.read("source"));
  test_support::RunningServer server(program_.folder(), {"--shortlist"});
  for (int i = 0; i < 20; ++i) {
    std::string line, translation;
    std::getline(lines, line);
    std::getline(expected, translation);
    const auto answer =
        server.post("/translate", nlohmann::json({{"q", line}, {"source", "en"}, {"target", "de"}}).dump());
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(nlohmann::json::parse(answer.body)["translatedText"], translation) << line;
  }
  EXPECT_THAT(server.connect().ask("GET", "/v1/model?source=en&target=de", "", "").body,
              HasSubstr("\"shortlist\":true"));
  EXPECT_EQ(server.end(), 0);
}

TEST_F(ShortlistCommands, DamageIsRefusedByName) {
  ASSERT_EQ(learn("--source source --target target").status, 0);
  std::ofstream(program_.folder() / "model" / models::kShortlistName, std::ios::app) << " ";
  expect_failure(translate("--shortlist"), 65, {"shortlist.safetensors", "the manifest says"});
}

TEST_F(ShortlistCommands, WrongTextAndOptionsAreRefused) {
  program_.write("short", "the cat\n");
  expect_failure(learn("--source source --target short"), 65, {"source has 200 lines, short has 1"});
  expect_failure(learn("--source source --target target --best 0"), 2, {"best is 0, must be 1 to 100000"});
  expect_failure(learn("--source source --target target --iterations 0"), 2, {"iterations is 0"});
  expect_failure(learn("--target target"), 2, {"--source"});
  EXPECT_EQ(file(), "") << "nothing is stored";
}

}  // namespace
}  // namespace dragoman::decoding
