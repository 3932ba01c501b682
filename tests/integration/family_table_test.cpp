// The table of docs/family.md: every command with a model of every architecture. A cell says yes where the command ends
// with success; elsewhere it must refuse the model with a message. The test writes the table to family_table.md in its
// folder of the build; copy it to docs/family.md and docs/zh/family.md after a change.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/files.h"
#include "support/running_server.h"
#include "support/training_runs.h"

namespace dragoman {
namespace {

using test_support::BackgroundProgram;
using test_support::Outcome;

// Models of a few thousand weights. The folder of each begins with the name of its architecture.
struct Architecture {
  std::string name;                                  // of config.json
  std::string train;                                 // what is given to `train`
  std::map<std::string, std::string> imported = {};  // more models: folders of the tests, by what ends the name here
};

const std::vector<Architecture>& architectures() {
  static const std::string pairs =
      " --vocab-size 20 --source train.source --target train.target --valid-source valid.source --valid-target "
      "valid.target";
  static const std::string text = " --text train.target --valid-text valid.target";
  static const std::vector<Architecture> all = {
      {"transformer", "--preset tiny --encoder-layers 1 --decoder-layers 1 --d-model 16" + pairs},
      {"decoder-only", "--preset gpt-mini --layers 1 --d-model 16" + text},
      {"encoder-only",
       "--preset bert-mini --layers 1 --d-model 16 --vocab-size 40" + text,
       {{".classes", "bert_classes"}, {".tags", "bert_tags"}}},
      {"recurrent", "--preset gru-mini --d-model 16 --d-hidden 16" + pairs},
      {"convolutional", "--preset conv-mini --encoder-layers 1 --decoder-layers 1 --d-model 16 --d-hidden 16" + pairs}};
  return all;
}

// A command, and its arguments for each kind of model. It works with an architecture where one of them succeeds with a
// model of it.
struct Command {
  std::string name;
  std::vector<std::string> ways;
};

const std::vector<Command>& commands() {
  static const std::vector<Command> all = {
      {"translate", {"--model {model} --input valid.source"}},
      {"generate", {"--model {model} --prompt 3 --max-tokens 2"}},
      {"embed", {"--model {model} --input valid.source"}},
      {"classify", {"--model {model} --input valid.source"}},
      {"tag", {"--model {model} --input valid.source"}},
      {"fill-mask", {"--model {model} --input masked"}},
      {"score", {"--model {model} --source valid.source --target valid.target", "--model {model} --text valid.target"}},
      {"attention", {"--model {model} --text 3 --output attention.html"}},
      {"inspect", {"--model {model} --verify"}},
      {"tune", {"--model {model} --source valid.source --target valid.target"}},
      {"quantize", {"--model {model} --output {model}.int8"}},
      {"shortlist", {"--model {model} --source valid.source"}},
      {"average", {"--input {model} --output {model}.average"}},
      {"export",
       {"--to hf-marian --model {model} {model}.marian", "--to hf-gpt2 --model {model} {model}.gpt2",
        "--to hf-llama --model {model} {model}.llama", "--to hf-bert --model {model} {model}.bert"}}};
  return all;
}

class FamilyTable : public test_support::TrainingRuns {
 protected:
  FamilyTable() { program_.write("masked", "3 [MASK] 4\n"); }

  void train(const Architecture& architecture, const std::string& more) const {
    succeed("train --max-steps 2 --average 0 --workers 1 --batch-tokens 300 " + architecture.train + " " + more);
  }
  void make(const Architecture& architecture) const {
    train(architecture, "--model " + architecture.name);
    for (const auto& [end, folder] : architecture.imported) {
      succeed("import --from hf-bert " DRAGOMAN_SOURCE "/tests/golden/hf_encoders/" + folder + " --model " +
              architecture.name + end);
    }
  }
  void succeed(const std::string& words) const {
    const Outcome outcome = program_.run(words);
    ASSERT_EQ(outcome.status, 0) << words << ": " << outcome.err;
  }

  static std::vector<std::string> models_of(const Architecture& architecture) {
    std::vector<std::string> models = {architecture.name};
    for (const auto& [end, folder] : architecture.imported) {
      models.push_back(architecture.name + end);
    }
    return models;
  }
  bool succeeds(const Command& command, const std::string& way, const std::string& model) const {
    const std::string words = command.name + " " + fmt::format(fmt::runtime(way), fmt::arg("model", model));
    const Outcome outcome = program_.run(words);
    if (outcome.status != 0) {
      EXPECT_THAT(outcome.status, testing::AnyOf(2, 65)) << words << ": " << outcome.err;
      EXPECT_THAT(outcome.err, testing::HasSubstr(": ")) << words;
    }
    return outcome.status == 0;
  }
  std::string cell(const Architecture& architecture, const Command& command) const {
    for (const std::string& model : models_of(architecture)) {
      for (const std::string& way : command.ways) {
        if (succeeds(command, way, model)) {
          return "yes";
        }
      }
    }
    return "no";
  }
  // Models of the digits name no languages, so a translation model is served with some.
  std::string serve_cell(const Architecture& architecture) const {
    for (const std::string& model : {architecture.name, "en:de=" + architecture.name}) {
      BackgroundProgram server(program_.folder(), {"serve", "--model", model, "--port", "0"});
      const auto serves = [&] { return server.errors().find("serving at") != std::string::npos; };
      EXPECT_TRUE(test_support::wait_until([&] { return serves() || server.has_ended(); })) << server.errors();
      if (serves()) {
        return "yes";
      }
      EXPECT_THAT(server.wait(), testing::AnyOf(2, 65)) << server.errors();
    }
    return "no";
  }
  std::string row(const std::string& command, const std::function<std::string(const Architecture&)>& cell_of) const {
    std::string line = "| `" + command + "` |";
    for (const Architecture& architecture : architectures()) {
      line += " " + cell_of(architecture) + " |";
    }
    return line + "\n";
  }
};

TEST_F(FamilyTable, EachTrainsInEachPrecisionOnEveryMachine) {
  for (const Architecture& architecture : architectures()) {
    for (const std::string precision : {"float32", "bfloat16"}) {
      train(architecture, "--precision " + precision + " --model " + architecture.name + "." + precision);
    }
  }
}

TEST_F(FamilyTable, IsThatOfTheDocs) {
  std::string table = "| command |", rule = "|---|";
  for (const Architecture& architecture : architectures()) {
    make(architecture);
    table += " `" + architecture.name + "` |";
    rule += "---|";
  }
  table += "\n" + rule + "\n";
  table += row("train", [](const Architecture&) { return "yes"; });  // else `make` has failed
  for (const Command& command : commands()) {
    table += row(command.name, [&](const Architecture& of) { return cell(of, command); });
  }
  table += row("serve", [&](const Architecture& of) { return serve_cell(of); });
  base::write_file_atomic("family_table.md", table);
  for (const char* page : {"docs/family.md", "docs/zh/family.md"}) {
    const std::string text = base::read_file(std::filesystem::path(DRAGOMAN_SOURCE) / page);
    EXPECT_TRUE(text.find(table) != std::string::npos) << page << " does not have this table:\n" << table;
  }
}

}  // namespace
}  // namespace dragoman
