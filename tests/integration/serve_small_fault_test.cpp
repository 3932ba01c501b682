// The server as a program when small pieces of memory are refused, one at a time: wherever that happens, in whichever
// thread, a request may fail, but the server lives, loses no request, and answers the next one as ever.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "support/fault_control.h"
#include "support/running_server.h"

namespace dragoman {
namespace {

using nlohmann::json;
using test_support::FaultControl;
using test_support::HttpAnswer;
using test_support::RunningServer;

struct Asked {
  const char* name;
  const char* path;
  json body;
};

void PrintTo(const Asked& asked, std::ostream* stream) {
  *stream << asked.name;
}

class ServeSmallFault : public testing::TestWithParam<Asked> {
 protected:
  ServeSmallFault() {
    test_support::write_tiny_model(folder_.path() / "model");
    const std::string names =
        fmt::format("{} -C -S {} | sed -n '/json_value::destroy/s/^\\([0-9a-f]* [0-9a-f]*\\) .*/\\1/p' > {}",
                    DRAGOMAN_NM, DRAGOMAN_PROGRAM, spare_.string());
    EXPECT_EQ(std::system(names.c_str()), 0) << names;
  }

  static HttpAnswer ask(const RunningServer& server) { return server.post(GetParam().path, GetParam().body.dump()); }
  std::map<std::string, std::string> shim() const {
    return {{"LD_PRELOAD", DRAGOMAN_FAIL_NEW},
            {"FAIL_NEW_CONTROL", control_.string()},
            {"FAIL_NEW_TRACE", trace_.string()},
            {"FAIL_NEW_SPARE", spare_.string()},
            {"ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0:alloc_dealloc_mismatch=0"}};
  }

  test_support::TemporaryFolder folder_;
  std::filesystem::path control_ = folder_.path() / "control";
  std::filesystem::path trace_ = folder_.path() / "trace";
  std::filesystem::path spare_ = folder_.path() / "spare";
};

TEST_P(ServeSmallFault, LosesNoRequestAndLives) {
  FaultControl* const control = FaultControl::at(control_.c_str());
  ASSERT_NE(control, nullptr);
  RunningServer server(folder_.path(), {"--workers", "2"}, shim());
  ASSERT_NE(server.port(), 0);
  const HttpAnswer expected = ask(server);
  ASSERT_EQ(expected.status, 200) << expected.body;
  int failed = 0, closed = 0, trials = 0;
  long fired = -1;
  // Every one of the first allocations of a request, then some of the others.
  for (long k = 1; control->fired != fired; k += 1 + k / 64) {
    fired = control->fired;
    control->fail_in = k;
    test_support::HttpClient client = server.connect();
    const HttpAnswer answer = client.ask("POST", GetParam().path, GetParam().body.dump());
    control->fail_in = 0;
    EXPECT_TRUE(answer.status == 200 || answer.status == 500 || client.is_closed()) << k << ": " << answer.status;
    ASSERT_TRUE(test_support::wait_until([&] {
      return server.program().has_ended() || server.metric("dragoman_requests_in_flight") == 0.0;
    })) << k
        << ": a request was lost; refused: " << base::read_file(trace_);
    ASSERT_FALSE(server.program().has_ended())
        << k << ": " << server.program().errors() << "refused: " << base::read_file(trace_);
    EXPECT_EQ(server.metric("dragoman_queue_tokens"), 0.0) << k;
    failed += answer.status == 500 ? 1 : 0;
    closed += answer.status == 0 ? 1 : 0;
    const HttpAnswer next = ask(server);
    ASSERT_EQ(next.status, 200) << k << ": " << next.body << server.program().errors();
    ASSERT_EQ(next.body, expected.body) << k;
    ++trials;
  }
  EXPECT_GT(failed, 0) << "no fault hit a request in " << trials << " trials";
  EXPECT_EQ(server.metric("dragoman_connections"), 1.0) << "a connection was lost";
  EXPECT_EQ(server.end(), 0) << server.program().errors();
  RecordProperty("trials", trials);
  fmt::print("{} trials, {} answers of an error, {} connections closed\n", trials, failed, closed);
}

INSTANTIATE_TEST_SUITE_P(
    Routes, ServeSmallFault,
    testing::Values(
        Asked{"translate",
              "/translate",
              {{"q", {"the cat runs", "the dog sleeps\nthe mouse runs"}}, {"source", "en"}, {"target", "de"}}},
        Asked{"html",
              "/translate",
              {{"q", "<p>the <b>cat</b> runs</p>"}, {"source", "en"}, {"target", "de"}, {"format", "html"}}},
        Asked{"deepl", "/v2/translate", {{"text", {"the cat runs"}}, {"source_lang", "EN"}, {"target_lang", "DE"}}},
        Asked{"stream", "/v1/stream", {{"q", "the cat runs"}, {"source", "en"}, {"target", "de"}}},
        Asked{"inspect", "/v1/inspect", {{"text", "the cat"}}}),
    [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace dragoman
