#include "base/json_fields.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json.h"
#include "base/nearest_name.h"
#include "base/utf8.h"

namespace dragoman::base {
namespace {

using nlohmann::json;

constexpr size_t kMaxValueBytes = 60;
constexpr int64_t kExactIntegers = int64_t{1} << 53;

std::string shown_value(const json& value) {
  const std::string text = dump_json(value);
  return text.size() <= kMaxValueBytes ? text : repair_utf8(text.substr(0, kMaxValueBytes)) + "...";
}

bool is_integer_within(const json& value, int64_t low, int64_t high) {
  if (value.is_number_unsigned()) {
    return std::cmp_greater_equal(value.get<uint64_t>(), low) && std::cmp_less_equal(value.get<uint64_t>(), high);
  }
  return value.is_number_integer() && value.get<int64_t>() >= low && value.get<int64_t>() <= high;
}

}  // namespace

JsonFields::JsonFields(const json& object, std::string owner, ErrorKind kind, std::string place)
    : object_(object), owner_(std::move(owner)), kind_(kind), place_(std::move(place)) {
  check(object.is_object(), kind_, "{}: {}must be a JSON object", owner_, place_.empty() ? "" : place_ + " ");
}

bool JsonFields::has(const std::string& key) const {
  const auto found = object_.find(key);
  return found != object_.end() && !found->is_null();
}

std::string JsonFields::name_of(const std::string& key) const {
  return place_.empty() ? key : place_ + "." + key;
}

void JsonFields::check_known(const std::vector<std::string>& known) const {
  for (const auto& [key, unused] : object_.items()) {
    check(std::ranges::find(known, key) != known.end(), kind_, "{}: unknown key \"{}\"{}", owner_, name_of(key),
          did_you_mean(key, known));
  }
}

void JsonFields::check_type(bool is_right, const std::string& key, const std::string& rule) const {
  check(is_right, kind_, "{}: {} must be {}, is {}", owner_, name_of(key), rule, shown_value(object_[key]));
}

const json& JsonFields::value(const std::string& key) const {
  check(has(key), kind_, "{}: key \"{}\" is missing", owner_, name_of(key));
  return object_[key];
}

double JsonFields::number(const std::string& key) const {
  check_type(value(key).is_number(), key, "a number");
  return object_[key].get<double>();
}

bool JsonFields::flag(const std::string& key) const {
  check_type(value(key).is_boolean(), key, "true or false");
  return object_[key].get<bool>();
}

const std::string& JsonFields::text(const std::string& key) const {
  check_type(value(key).is_string(), key, "a string");
  return object_[key].get_ref<const std::string&>();
}

const json& JsonFields::list(const std::string& key) const {
  check_type(value(key).is_array(), key, "a list");
  return object_[key];
}

JsonFields JsonFields::object(const std::string& key) const {
  return {value(key), owner_, kind_, name_of(key)};
}

int64_t JsonFields::any_integer(const std::string& key, int64_t low, int64_t high) const {
  check_type(is_integer_within(value(key), std::max(low, -kExactIntegers), std::min(high, kExactIntegers)), key,
             "an integer");
  return object_[key].get<int64_t>();
}

int64_t JsonFields::integer(const std::string& key, int64_t low, int64_t high) const {
  check_type(is_integer_within(value(key), low, high), key, fmt::format("an integer from {} to {}", low, high));
  return object_[key].get<int64_t>();
}

double JsonFields::number(const std::string& key, double otherwise) const {
  return has(key) ? number(key) : otherwise;
}

bool JsonFields::flag(const std::string& key, bool otherwise) const {
  return has(key) ? flag(key) : otherwise;
}

std::string JsonFields::text(const std::string& key, const std::string& otherwise) const {
  return has(key) ? text(key) : otherwise;
}

}  // namespace dragoman::base
