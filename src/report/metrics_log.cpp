#include "report/metrics_log.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"

namespace dragoman::report {
namespace {

using Json = nlohmann::ordered_json;  // keeps the keys in the order of the structs

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json to_json(const TrainRow& row) {
  Json json = {{"kind", "train"},
               {"step", row.step},
               {"epoch", number(row.epoch)},
               {"loss", number(row.loss)},
               {"learning_rate", number(row.learning_rate)},
               {"tokens_per_second", number(row.tokens_per_second)},
               {"grad_norm", number(row.grad_norm)},
               {"seconds", number(row.seconds)}};
  if (std::isfinite(row.kl)) {
    json["kl"] = row.kl;
  }
  return json;
}

Json to_json(const ValidationRow& row) {
  Json json = {{"kind", "validation"}};
  ValidationRow::fields([&](const auto& field) {
    const auto& value = row.*field.member;
    if constexpr (std::is_same_v<decltype(value), const double&>) {
      const bool is_of_encoders = &value == &row.accuracy || &value == &row.mrr;  // other models have none
      const bool is_left_out = is_of_encoders && !std::isfinite(value);
      if (!is_left_out) {
        json[field.name] = number(value);
      }
    } else {
      json[field.name] = value;
    }
  });
  return json;
}

Json to_json(const CheckpointRow& row) {
  return {{"kind", "checkpoint"}, {"step", row.step}, {"folder", row.folder}, {"seconds", number(row.seconds)}};
}

Json to_json(const EventRow& row) {
  return {
      {"kind", "event"}, {"step", row.step}, {"name", row.name}, {"text", row.text}, {"seconds", number(row.seconds)}};
}

Json to_json(const MemoryRow& row) {
  Json json = {
      {"kind", "memory"}, {"step", row.step}, {"batch_tokens", row.batch_tokens}, {"accumulate", row.accumulate}};
  for (const auto& [name, bytes] : row.bytes) {
    json["bytes"][name] = bytes;
  }
  json["seconds"] = number(row.seconds);
  return json;
}

// One line, LF included; text that is not UTF-8 is repaired rather than refused.
std::string line_of(const Json& row) {
  return row.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

double read_number(const nlohmann::json& row, const char* key) {
  const auto value = row.find(key);
  return value != row.end() && value->is_number() ? value->get<double>() : kNotMeasured;
}

std::string read_text(const nlohmann::json& row, const char* key) {
  const auto value = row.find(key);
  return value != row.end() && value->is_string() ? value->get<std::string>() : std::string();
}

bool read_flag(const nlohmann::json& row, const char* key) {
  const auto value = row.find(key);
  return value != row.end() && value->is_boolean() && value->get<bool>();
}

TrainRow train_row(const nlohmann::json& row, int64_t step) {
  return {step,
          read_number(row, "epoch"),
          read_number(row, "loss"),
          read_number(row, "learning_rate"),
          read_number(row, "tokens_per_second"),
          read_number(row, "grad_norm"),
          read_number(row, "seconds"),
          read_number(row, "kl")};
}

ValidationRow validation_row(const nlohmann::json& row, int64_t step) {
  ValidationRow result;
  ValidationRow::fields([&](const auto& field) {
    auto& value = result.*field.member;
    if constexpr (std::is_same_v<decltype(value), double&>) {
      value = read_number(row, field.name);
    } else if constexpr (std::is_same_v<decltype(value), bool&>) {
      value = read_flag(row, field.name);
    }
  });
  result.step = step;
  return result;
}

int64_t read_count(const nlohmann::json& row, const char* key) {
  const auto value = row.find(key);
  return value != row.end() && value->is_number_integer() ? value->get<int64_t>() : 0;
}

MemoryRow memory_row(const nlohmann::json& row, int64_t step) {
  MemoryRow memory{
      step, read_count(row, "batch_tokens"), read_count(row, "accumulate"), {}, read_number(row, "seconds")};
  if (const auto bytes = row.find("bytes"); bytes != row.end() && bytes->is_object()) {
    for (const auto& [name, value] : bytes->items()) {
      memory.bytes.emplace_back(name, value.is_number_unsigned() ? value.get<uint64_t>() : 0);
    }
  }
  return memory;
}

// Files row `json` under its kind. False: not a row of this format.
bool add_row(const nlohmann::json& json, MetricsHistory& history) {
  const auto step_value = json.is_object() ? json.find("step") : json.end();
  if (!json.is_object() || step_value == json.end() || !step_value->is_number_integer()) {
    return false;
  }
  const auto step = step_value->get<int64_t>();
  const std::string kind = read_text(json, "kind");
  if (kind == "train") {
    history.train.push_back(train_row(json, step));
  } else if (kind == "validation") {
    history.validation.push_back(validation_row(json, step));
  } else if (kind == "checkpoint") {
    history.checkpoints.push_back({step, read_text(json, "folder"), read_number(json, "seconds")});
  } else if (kind == "event") {
    history.events.push_back({step, read_text(json, "name"), read_text(json, "text"), read_number(json, "seconds")});
  } else if (kind == "memory") {
    history.memory.push_back(memory_row(json, step));
  } else {
    return false;
  }
  return true;
}

// The row in `line`, or nothing if it is damaged.
std::optional<nlohmann::json> parse_row(std::string_view line, const std::string& name) {
  try {
    return base::parse_json(line, name);
  } catch (const base::Error&) {
    return std::nullopt;
  }
}

// Calls `visit(line)` for each line of `text`, LF included; a last line without one comes without.
template <typename Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    visit(text.substr(0, end));
    text.remove_prefix(end);
  }
}

// True if a run that goes on after `resume_step` keeps `line`.
bool is_kept(std::string_view line, const std::string& name, int64_t resume_step) {
  MetricsHistory ignored;
  const auto row = line.ends_with('\n') ? parse_row(line, name) : std::nullopt;
  return row.has_value() && add_row(*row, ignored) && (*row)["step"].get<int64_t>() <= resume_step;
}

// Removes from `path` what a run that goes on after `resume_step` would write again. Returns `path`.
const std::filesystem::path& trim(const std::filesystem::path& path, int64_t resume_step) {
  if (!std::filesystem::exists(path)) {
    return path;
  }
  const std::string text = base::read_file(path);
  std::string kept;
  for_each_line(text, [&](std::string_view line) {
    if (is_kept(line, path.string(), resume_step)) {
      kept += line;
    }
  });
  if (kept.size() != text.size()) {
    base::write_file_atomic(path, kept);
  }
  return path;
}

}  // namespace

MetricsHistory read_metrics(const std::filesystem::path& path) {
  MetricsHistory history;
  if (!std::filesystem::exists(path)) {
    return history;
  }
  const std::string text = base::read_file(path);
  for_each_line(text, [&](std::string_view line) {
    const auto row = line.ends_with('\n') ? parse_row(line, path.string()) : std::nullopt;
    if (!row.has_value() || !add_row(*row, history)) {
      ++history.damaged_lines;
    }
  });
  return history;
}

MetricsLog::MetricsLog(const std::filesystem::path& path, int64_t resume_step) : file_(trim(path, resume_step)) {}

void MetricsLog::append(const TrainRow& row) {
  file_.append(line_of(to_json(row)));
}

void MetricsLog::append(const ValidationRow& row) {
  file_.append(line_of(to_json(row)));
}

void MetricsLog::append(const CheckpointRow& row) {
  file_.append(line_of(to_json(row)));
}

void MetricsLog::append(const EventRow& row) {
  file_.append(line_of(to_json(row)));
}

void MetricsLog::append(const MemoryRow& row) {
  file_.append(line_of(to_json(row)));
}

}  // namespace dragoman::report
