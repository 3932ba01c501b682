#include "serving/service/glossary_store.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "serving/http/http_message.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

constexpr std::string_view kSuffix = ".json";
constexpr int kTooLarge = 413;
// More than a glossary of GlossaryStore::kMostBytes has as JSON.
constexpr size_t kMostFileBytes = size_t{64} << 20;

// An id is a part of a path, so nothing else is ever looked up.
bool is_id(std::string_view text) {
  constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  return std::ranges::equal(text, kForm, [](char c, char form) {
    return form == '-' ? c == '-' : (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

// Returns a random UUID (RFC 9562, section 5.4).
std::string new_id() {
  std::random_device device;                                   // random bits of the system
  const uint32_t middle = (device() & 0xFFFF0FFFU) | 0x4000U;  // version 4
  const uint32_t variant = (device() & 0x3FFFFFFFU) | 0x80000000U;
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:04x}{:08x}", device(), middle >> 16, middle & 0xFFFFU,
                     variant >> 16, variant & 0xFFFFU, device());
}

std::string time_now() {
  const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds), now.time_since_epoch().count() % 1000);
}

json to_json(const Glossary& glossary) {
  json dictionaries = json::array();
  for (const GlossaryDictionary& dictionary : glossary.dictionaries) {
    json entries = json::array();
    for (const GlossaryEntry& entry : dictionary.entries) {
      entries.push_back({entry.source, entry.target});
    }
    dictionaries.push_back({{"source_lang", dictionary.pair.source},
                            {"target_lang", dictionary.pair.target},
                            {"entries", std::move(entries)}});
  }
  return {{"name", glossary.name},
          {"creation_time", glossary.creation_time},
          {"owner", glossary.owner},
          {"dictionaries", std::move(dictionaries)}};
}

GlossaryEntry entry_from(const json& value, const std::string& place) {
  base::check_data(value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_string(),
                   "{}: an entry must be an array of two texts; correct it or remove the file", place);
  return {value[0].get<std::string>(), value[1].get<std::string>()};
}

Glossary glossary_from(const json& value, const std::string& id, const std::string& place) {
  const base::JsonFields fields(value, place);
  Glossary glossary{.id = id,
                    .name = fields.text("name"),
                    .creation_time = fields.text("creation_time"),
                    .owner = fields.text("owner"),
                    .dictionaries = {}};
  for (const json& one : fields.list("dictionaries")) {
    const base::JsonFields of_one(one, place, base::ErrorKind::kBadData, "dictionaries");
    GlossaryDictionary dictionary{.pair = {of_one.text("source_lang"), of_one.text("target_lang")}, .entries = {}};
    for (const json& entry : of_one.list("entries")) {
      dictionary.entries.push_back(entry_from(entry, place));
    }
    dictionary.terms = terms_of({&dictionary});
    glossary.dictionaries.push_back(std::move(dictionary));
  }
  return glossary;
}

void check_size(const Glossary& glossary) {
  size_t bytes = 0;
  for (const GlossaryDictionary& dictionary : glossary.dictionaries) {
    bytes += tsv_of(dictionary.entries).size();
  }
  if (bytes > GlossaryStore::kMostBytes) {
    throw HttpError(kTooLarge, fmt::format("The entries of the glossary have {} bytes, at most {} are allowed.", bytes,
                                           GlossaryStore::kMostBytes));
  }
}

}  // namespace

const GlossaryDictionary* Glossary::find(const models::LanguagePair& pair) const {
  const auto found = std::ranges::find(dictionaries, pair, &GlossaryDictionary::pair);
  return found == dictionaries.end() ? nullptr : &*found;
}

std::shared_ptr<const decoding::TermTable> terms_of(const std::vector<const GlossaryDictionary*>& dictionaries) {
  std::vector<std::string> lines;
  for (auto dictionary = dictionaries.rbegin(); dictionary != dictionaries.rend();
       ++dictionary) {  // the last one counts
    for (const GlossaryEntry& entry : (*dictionary)->entries) {
      lines.push_back(entry.source + "\t" + entry.target);
    }
  }
  return std::make_shared<decoding::TermTable>(lines, "glossary");
}

GlossaryStore::GlossaryStore(std::filesystem::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  base::check(!error, base::ErrorKind::kCannotWrite, "--glossaries {}: cannot make the folder: {}", folder_.string(),
              error.message());
  const base::FolderLock lock = lock_folder();
  for (const auto& file : std::filesystem::directory_iterator(folder_)) {
    if (file.path().extension() == ".tmp") {  // of a server that was killed while it wrote
      base::remove_quietly(file.path());
    }
  }
  static_cast<void>(all());
}

std::filesystem::path GlossaryStore::path_of(const std::string& id) const {
  return folder_ / (id + std::string(kSuffix));
}

// Another server of the folder holds the lock for as long as it writes one glossary.
base::FolderLock GlossaryStore::lock_folder() const {
  constexpr std::chrono::seconds kLongestWrite{10};
  constexpr std::chrono::milliseconds kPause{5};
  const auto end = std::chrono::steady_clock::now() + kLongestWrite;
  while (true) {
    try {
      return base::FolderLock(folder_);
    } catch (const base::Error& held) {
      if (held.kind() != base::ErrorKind::kRuntime || std::chrono::steady_clock::now() > end) {
        throw;
      }
    }
    std::this_thread::sleep_for(kPause);
  }
}

std::shared_ptr<const Glossary> GlossaryStore::current(const std::string& id) const {
  const std::filesystem::path path = path_of(id);
  struct stat seen {};
  const std::lock_guard lock(mutex_);
  if (!is_id(id) || ::stat(path.c_str(), &seen) != 0) {
    known_.erase(id);
    return nullptr;
  }
  constexpr int64_t kNanoseconds = 1'000'000'000;
  const Stamp stamp{seen.st_ino, seen.st_size, seen.st_mtim.tv_sec * kNanoseconds + seen.st_mtim.tv_nsec};
  const auto found = known_.find(id);
  if (found != known_.end() && found->second.stamp == stamp) {
    return found->second.glossary;
  }
  const json value =
      base::parse_json(base::read_file(path, kMostFileBytes), path.string(), {.max_bytes = kMostFileBytes});
  auto glossary = std::make_shared<const Glossary>(glossary_from(value, id, path.string()));
  known_.insert_or_assign(id, Known{stamp, glossary});
  return glossary;
}

std::vector<std::shared_ptr<const Glossary>> GlossaryStore::all() const {
  std::vector<std::shared_ptr<const Glossary>> glossaries;
  for (const auto& file : std::filesystem::directory_iterator(folder_)) {
    const std::string id = file.path().stem().string();
    if (file.path().extension() != kSuffix || !is_id(id)) {
      continue;
    }
    if (auto glossary = current(id); glossary != nullptr) {
      glossaries.push_back(std::move(glossary));
    }
  }
  std::ranges::sort(glossaries, {}, [](const auto& one) { return std::pair(one->creation_time, one->id); });
  return glossaries;
}

std::vector<std::shared_ptr<const Glossary>> GlossaryStore::list(std::string_view owner) const {
  std::vector<std::shared_ptr<const Glossary>> glossaries = all();
  std::erase_if(glossaries, [&](const auto& one) { return one->owner != owner; });
  return glossaries;
}

std::shared_ptr<const Glossary> GlossaryStore::find(std::string_view owner, const std::string& id) const {
  auto glossary = current(id);
  return glossary != nullptr && glossary->owner == owner ? glossary : nullptr;
}

std::shared_ptr<const Glossary> GlossaryStore::write(const Glossary& glossary) {
  check_size(glossary);
  base::write_file_atomic(path_of(glossary.id), base::dump_json(to_json(glossary)) + "\n");
  return current(glossary.id);
}

std::shared_ptr<const Glossary> GlossaryStore::create(Glossary glossary) {
  const std::lock_guard writing(writing_);
  const base::FolderLock lock = lock_folder();
  if (list(glossary.owner).size() >= kMostGlossaries) {
    throw HttpError(status::kQuotaExceeded,
                    fmt::format("Quota exceeded: there are {} glossaries; delete some.", kMostGlossaries));
  }
  glossary.id = new_id();
  glossary.creation_time = time_now();
  return write(glossary);
}

std::shared_ptr<const Glossary> GlossaryStore::update(std::string_view owner, const std::string& id,
                                                      const std::function<void(Glossary&)>& change) {
  const std::lock_guard writing(writing_);
  const base::FolderLock lock = lock_folder();
  const auto old = find(owner, id);
  if (old == nullptr) {
    return nullptr;
  }
  Glossary changed = *old;
  change(changed);
  return write(changed);
}

bool GlossaryStore::remove(std::string_view owner, const std::string& id) {
  const std::lock_guard writing(writing_);
  const base::FolderLock lock = lock_folder();
  if (find(owner, id) == nullptr) {
    return false;
  }
  std::error_code error;
  std::filesystem::remove(path_of(id), error);
  base::check(!error, base::ErrorKind::kCannotWrite, "{}: cannot remove: {}", path_of(id).string(), error.message());
  base::sync_folder(folder_);
  return true;
}

}  // namespace dragoman::serving
