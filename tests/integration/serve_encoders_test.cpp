// The server of encoders as a program: answers equal to those of the commands and to themselves under floods and
// cancels, reload, wrong starts.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "support/growth_of_memory.h"
#include "support/program.h"
#include "support/running_server.h"

namespace dragoman {
namespace {

using models::EncoderHead;
using nlohmann::json;
using test_support::HttpAnswer;
using test_support::HttpClient;
using test_support::RunningServer;

const std::vector<std::string> kAll = {"--model", "classes", "--model", "tags", "--model", "words"};
constexpr const char* kLines[] = {"the cat runs", "a dog sleeps and the cat runs .", "zebra", "dog"};

json data_of(const HttpAnswer& answer) {
  EXPECT_EQ(answer.status, 200) << answer.body;
  const json body = json::parse(answer.body, nullptr, /*allow_exceptions=*/false);
  return body.is_object() && body.contains("data") ? body["data"] : json::array();
}

std::string head_of(const std::string& path, size_t length) {
  return fmt::format("POST {} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                     path, length);
}

class ServeEncoders : public testing::Test {
 protected:
  ServeEncoders() {
    test_support::write_tiny_encoder(program_.folder() / "classes", EncoderHead::kClasses);
    test_support::write_tiny_encoder(program_.folder() / "tags", EncoderHead::kTags);
    test_support::write_tiny_encoder(program_.folder() / "words", EncoderHead::kWords);
    std::string lines, masked;
    for (const char* line : kLines) {
      lines += std::string(line) + "\n";
      masked += std::string(line) + " [MASK]\n";
    }
    program_.write("lines", lines);
    program_.write("masked", masked);
  }

  // What a command says of each line, as JSON.
  std::vector<json> said(const std::string& words) const {
    const auto outcome = program_.run(words + " --json");
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    std::vector<json> all;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      all.push_back(json::parse(line));
    }
    EXPECT_EQ(all.size(), std::size(kLines));
    return all;
  }

  test_support::Program program_;
};

TEST_F(ServeEncoders, AnswersAreThoseOfTheCommands) {
  RunningServer server(program_.folder(), kAll);
  std::vector<std::string> masked;
  for (const char* line : kLines) {
    masked.push_back(std::string(line) + " [MASK]");
  }
  const std::string input = json{{"input", kLines}}.dump();
  const json vectors = data_of(server.post("/v1/embeddings", json{{"model", "tags"}, {"input", kLines}}.dump()));
  const json labels = data_of(server.post("/v1/classify", input)), tags = data_of(server.post("/v1/tag", input));
  const json masks = data_of(server.post("/v1/fill-mask", json{{"input", masked}}.dump()));
  const std::vector<json> said_vectors = said("embed --model tags --input lines");
  const std::vector<json> said_labels = said("classify --model classes --input lines");
  const std::vector<json> said_tags = said("tag --model tags --input lines");
  const std::vector<json> said_masks = said("fill-mask --model words --input masked");
  for (size_t line = 0; line < std::size(kLines); ++line) {
    EXPECT_EQ(vectors[line]["embedding"], said_vectors[line]["embedding"]);
    EXPECT_EQ(labels[line]["label"], said_labels[line]["label"]);
    for (const json& label : labels[line]["labels"]) {
      EXPECT_EQ(label["probability"], said_labels[line]["probabilities"][label["label"].get<std::string>()]);
    }
    for (size_t word = 0; word < said_tags[line]["words"].size(); ++word) {
      EXPECT_EQ(tags[line]["words"][word]["tag"], said_tags[line]["tags"][word]);
      EXPECT_EQ(tags[line]["words"][word]["probability"], said_tags[line]["probabilities"][word]);
    }
    EXPECT_EQ(masks[line]["masks"], said_masks[line]["masks"]);
  }
  EXPECT_EQ(server.end(), 0);
}

TEST_F(ServeEncoders, ATrainedClassifierSaysTheRightLabels) {
  std::string text;
  for (int line = 0; line < 60; ++line) {
    const bool is_night = line % 2 == 0;
    text += fmt::format("{}\tthe {} sleeps at {}\n", is_night ? "night" : "day", line % 3 == 0 ? "cat" : "dog",
                        is_night ? "night" : "noon");
  }
  program_.write("classes.tsv", text);
  const auto outcome = program_.run(
      "train --preset bert-mini --task classify --text classes.tsv --valid-text classes.tsv --model trained "
      "--layers 1 --d-model 32 --d-ff 32 --n-heads 2 --max-positions 32 --vocab-size 80 --max-length 32 "
      "--batch-tokens 128 --learning-rate 5e-3 --warmup-steps 10 --max-steps 80 --validate-every 40 --quiet");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  RunningServer server(program_.folder(), {"--model", "trained"});
  const json answer = data_of(
      server.post("/v1/classify", R"({"input": ["the cat sleeps at night", "the dog sleeps at noon"], "top": 1})"));
  EXPECT_EQ(answer[0]["label"], "night");
  EXPECT_EQ(answer[1]["label"], "day");
  const json card = json::parse(server.connect().ask("GET", "/v1/model", "", "").body);
  EXPECT_EQ(card["name"], "trained");
  EXPECT_EQ(card["labels"], json({"day", "night"}));
  EXPECT_TRUE(card["training"]["validation"].back().contains("accuracy"));
  EXPECT_EQ(server.end(), 0);
}

TEST_F(ServeEncoders, EveryAnswerIsTheOneAloneUnderRandomCancels) {
  std::vector<std::string> words = kAll;
  words.insert(words.end(), {"--longest-wait", "60"});
  RunningServer server(program_.folder(), words);
  const std::vector<std::string> paths = {"/v1/embeddings", "/v1/classify", "/v1/tag", "/v1/fill-mask"};
  std::vector<std::string> bodies, alone;
  for (int i = 0; i < 40; ++i) {
    bodies.push_back(fmt::format(R"({{"input": "the [MASK] {}"}})", std::string(static_cast<size_t>(i % 9), 'a')));
    alone.push_back(server.post(paths[bodies.size() % 4], bodies.back()).body);
  }
  std::atomic<size_t> next{0}, right{0}, cancelled{0};
  std::vector<std::thread> clients;
  constexpr size_t kRequests = 800;
  const std::string many = json{{"input", std::vector<std::string>(128, "the cat runs and the dog sleeps")}}.dump();
  for (size_t number = 0; number < 16; ++number) {
    clients.emplace_back([&, number] {
      base::Random random(number);
      auto client = std::make_unique<HttpClient>(server.port());
      for (size_t i = next++; i < kRequests; i = next++) {
        const size_t which = i % bodies.size();
        if (random.below(5) == 0) {  // asks for many texts, and goes before they are done
          client->send(head_of(paths[random.below(3)], many.size()) + many);
          client = std::make_unique<HttpClient>(server.port());
          ++cancelled;
        }
        HttpAnswer answer;
        do {
          answer = client->ask("POST", paths[(which + 1) % 4], bodies[which]);
        } while (answer.status == 503);
        right += answer.body == alone[which] ? 1U : 0U;
      }
    });
  }
  for (std::thread& client : clients) {
    client.join();
  }
  EXPECT_EQ(right, kRequests);
  EXPECT_GT(cancelled, 40U);
  EXPECT_TRUE(test_support::wait_until([&] { return server.metric("dragoman_requests_in_flight") == 0.0; }));
  EXPECT_EQ(server.metric("dragoman_queue_tokens"), 0.0);
  EXPECT_EQ(server.end(), 0);
}

// Bodies that cost much to read or would cost much to answer, each refused.
void flood(const RunningServer& server) {
  const std::string letters(900'000, 'a');
  std::string numbers = "1", texts = "\"a\"";
  while (numbers.size() < 900'000) {
    numbers += ",1";
    texts += texts.size() < 900'000 ? ",\"a\"" : "";
  }
  for (const char* path : {"/v1/embeddings", "/v1/classify", "/v1/tag", "/v1/fill-mask"}) {
    const std::vector<std::string> bodies = {R"({"input": ")" + letters + "\"}",
                                             R"({"input": [)" + numbers + "]}",
                                             R"({"input": [)" + texts + "]}",
                                             R"({"input": "a", "model": ")" + letters + "\"}",
                                             R"({"input": "a", ")" + letters + "\": 1}",
                                             std::string(450'000, '[') + std::string(450'000, ']')};
    for (const std::string& body : bodies) {
      const HttpAnswer answer = server.post(path, body);
      EXPECT_THAT(answer.status, testing::AnyOf(400, 404)) << path << " " << body.substr(0, 60);
      EXPECT_LT(answer.body.size(), 1000U) << "an error repeats little of what was sent";
    }
    EXPECT_EQ(server.post(path, std::string(2'000'000, ' ')).status, 413);
  }
  EXPECT_EQ(server.post("/v1/tag", R"({"input": "the cat"})").status, 200);
}

TEST_F(ServeEncoders, FloodsAreRefusedAndMemoryStays) {
  std::vector<std::string> words = kAll;
  words.insert(words.end(), {"--workers", "1"});
  RunningServer server(program_.folder(), words);
  const pid_t process = server.program().id();
  const auto flood_it = [&] { flood(server); };
  const int64_t growth = test_support::growth_of_memory(process, 128, flood_it);
  EXPECT_LE(growth, 128) << "KiB more after four further floods";
  EXPECT_EQ(server.metric("dragoman_requests_in_flight"), 0.0);
  EXPECT_EQ(server.end(), 0);
}

TEST_F(ServeEncoders, HalfRequestsLeaveNothing) {
  RunningServer server(program_.folder(), kAll);
  const std::string body = json{{"input", std::vector<std::string>(64, "the cat runs")}}.dump();
  for (size_t i = 0; i < 60; ++i) {
    const HttpClient client = server.connect();
    const std::string request = head_of(i % 2 == 0 ? "/v1/embeddings" : "/v1/tag", body.size()) + body;
    client.send(request.substr(0, request.size() * i / 40));
  }
  EXPECT_TRUE(test_support::wait_until([&] {
    return server.metric("dragoman_requests_in_flight") == 0.0 && server.metric("dragoman_queue_tokens") == 0.0;
  }));
  EXPECT_EQ(server.post("/v1/embeddings", body).status, 200);
  EXPECT_EQ(server.end(), 0);
}

TEST_F(ServeEncoders, AModelWithoutNumbersIsAnErrorOfItsRequests) {
  const auto model = decoding::tiny_encoder(EncoderHead::kWords);
  models::ModelFiles files{.config = models::to_json(model->encoder_config()),
                           .tensors = models::named_tensors(model->parameters()),
                           .vocabularies = {{"tokenizer.json", decoding::word_pieces().bytes()}}};
  for (float& value : files.tensors.at("transform.weight").span<float>()) {
    value = std::copysign(3e38F, value);
  }
  models::publish_model_folder(program_.folder() / "huge", files);
  RunningServer server(program_.folder(), {"--model", "huge", "--model", "words"});
  EXPECT_EQ(server.post("/v1/fill-mask", R"({"model": "huge", "input": "the [MASK]"})").status, 500);
  EXPECT_EQ(server.post("/v1/fill-mask", R"({"model": "words", "input": "the [MASK]"})").status, 200);
  EXPECT_EQ(server.end(), 0);
}

TEST_F(ServeEncoders, HupLoadsTheNewModelButNoOtherKind) {
  RunningServer server(program_.folder(), {"--model", "classes"});
  const auto answer = [&] { return server.post("/v1/classify", R"({"input": "the cat"})").body; };
  const std::string old_answer = answer();
  test_support::write_tiny_encoder(program_.folder() / "classes", EncoderHead::kClasses, 2);
  server.program().send(SIGHUP);
  EXPECT_TRUE(test_support::wait_until([&] { return answer() != old_answer; })) << server.program().errors();
  const std::string new_answer = answer();
  test_support::write_tiny_language_model(program_.folder() / "classes");
  server.program().send(SIGHUP);
  EXPECT_TRUE(
      test_support::wait_until([&] { return server.program().errors().find("not reloaded") != std::string::npos; }));
  EXPECT_EQ(answer(), new_answer);
  EXPECT_EQ(server.end(), 0);
}

TEST_F(ServeEncoders, OneServerHasModelsOfAllKinds) {
  test_support::write_tiny_model(program_.folder() / "model");
  test_support::write_tiny_language_model(program_.folder() / "letters");
  RunningServer server(program_.folder(), {"--model", "en:de=model", "--model", "letters", "--model", "tags"});
  EXPECT_EQ(server.translate(), 200);
  EXPECT_EQ(server.post("/v1/completions", R"({"prompt": "the cat", "max_tokens": 5})").status, 200);
  EXPECT_EQ(server.post("/v1/tag", R"({"input": "the cat"})").status, 200);
  const HttpAnswer wrong = server.post("/v1/completions", R"({"model": "tags", "prompt": "a"})");
  EXPECT_EQ(wrong.status, 404);
  EXPECT_THAT(wrong.body, testing::HasSubstr("is an encoder"));
  EXPECT_THAT(server.post("/v1/tag", R"({"model": "letters", "input": "a"})").body,
              testing::HasSubstr("is a language model"));
  EXPECT_EQ(json::parse(server.get("/v1/models").body)["data"].size(), 2U);
  EXPECT_EQ(server.end(), 0);
}

TEST_F(ServeEncoders, WrongStartsAreToldAndEndInTheirStatus) {
  const auto start = [&](const std::string& words) { return program_.run("serve --port 0 " + words); };
  expect_failure(start("--model en:de=tags"), 2, {"holds an encoder", "--model tags"});
  expect_failure(start("--model tags --model tags/"), 2, {"named tags"});
  expect_failure(start("--model tags --beam-size 4"), 2, {"--beam-size", "models that translate"});
}

}  // namespace
}  // namespace dragoman
