#include "base/checked_folder.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/error.h"
#include "base/sha256.h"

namespace dragoman::base {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxManifestBytes = uint64_t{1} << 20;
constexpr size_t kHashedBytes = size_t{1} << 18;
constexpr const char* kAdvice = "the file is damaged, take it from a copy or from checkpoints/";

FileDescriptor open_folder(const fs::path& folder) {
  FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const int error = errno;
  check_data(descriptor.is_open(), "{}: cannot open as a folder: {}; check the path", folder.string(),
             std::strerror(error));
  return descriptor;
}

// The number behind `prefix`, or -1 for any other name, such as "step-007" or "step-5.tmp".
int64_t number_in(const std::string& name, const std::string& prefix) {
  if (!name.starts_with(prefix)) {
    return -1;
  }
  const char* const begin = name.data() + prefix.size();
  const char* const end = name.data() + name.size();
  int64_t number = -1;
  const auto [stop, error] = std::from_chars(begin, end, number);
  const bool is_number = error == std::errc() && stop == end && number >= 0;
  return is_number && name == prefix + std::to_string(number) ? number : -1;
}

}  // namespace

CheckedFolder::CheckedFolder(const fs::path& folder) : path_(folder), folder_(open_folder(folder)) {
  const bool has_manifest = ::faccessat(folder_.get(), kManifestName, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
  check_data(has_manifest, "{}: has no {}; is it a model folder?", folder.string(), kManifestName);
  FileReader reader(folder_.get(), kManifestName, folder / kManifestName, SymbolicLinks::kRefuse);
  manifest_ = manifest_from_text(reader.read_all(kMaxManifestBytes), path_of(kManifestName));
}

FileReader CheckedFolder::open(const std::string& name) const {
  return FileReader(folder_.get(), name, path_ / name, SymbolicLinks::kRefuse);
}

const FileRecord& CheckedFolder::record(const std::string& name) const {
  const auto found = manifest_.files.find(name);
  check_data(found != manifest_.files.end(), "{}: is not listed in {}; the folder is incomplete", path_of(name),
             kManifestName);
  return found->second;
}

void CheckedFolder::check_size(const std::string& name, uint64_t size) const {
  check_data(size == record(name).size, "{}: has {} bytes, the manifest says {}; {}", path_of(name), size,
             record(name).size, kAdvice);
}

void CheckedFolder::check_sha256(const std::string& name, const std::string& sha256) const {
  check_data(sha256 == record(name).sha256, "{}: SHA-256 is {}, the manifest says {}; {}", path_of(name), sha256,
             record(name).sha256, kAdvice);
}

std::string CheckedFolder::read(const std::string& name) const {
  const FileRecord& expected = record(name);
  FileReader reader = open(name);
  check_size(name, reader.size());
  std::string content = reader.read_all(expected.size);
  check_size(name, content.size());
  check_sha256(name, sha256_hex(content));
  return content;
}

void CheckedFolder::stream(const std::string& name,
                           const std::function<void(uint64_t size, const ReadNext& read)>& use) const {
  FileReader reader = open(name);
  check_size(name, reader.size());
  Sha256 hash;
  use(reader.size(), [&](std::span<char> to) {
    for (std::span<char> piece; !to.empty(); to = to.subspan(piece.size())) {
      piece = to.first(std::min(to.size(), kHashedBytes));
      reader.read_next(piece);
      hash.update({piece.data(), piece.size()});  // while it is in the cache
    }
  });
  reader.check_end();
  check_sha256(name, hash.hex());
}

void CheckedFolder::read_into(const std::string& name,
                              const std::function<std::span<char>(uint64_t size)>& room) const {
  stream(name, [&](uint64_t size, const ReadNext& read) { read(room(size)); });
}

void CheckedFolder::verify() const {
  for (const auto& [name, expected] : manifest_.files) {
    FileReader reader = open(name);
    check_size(name, reader.size());
    Sha256 hash;
    std::string piece;
    while (reader.read_piece(piece)) {
      hash.update(piece);
    }
    check_sha256(name, hash.hex());
  }
}

bool is_valid_folder(const fs::path& folder) {
  try {
    CheckedFolder(folder).verify();
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::vector<NumberedFolder> numbered_folders(const fs::path& parent, const std::string& prefix) {
  std::vector<NumberedFolder> folders;
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
    const int64_t number = number_in(entry->path().filename().string(), prefix);
    std::error_code unknown;
    if (number >= 0 && entry->is_directory(unknown)) {
      folders.push_back({.number = number, .path = entry->path()});
    }
  }
  std::sort(folders.begin(), folders.end(), [](const auto& a, const auto& b) { return a.number > b.number; });
  return folders;
}

std::optional<NumberedFolder> newest_valid_folder(const fs::path& parent, const std::string& prefix,
                                                  std::vector<std::string>* refused) {
  for (const NumberedFolder& folder : numbered_folders(parent, prefix)) {
    try {
      CheckedFolder(folder.path).verify();
      return folder;
    } catch (const Error& error) {
      if (refused != nullptr) {
        refused->emplace_back(error.what());
      }
    }
  }
  return std::nullopt;
}

}  // namespace dragoman::base
