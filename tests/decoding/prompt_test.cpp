// The prompt of translate in a terminal: languages, editing, history, alternatives, the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "models/model_folder.h"
#include "models/model_tensors.h"
#include "support/program.h"
#include "support/terminal.h"
#include "tiny_model.h"
#include "tiny_vocabulary.h"

namespace dragoman::decoding {
namespace {

using test_support::Terminal;
using testing::HasSubstr;
using testing::Not;

class Prompt : public testing::Test {
 protected:
  Prompt() {
    const auto model = tiny_model(nn::NormOrder::kPre, 1, vocabulary().size());
    models::publish_model_folder(program_.folder() / "model",
                                 {.config = models::to_json(model->config()),
                                  .tensors = models::named_tensors(model->parameters()),
                                  .vocabularies = {{"vocabulary.spm", vocabulary().bytes()}},
                                  .languages = "{\"source\":\"en\",\"target\":\"de\"}\n"});
    base::Random random(3);
    sentence_ = random_line(random, 3);
    other_ = random_line(random, 4);
  }
  Terminal open(std::map<std::string, std::string> environment = {{"NO_COLOR", "1"}}) const {
    environment["TERM"] = "xterm";
    return {program_.folder(), {"translate", "--model", "model"}, {.environment = environment}};
  }
  std::string translation_of(const std::string& text) const {
    program_.write("line", text + "\n");
    const std::string out = program_.run("translate --model model <line").out;
    return out.substr(0, out.find('\n'));
  }

  test_support::Program program_;
  std::string sentence_, other_;
};

TEST_F(Prompt, NamesTheLanguagesAndTranslates) {
  Terminal terminal = open();
  terminal.wait_for("English to German.");
  terminal.wait_for("en > de: ");
  terminal.type(sentence_ + "\r");
  terminal.wait_for("\n" + translation_of(sentence_));
  terminal.wait_for("en > de: ");
  terminal.type("\x04");
  EXPECT_EQ(terminal.wait(), 0);
  EXPECT_TRUE(terminal.text().ends_with("\n"));
}

TEST_F(Prompt, ArrowUpBringsTheLastLineBackForEditing) {
  Terminal terminal = open();
  terminal.wait_for("en > de: ");
  terminal.type(sentence_ + "\r");
  terminal.wait_for("en > de: ");
  terminal.type(other_ + "\r");
  terminal.wait_for("en > de: ");
  terminal.type("\x1b[A\x1b[A");  // two lines back
  terminal.wait_for(sentence_.substr(0, 3));
  terminal.type("\r");
  terminal.wait_for("\n" + translation_of(sentence_));
  terminal.wait_for("en > de: ");
  terminal.type("x\x7f\x04");  // an erased letter leaves an empty line
  EXPECT_EQ(terminal.wait(), 0);
}

TEST_F(Prompt, AQuestionMarkShowsNumberedAlternatives) {
  Terminal terminal = open();
  terminal.wait_for("en > de: ");
  terminal.type("?\r");
  terminal.wait_for("Type a sentence first.");
  terminal.wait_for("en > de: ");
  terminal.type(sentence_ + "\r");
  terminal.wait_for("en > de: ");
  terminal.type("?\r");
  terminal.wait_for("\n  1. ");
  terminal.wait_for("en > de: ");
  EXPECT_THAT(terminal.text(), HasSubstr("\n  2. "));
}

TEST_F(Prompt, InterruptLeavesACleanLine) {
  Terminal terminal = open();
  terminal.wait_for("en > de: ");
  terminal.type("half a line");
  terminal.wait_for("half a line");
  terminal.type("\x03");
  EXPECT_EQ(terminal.wait(), 130);
  EXPECT_TRUE(terminal.text().ends_with("\n")) << terminal.text();
}

TEST_F(Prompt, ColoursAreShownUnlessNoColorIsSet) {
  Terminal colored = open({});
  colored.wait_for("en > de: ");
  EXPECT_THAT(colored.text(), HasSubstr("\x1b[36m"));
  Terminal plain = open();
  plain.wait_for("en > de: ");
  EXPECT_THAT(plain.text(), Not(HasSubstr("\x1b[36m")));
}

}  // namespace
}  // namespace dragoman::decoding
