#include "base/manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"

namespace dragoman::base {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "dragoman-folder";
constexpr int kFormatVersion = 1;
constexpr size_t kMaxNameBytes = 128;
constexpr size_t kSha256Digits = 64;
constexpr JsonLimits kManifestLimits{.max_bytes = size_t{1} << 20, .max_depth = 3};

json records(const Manifest& manifest) {
  json tree = json::object();
  for (const auto& [name, record] : manifest.files) {
    tree[name] = {{"size", record.size}, {"sha256", record.sha256}};
  }
  return tree;
}

bool is_sha256(std::string_view text) {
  return text.size() == kSha256Digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

FileRecord record_from(const json& tree, const std::string& name, std::string_view file_name) {
  const bool has_fields = tree.is_object() && tree.contains("size") && tree.contains("sha256") &&
                          tree["size"].is_number_unsigned() && tree["sha256"].is_string();
  check_data(has_fields, "{}: record of '{}' must hold a size and a sha256; the file is damaged", file_name, name);
  FileRecord record{.size = tree["size"].get<uint64_t>(), .sha256 = tree["sha256"].get<std::string>()};
  check_data(is_sha256(record.sha256), "{}: sha256 of '{}' must be 64 hexadecimal digits; the file is damaged",
             file_name, name);
  return record;
}

void check_version(const json& tree, std::string_view file_name) {
  check_data(tree.is_object() && tree.value("format", json()) == kFormat,
             "{}: is not a manifest written by dragoman (\"format\": \"{}\" is missing)", file_name, kFormat);
  const json version = tree.value("version", json());
  check_data(version == kFormatVersion, "{}: has format version {}, this program reads {}; use a newer dragoman",
             file_name, dump_json(version), kFormatVersion);
}

// A text that parses to the same manifest but is not the one text of it has been changed.
void check_exact(std::string_view text, std::string_view expected, std::string_view file_name) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(text.size(), expected.size()));
  const auto differs = std::mismatch(text.begin(), end, expected.begin()).first;
  check_data(text == expected,
             "{}: byte {} differs from what its content must be written as; the file is damaged, take it from a copy "
             "or from checkpoints/",
             file_name, differs - text.begin() + 1);
}

}  // namespace

std::string to_text(const Manifest& manifest) {
  const json files = records(manifest);
  const json tree = {{"format", kFormat},
                     {"version", kFormatVersion},
                     {"files", files},
                     {"files_sha256", sha256_hex(dump_json(files))}};
  return dump_json(tree, 2) + "\n";
}

Manifest manifest_from_text(std::string_view text, std::string_view file_name) {
  const json tree = parse_json(text, file_name, kManifestLimits);
  check_version(tree, file_name);
  const json files = tree.value("files", json());
  check_data(files.is_object(), "{}: \"files\" must be an object of records; the file is damaged", file_name);
  Manifest manifest;
  for (const auto& [name, record] : files.items()) {
    check_data(is_file_name(name), "{}: '{}' is no name for a file of a model folder", file_name, name);
    manifest.files[name] = record_from(record, name, file_name);
  }
  check_exact(text, to_text(manifest), file_name);
  return manifest;
}

bool is_file_name(std::string_view name) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  return !name.empty() && name.size() <= kMaxNameBytes && name.front() != '.' && name != kManifestName &&
         std::all_of(name.begin(), name.end(), is_allowed);
}

}  // namespace dragoman::base
