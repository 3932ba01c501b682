#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

namespace dragoman::base {

/// How often and how long a writer retries after a transient error of the system.
struct RetryPolicy {
  int tries = 5;                              ///< number of attempts, >= 1
  std::chrono::milliseconds first_pause{50};  ///< before the second attempt; each later pause is 3 times longer
};

/// The step of writing that failed, and its errno. `step` is null if no step failed.
struct [[nodiscard]] WriteFailure {
  const char* step = nullptr;
  int error = 0;
  explicit operator bool() const { return step != nullptr; }
};

/// Runs `attempt` until it succeeds, fails with a permanent error, or has used up all tries. Transient errors are
/// EINTR, EAGAIN, EIO, ENOSPC and EDQUOT. Returns the last failure. Requires: `attempt` can be repeated from its start.
/// After a failed fsync the kernel may have dropped the pages, so the bytes must be written again. Source: Rebello et
/// al. 2020, "Can applications recover from fsync failures?", section 3.
WriteFailure retry_transient(const RetryPolicy& policy, const std::function<WriteFailure()>& attempt);

/// Writes all of `bytes` to an open file and resumes after interruptions and short writes. Removes the written part
/// from `bytes`, so that the next attempt continues behind it.
WriteFailure write_all(int file, std::string_view& bytes);

/// Creates or empties `path`, writes `parts` in order, calls fsync and closes the file. Every step is checked.
/// @param mode  permission bits of the file; 0 means 0666 without the bits of the umask
WriteFailure write_and_sync(const std::filesystem::path& path, std::span<const std::string_view> parts,
                            mode_t mode = 0);

/// Call rename(2), and fsync(2) on a folder, as steps of an attempt.
WriteFailure try_rename(const std::filesystem::path& from, const std::filesystem::path& to);
WriteFailure try_sync_folder(const std::filesystem::path& folder);

/// Throws: Error(kCannotWrite) if `failure` has a step: "step-5.tmp/model.safetensors: cannot fsync: No space left on
/// device (errno 28); free some space and run the same command again".
void check_written(const WriteFailure& failure, const std::filesystem::path& path);

/// Returns true if a file or folder of that name exists. Returns false also without permission to look it up.
[[nodiscard]] bool path_exists(const std::filesystem::path& path);

/// Returns the folder that holds `path`, or "." for a name without a folder.
[[nodiscard]] std::filesystem::path parent_folder(const std::filesystem::path& path);

}  // namespace dragoman::base
