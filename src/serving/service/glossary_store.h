#pragma once

#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/folder_lock.h"
#include "decoding/terms.h"
#include "serving/service/glossary_entries.h"

namespace dragoman::serving {

/// The entries of a glossary for one pair of languages.
struct GlossaryDictionary {
  models::LanguagePair pair;  ///< as glossary_language names them
  std::vector<GlossaryEntry> entries;
  std::shared_ptr<const decoding::TermTable> terms = {};  ///< of the entries; set by the store
};

/// A glossary of DeepL's interface.
struct Glossary {
  std::string id = {};  ///< a UUID; set by `create`
  std::string name;
  std::string creation_time = {};  ///< "2026-11-22T05:13:56.123Z"; set by `create`
  std::string owner = {};          ///< the SHA-256 of the key of its clients; empty without keys
  std::vector<GlossaryDictionary> dictionaries;

  /// Returns the dictionary of a pair, or null.
  [[nodiscard]] const GlossaryDictionary* find(const models::LanguagePair& pair) const;
};

/// Returns the table of the terms of several dictionaries. Of two entries for one source the first one counts.
[[nodiscard]] std::shared_ptr<const decoding::TermTable> terms_of(
    const std::vector<const GlossaryDictionary*>& dictionaries);

/// The glossaries of the server: one file ID.json for each, in a folder. A file is written aside, synced and renamed,
/// so after any crash it holds the old glossary or the new one. Two servers may share the folder, as they do for a
/// moment when a new version takes over: each sees what the other one writes. Clients see only the glossaries of their
/// owner. Threads: safe for use by any number of threads. Readers do not wait for a writer's disk.
class GlossaryStore {
 public:
  static constexpr size_t kMostGlossaries = 1000;         ///< of one owner
  static constexpr size_t kMostBytes = size_t{10} << 20;  ///< of the entries of one glossary

  /// Makes the folder if it does not exist, and reads all glossaries.
  /// Throws: Error(kCannotWrite) if the folder cannot be written. Error(kBadData) for a damaged file:
  ///         "glossaries/def3....json: key "name" is missing".
  explicit GlossaryStore(std::filesystem::path folder);

  /// Returns the glossaries of an owner, the oldest one first.
  [[nodiscard]] std::vector<std::shared_ptr<const Glossary>> list(std::string_view owner) const;
  /// Returns a glossary, or null if the owner has none of this id.
  [[nodiscard]] std::shared_ptr<const Glossary> find(std::string_view owner, const std::string& id) const;
  /// Stores a new glossary. Returns it with its id.
  /// Throws: HttpError(456) beyond kMostGlossaries, HttpError(413) beyond kMostBytes. Error(kCannotWrite).
  std::shared_ptr<const Glossary> create(Glossary glossary);
  /// Stores what `change` makes of a glossary. Returns the new state, or null if the owner has none of this id.
  /// Throws: HttpError(413) beyond kMostBytes, and what `change` throws. Error(kCannotWrite).
  std::shared_ptr<const Glossary> update(std::string_view owner, const std::string& id,
                                         const std::function<void(Glossary&)>& change);
  /// Removes a glossary. Returns false if the owner has none of this id. Throws: Error(kCannotWrite).
  bool remove(std::string_view owner, const std::string& id);

 private:
  // Tells one version of a file from the next one.
  struct Stamp {
    ino_t file = 0;
    off_t size = 0;
    int64_t nanoseconds = 0;
    bool operator==(const Stamp&) const = default;
  };
  struct Known {
    Stamp stamp;
    std::shared_ptr<const Glossary> glossary;
  };

  std::filesystem::path path_of(const std::string& id) const;
  base::FolderLock lock_folder() const;
  std::vector<std::shared_ptr<const Glossary>> all() const;
  std::shared_ptr<const Glossary> current(const std::string& id) const;
  std::shared_ptr<const Glossary> write(const Glossary& glossary);

  std::filesystem::path folder_;
  std::mutex writing_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Known> known_;  // by id
};

}  // namespace dragoman::serving
