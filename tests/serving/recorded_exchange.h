#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>

#include "serving/http/http_message.h"
#include "serving/http/reply_head.h"

namespace dragoman::serving {

/// An exchange without a connection. It keeps its answers.
class RecordedExchange : public HttpExchange {
 public:
  explicit RecordedExchange(Request request) : request_(std::move(request)) {}

  const Request& request() const override { return request_; }
  void reply(Reply reply) override {
    const std::lock_guard lock(mutex_);
    expect_headers_are_sent(reply);
    answers_.push_back(std::move(reply));
    changed_.notify_all();
  }
  void begin_stream(Reply head) override {
    const std::lock_guard lock(mutex_);
    expect_headers_are_sent(head);
    stream_ = std::move(head);
  }
  bool send(std::string piece) override {
    const std::lock_guard lock(mutex_);
    stream_.body += piece;
    return true;
  }
  void end_stream() override { reply(stream_); }
  std::stop_token cancelled() const override { return stop_.get_token(); }

  void cancel() { stop_.request_stop(); }
  /// Waits for the answer, at most half a minute. Returns status 0 if there is none.
  Reply answer() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [this] { return !answers_.empty(); });
    return answers_.empty() ? Reply{.status = 0} : answers_.front();
  }
  size_t answers() {
    const std::lock_guard lock(mutex_);
    return answers_.size();
  }

 private:
  // A connection would silently leave such a header out.
  static void expect_headers_are_sent(const Reply& reply) {
    EXPECT_TRUE(std::ranges::all_of(reply.headers, is_one_line)) << "a header has a line end";
  }

  Request request_;
  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Reply> answers_;
  Reply stream_;
};

inline Request get(const std::string& path, const std::string& query = "") {
  return {.method = "GET", .path = path, .query = query, .headers = {{"Host", "localhost"}}};
}

inline Request post(const std::string& path, const std::string& type, const std::string& body) {
  return {.method = "POST", .path = path, .headers = {{"Host", "localhost"}, {"Content-Type", type}}, .body = body};
}

inline Request post_json(const std::string& path, const nlohmann::json& body) {
  return post(path, "application/json", body.dump());
}

inline Request post_form(const std::string& path, const std::string& body) {
  return post(path, "application/x-www-form-urlencoded", body);
}

}  // namespace dragoman::serving
