#include "base/json.h"

#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"

namespace dragoman::base {
namespace {

// Watches a parse without building a tree: nesting and duplicate keys.
class Guard : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Guard(int max_depth) : max_depth_(max_depth) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override {
    keys_.emplace_back();
    return enter();
  }
  bool end_object() override {
    keys_.pop_back();
    --depth_;
    return true;
  }
  bool start_array(size_t) override { return enter(); }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(string_t& name) override {
    if (!keys_.back().insert(name).second) {
      problem_ = fmt::format("key \"{}\" stands twice in one object", name);
      return false;
    }
    return true;
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    problem_ = fmt::format("byte {}: {}", position, error.what());
    return false;
  }
  const std::string& problem() const { return problem_; }

 private:
  bool enter() {
    if (++depth_ > max_depth_) {
      problem_ = fmt::format("JSON nests deeper than {}; dragoman never writes such files", max_depth_);
      return false;
    }
    return true;
  }

  int max_depth_;
  int depth_ = 0;
  std::vector<std::set<std::string>> keys_;
  std::string problem_;
};

}  // namespace

nlohmann::json parse_json(std::string_view text, std::string_view name, const JsonLimits& limits) {
  check_data(text.size() <= limits.max_bytes, "{}: JSON of {} bytes, at most {} are read", name, text.size(),
             limits.max_bytes);
  check_data(is_valid_utf8(text), "{}: not valid UTF-8", name);
  Guard guard(limits.max_depth);
  const bool good = nlohmann::json::sax_parse(text, &guard);
  check_data(good, "{}: {}", name, guard.problem());
  return nlohmann::json::parse(text);
}

std::string dump_json(const nlohmann::json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace dragoman::base
