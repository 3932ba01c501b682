// The commands and the server as a program that computes on a GPU, or on its emulation: answers are those of the CPU,
// and those of the server are those of the commands, also after a reload.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "kernels/cuda/cuda_device.h"
#include "support/program.h"
#include "support/running_server.h"

namespace dragoman {
namespace {

using models::EncoderHead;
using nlohmann::json;
using test_support::RunningServer;

constexpr double kNear = 1e-4;
const std::vector<std::string> kLines = {"the cat runs", "a dog sleeps and the cat runs .", "zebra", "the red house"};

// Expects equal trees, whose numbers may differ by kNear, for parts larger than 1 relatively.
void expect_near(const json& seen, const json& expected, const std::string& place = "") {
  if (expected.is_number_float()) {
    const auto value = expected.get<double>();
    EXPECT_NEAR(seen.get<double>(), value, kNear * std::max(1.0, std::abs(value))) << place;
    return;
  }
  ASSERT_EQ(seen.size(), expected.size()) << place;
  if (!expected.is_structured()) {
    EXPECT_EQ(seen, expected) << place;
    return;
  }
  for (const auto& [key, value] : expected.items()) {
    expect_near(expected.is_object() ? seen.at(key) : seen.at(std::stoul(key)), value, place + "/" + key);
  }
}

class CudaCommands : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!kernels::cuda::has_device()) {
      return;
    }
    program_ = std::make_unique<test_support::Program>();
    const auto& folder = program_->folder();
    test_support::write_tiny_model(folder / "model");
    test_support::write_tiny_language_model(folder / "letters");
    test_support::write_tiny_encoder(folder / "classes", EncoderHead::kClasses);
    test_support::write_tiny_encoder(folder / "tags", EncoderHead::kTags);
    test_support::write_tiny_encoder(folder / "words", EncoderHead::kWords);
    std::string lines, masked;
    for (const std::string& line : kLines) {
      lines += line + "\n";
      masked += line + " [MASK]\n";
    }
    program_->write("lines", lines);
    program_->write("masked", masked);
    program_->write("text", "the cat sees the dog. the dog sees the cat and runs into the house.");
  }
  static void TearDownTestSuite() { program_.reset(); }

  void SetUp() override {
    if (program_ == nullptr) {
      GTEST_SKIP() << kernels::cuda::describe_devices().front();
    }
  }

  // The standard output of a command.
  static std::string output_of(const std::string& words) {
    const test_support::Outcome outcome = program_->run(words);
    EXPECT_EQ(outcome.status, 0) << words << ": " << outcome.err;
    return outcome.out;
  }
  static std::vector<std::string> lines_of(const std::string& words) {
    std::istringstream stream(output_of(words));
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) {
      lines.push_back(line);
    }
    return lines;
  }
  static json lines_as_json(const std::string& words) {
    json all = json::array();
    for (const std::string& line : lines_of(words)) {
      all.push_back(json::parse(line));
    }
    return all;
  }

  inline static std::unique_ptr<test_support::Program> program_;
};

TEST_F(CudaCommands, NumbersAreThoseOfTheCpu) {
  for (const std::string words :
       {"score --model model --source lines --target lines --json --output -",
        "score --model letters --text text --json --output -", "classify --model classes --input lines --json",
        "tag --model tags --input lines --json", "embed --model classes --input lines --json",
        "fill-mask --model words --input masked --json", "translate --model model --input lines --json"}) {
    const json expected = lines_as_json(words);
    ASSERT_GT(expected.size(), 3U) << words;
    expect_near(lines_as_json(words + " --device cuda"), expected, words);
  }
}

TEST_F(CudaCommands, SearchesAreTunedAndShortlistsLearnedAsOnTheCpu) {
  program_->write("target", output_of("translate --model model --input lines"));
  for (const std::string words :
       {"tune --model model --source lines --target target --beam-sizes 1,2 --alphas 0.6 --dry-run",
        "shortlist --model model --source lines", "attention --model model --text 'the cat runs' --output page.html"}) {
    EXPECT_EQ(output_of(words + " --device cuda"), output_of(words)) << words;
  }
}

// The model of scripts/quickstart.sh, after a few of its updates.
TEST_F(CudaCommands, TheQuickstartsModelTranslatesAsOnTheCpu) {
  output_of("sample-corpus --pair en-de --seed 1 --output corpus");
  output_of("train --config " DRAGOMAN_QUICKSTART_CONFIG
            " --model quickstart --source corpus/train.en --target corpus/train.de"
            " --valid-source corpus/valid.en --valid-target corpus/valid.de --max-steps 80 --validate-every 80");
  program_->write("animals",
                  "The animal didn't cross the street because it was too tired.\n"
                  "The animal didn't cross the street because it was too wide.\n"
                  "The boy wants to sell five cheap windows.\n");
  for (const std::string words : {"--beam-size 1", "--beam-size 4"}) {
    const std::string command = "translate --model quickstart --input animals " + words;
    const std::vector<std::string> expected = lines_of(command);
    EXPECT_THAT(expected, testing::AllOf(testing::SizeIs(3), testing::Each(testing::Not("")))) << words;
    EXPECT_EQ(lines_of(command + " --device cuda"), expected) << words;
  }
}

// A folder in int8 becomes float32 on a GPU, or stays int8 if asked.
TEST_F(CudaCommands, Int8IsThatOfTheCpu) {
  output_of("quantize --model model --output int8 --precision int8");
  EXPECT_EQ(lines_of("translate --model int8 --input lines --device cuda"),
            lines_of("translate --model int8 --input lines --precision float32"));
  for (const std::string words :
       {"translate --model model --input lines --precision int8",
        "translate --model int8 --input lines --precision int8", "tag --model tags --input lines --precision int8",
        "generate --model letters --prompt cat --max-tokens 8 --precision int8 --temperature 0"}) {
    EXPECT_EQ(lines_of(words + " --device cuda"), lines_of(words)) << words;
  }
  expect_failure(program_->run("serve --model en:de=model --port 0 --device gpu"), 2,
                 {"--device is \"gpu\", must be auto, cpu, cuda or cuda:N"});
}

std::string translation_of(const RunningServer& server, const std::string& text) {
  const auto answer = server.post("/translate", json{{"q", text}, {"source", "en"}, {"target", "de"}}.dump());
  EXPECT_EQ(answer.status, 200) << answer.body;
  return json::parse(answer.body)["translatedText"];
}

json data_of(const RunningServer& server, const std::string& path, const json& body) {
  const auto answer = server.post(path, body.dump());
  EXPECT_EQ(answer.status, 200) << answer.body;
  return answer.status == 200 ? json::parse(answer.body) : json();
}

json inspections_of(const RunningServer& server) {
  json all = json::array();
  all.push_back(data_of(server, "/v1/inspect",
                        {{"text", kLines[0]},
                         {"parts",
                          {{{"part", "weights"}},
                           {{"part", "candidates"}, {"count", 3}},
                           {{"part", "beam"}},
                           {{"part", "head"}, {"path", "decoder.layers.0.self_attention"}},
                           {{"part", "parameter"}, {"path", "encoder.layers.0.feed_forward.inner.weight"}},
                           {{"part", "parameter"}, {"path", "source_embedding.weight"}, {"rows", {5}}}}}}));
  all.push_back(data_of(server, "/v1/inspect",
                        {{"text", "the cat"},
                         {"model", "letters"},
                         {"max_tokens", 5},
                         {"parts", {{{"part", "weights"}}, {{"part", "logits"}, {"step", 2}}}}}));
  all.push_back(
      data_of(server, "/v1/inspect", {{"text", kLines[0]}, {"model", "tags"}, {"parts", {{{"part", "weights"}}}}}));
  return all;
}

const std::vector<std::string> kModels = {"--model", "en:de=model", "--model", "letters", "--model",
                                          "classes", "--model",     "tags",    "--model", "words"};

std::vector<std::string> on_cuda() {
  std::vector<std::string> words = kModels;
  words.insert(words.end(), {"--device", "cuda", "--whole-lines"});
  return words;
}

TEST_F(CudaCommands, TheServerAnswersAsTheCommands) {
  const std::vector<std::string> translations = lines_of("translate --model model --input lines --device cuda");
  const json text =
      json::parse(output_of("generate --model letters --json --max-tokens 20 --seed 5 --temperature 0.9 --top-p 0.8 "
                            "--top-k 9 --prompt 'the cat' --device cuda"));
  const json labels = lines_as_json("classify --model classes --input lines --json --device cuda");
  const json tags = lines_as_json("tag --model tags --input lines --json --device cuda");
  const json vectors = lines_as_json("embed --model classes --input lines --json --device cuda");
  const json masks = lines_as_json("fill-mask --model words --input masked --json --device cuda");
  RunningServer server(program_->folder(), on_cuda());
  for (const char* when : {"at first", "after a reload"}) {
    for (size_t i = 0; i < kLines.size(); ++i) {
      EXPECT_EQ(translation_of(server, kLines[i]), translations[i]) << when;
      const json label = data_of(server, "/v1/classify", {{"input", kLines[i]}})["data"][0];
      EXPECT_EQ(label["label"], labels[i]["label"]) << when;
      for (const json& one : label["labels"]) {
        EXPECT_EQ(one["probability"], labels[i]["probabilities"][one["label"].get<std::string>()]) << when;
      }
      const json words = data_of(server, "/v1/tag", {{"input", kLines[i]}})["data"][0]["words"];
      for (size_t word = 0; word < words.size(); ++word) {
        EXPECT_EQ(words[word]["probability"], tags[i]["probabilities"][word]) << when;
      }
      EXPECT_EQ(data_of(server, "/v1/fill-mask", {{"input", kLines[i] + " [MASK]"}})["data"][0]["masks"],
                masks[i]["masks"])
          << when;
      EXPECT_EQ(data_of(server, "/v1/embeddings", {{"model", "classes"}, {"input", kLines[i]}})["data"][0]["embedding"],
                vectors[i]["embedding"])
          << when;
    }
    const json completion = data_of(
        server, "/v1/completions",
        {{"prompt", "the cat"}, {"max_tokens", 20}, {"seed", 5}, {"temperature", 0.9}, {"top_p", 0.8}, {"top_k", 9}});
    EXPECT_EQ(completion["choices"][0]["text"], text["text"]) << when;
    server.program().send(SIGHUP);
    EXPECT_TRUE(test_support::wait_until([&] {
      return server.program().errors().find("reloaded") != std::string::npos;
    })) << server.program().errors();
  }
  EXPECT_EQ(server.end(), 0);
}

TEST_F(CudaCommands, TheServerNamesItsDeviceAndInspectsAsOnTheCpu) {
  RunningServer server(program_->folder(), on_cuda());
  EXPECT_THAT(server.program().errors(), testing::HasSubstr("the models compute on cuda:0"));
  EXPECT_THAT(server.get("/metrics").body, testing::HasSubstr("\ndragoman_device_info{device=\"cuda:0\"} 1\n"));
  for (const char* path : {"/v1/model", "/v1/model?model=letters", "/v1/model?model=tags"}) {
    EXPECT_EQ(json::parse(server.get(path).body)["device"], "cuda:0") << path;
  }
  std::vector<std::string> words = kModels;
  words.emplace_back("--whole-lines");
  RunningServer on_cpu(program_->folder(), words);
  EXPECT_THAT(on_cpu.get("/metrics").body, testing::HasSubstr("\ndragoman_device_info{device=\"cpu\"} 1\n"));
  EXPECT_EQ(json::parse(on_cpu.get("/v1/model").body)["device"], "cpu");
  expect_near(inspections_of(server), inspections_of(on_cpu));
  EXPECT_EQ(server.end(), 0);
  EXPECT_EQ(on_cpu.end(), 0);
}

// Requests of many clients to several models, whose threads share the GPU.
TEST_F(CudaCommands, AnswersUnderLoadAreTheOnesAlone) {
  RunningServer server(program_->folder(), on_cuda());
  std::vector<std::string> alone;
  for (const std::string& line : kLines) {
    alone.push_back(translation_of(server, line));
  }
  const json completion = {{"prompt", "dog"}, {"max_tokens", 10}, {"seed", 1}};
  const json vector = {{"model", "tags"}, {"input", kLines[1]}};
  const auto text_of = [&] { return data_of(server, "/v1/completions", completion)["choices"]; };
  const auto vector_of = [&] { return data_of(server, "/v1/embeddings", vector)["data"]; };
  const json text = text_of(), embedding = vector_of();
  std::vector<std::thread> clients;
  for (size_t number = 0; number < 6; ++number) {
    clients.emplace_back([&, number] {
      for (size_t i = 0; i < 4; ++i) {
        const size_t line = (number + i) % kLines.size();
        EXPECT_EQ(translation_of(server, kLines[line]), alone[line]);
        EXPECT_EQ(text_of(), text);
        EXPECT_EQ(vector_of(), embedding);
      }
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_EQ(server.end(), 0);
}

}  // namespace
}  // namespace dragoman
