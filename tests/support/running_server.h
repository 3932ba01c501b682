#pragma once

#include <algorithm>
#include <csignal>
#include <regex>
#include <string>
#include <vector>

#include "decoding/load_translator.h"
#include "decoding/tiny_encoder.h"
#include "decoding/tiny_language_model.h"
#include "decoding/tiny_model.h"
#include "decoding/tiny_vocabulary.h"
#include "models/model_folder.h"
#include "models/model_tensors.h"
#include "support/background_program.h"
#include "support/http_client.h"

namespace dragoman::test_support {

/// Writes a model with random weights into a folder.
inline void write_tiny_model(const std::filesystem::path& folder, uint64_t seed = 1) {
  const auto model = decoding::tiny_model(nn::NormOrder::kPre, seed, decoding::vocabulary().size());
  models::publish_model_folder(folder, {.config = models::to_json(model->config()),
                                        .tensors = models::named_tensors(model->parameters()),
                                        .vocabularies = {{"vocabulary.spm", decoding::vocabulary().bytes()}}});
}

/// Writes a random language model over letters (tests/decoding/tiny_language_model.h) into a folder.
/// @param vocabulary  letters(), or one without an end, so that texts go on to the longest length
inline void write_tiny_language_model(const std::filesystem::path& folder, uint64_t seed = 1, int64_t context = 48,
                                      const data::Vocabulary& vocabulary = decoding::letters()) {
  const auto model = decoding::tiny_language_model(seed, context);
  models::publish_model_folder(folder, {.config = models::to_json(model->config()),
                                        .tensors = models::named_tensors(model->parameters()),
                                        .vocabularies = {{"tokenizer.json", vocabulary.bytes()}}});
}

/// Writes a random encoder (tests/decoding/tiny_encoder.h) into a folder.
inline void write_tiny_encoder(const std::filesystem::path& folder, models::EncoderHead head, uint64_t seed = 1) {
  const auto model = decoding::tiny_encoder(head, seed);
  const data::Labels labels = decoding::tiny_labels(head);
  models::publish_model_folder(folder, {.config = models::to_json(model->encoder_config()),
                                        .tensors = models::named_tensors(model->parameters()),
                                        .vocabularies = {{"tokenizer.json", decoding::word_pieces().bytes()}},
                                        .labels = labels.size() == 0 ? std::string() : labels.to_json()});
}

/// `dragoman serve` beside the test, on a port of its own, with a random model from en to de in the folder "model" if
/// the words name none.
class RunningServer {
 public:
  enum class MayFail { kNo, kYes };
  /// @param more  words behind the command; "--port" first among them names a port, else it is one of its own
  /// @param may_fail  kYes: no test failure when it does not start; its port is 0 then
  explicit RunningServer(const std::filesystem::path& folder, const std::vector<std::string>& more = {},
                         const std::map<std::string, std::string>& environment = {},
                         const std::string& program = DRAGOMAN_PROGRAM, MayFail may_fail = MayFail::kNo)
      : program_(folder, words(more), environment, program) {
    std::smatch found;
    const std::regex line("serving at http://127.0.0.1:([0-9]+)\n");
    EXPECT_TRUE(wait_until([&] {
      const std::string said = program_.errors();
      const bool is_there = std::regex_search(said, found, line);
      port_ = is_there ? static_cast<uint16_t>(std::stoi(found[1])) : 0;
      return is_there || program_.has_ended();
    })) << program_.errors();
    if (may_fail == MayFail::kNo) {
      EXPECT_NE(port_, 0) << program_.errors();
    }
  }

  uint16_t port() const { return port_; }
  BackgroundProgram& program() { return program_; }
  HttpClient connect() const { return HttpClient(port_); }
  HttpAnswer get(const std::string& path) const { return connect().ask("GET", path); }
  HttpAnswer post(const std::string& path, const std::string& json) const { return connect().ask("POST", path, json); }
  /// The status of a good translation.
  int translate() const { return post("/translate", R"({"q":"the cat","source":"en","target":"de"})").status; }

  /// The value of a metric without labels; -1 if it is not there.
  double metric(const std::string& name) const {
    const std::string text = "\n" + get("/metrics").body;
    const size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1.0 : std::stod(text.substr(at + name.size() + 2));
  }

  /// SIGTERM, and the exit status.
  int end() {
    program_.send(SIGTERM);
    return program_.wait();
  }

 private:
  static std::vector<std::string> words(const std::vector<std::string>& more) {
    std::vector<std::string> all = {"serve"};
    if (std::ranges::find(more, "--model") == more.end()) {
      all.insert(all.end(), {"--model", "en:de=model"});
    }
    if (more.empty() || more.front() != "--port") {
      all.insert(all.end(), {"--port", "0"});
    }
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  BackgroundProgram program_;
  uint16_t port_ = 0;
};

}  // namespace dragoman::test_support
