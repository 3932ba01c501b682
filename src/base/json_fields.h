#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace dragoman::base {

/// The fields of one JSON object of a file or request, each read with its type and range.
/// A field that is null counts as missing. An error names the owner, the field, the rule and the value:
/// "config.json: d_ff must be an integer, is 2048.5".
class JsonFields {
 public:
  /// @param object  Requires: outlives this object
  /// @param owner   the file or request that begins each message: "config.json"
  /// @param kind    of all errors
  /// @param place   of `object` inside the owner ("window" or "parts[2]"); empty for the outermost object
  /// Throws: Error(kind), "config.json: must be a JSON object".
  JsonFields(const nlohmann::json& object, std::string owner, ErrorKind kind = ErrorKind::kBadData,
             std::string place = {});

  [[nodiscard]] bool has(const std::string& key) const;
  /// Returns the name of a field as messages write it: "parts[2].head".
  [[nodiscard]] std::string name_of(const std::string& key) const;

  /// Throws: Error(kind), "config.json: unknown key "d_modle"; did you mean "d_model"?".
  void check_known(const std::vector<std::string>& known) const;

  /// Each of these returns the value of a field. Throws: Error(kind) if the field is missing ("config.json: key "d_ff"
  /// is missing") or has another type.
  [[nodiscard]] const nlohmann::json& value(const std::string& key) const;
  [[nodiscard]] double number(const std::string& key) const;
  [[nodiscard]] bool flag(const std::string& key) const;
  [[nodiscard]] const std::string& text(const std::string& key) const;
  [[nodiscard]] const nlohmann::json& list(const std::string& key) const;
  [[nodiscard]] JsonFields object(const std::string& key) const;
  /// Throws also for a number outside `Integer`, and beyond 2^53, where JSON numbers stop being exact (RFC 8259,
  /// section 6).
  template <std::integral Integer>
  [[nodiscard]] Integer integer(const std::string& key) const {
    constexpr Integer kMost = std::numeric_limits<Integer>::max();
    constexpr int64_t kHigh = std::in_range<int64_t>(kMost) ? static_cast<int64_t>(kMost) : INT64_MAX;
    return static_cast<Integer>(any_integer(key, std::numeric_limits<Integer>::min(), kHigh));
  }
  /// Throws also for a number outside [low, high]: "config.json: n_heads must be an integer from 1 to 1024, is 0".
  [[nodiscard]] int64_t integer(const std::string& key, int64_t low, int64_t high) const;

  /// As above, but a missing field has the value `otherwise`.
  [[nodiscard]] double number(const std::string& key, double otherwise) const;
  [[nodiscard]] bool flag(const std::string& key, bool otherwise) const;
  [[nodiscard]] std::string text(const std::string& key, const std::string& otherwise) const;

 private:
  void check_type(bool is_right, const std::string& key, const std::string& rule) const;
  int64_t any_integer(const std::string& key, int64_t low, int64_t high) const;

  const nlohmann::json& object_;
  std::string owner_;
  ErrorKind kind_;
  std::string place_;
};

}  // namespace dragoman::base
