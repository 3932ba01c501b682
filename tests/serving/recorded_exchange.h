#pragma once

#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>

#include "serving/http/http_message.h"

namespace dragoman::serving {

/// An exchange without a connection: keeps what it was answered.
class RecordedExchange : public Exchange {
 public:
  explicit RecordedExchange(Request request) : request_(std::move(request)) {}

  const Request& request() const override { return request_; }
  void reply(Reply reply) override {
    const std::lock_guard lock(mutex_);
    answers_.push_back(std::move(reply));
    changed_.notify_all();
  }
  void begin_stream(Reply head) override {
    const std::lock_guard lock(mutex_);
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
  /// Waits for the answer, half a minute at most; a status of 0 says that none came.
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
