#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

namespace dragoman::base {

/// How long a writer goes on when the system says no for a reason that may pass.
struct RetryPolicy {
  int tries = 5;                              ///< attempts in all, >= 1
  std::chrono::milliseconds first_pause{50};  ///< before the second attempt; each further pause is 3 times longer
};

/// The step of writing that failed and errno; `step` is null when all went well.
struct WriteFailure {
  const char* step = nullptr;
  int error = 0;
  explicit operator bool() const { return step != nullptr; }
};

/// Runs `attempt` until it succeeds, fails for a reason that does not pass, or the tries are used up. What passes:
/// EINTR, EAGAIN, EIO, ENOSPC, EDQUOT. Returns the last failure. The attempt must be repeatable from its start:
/// after a failed fsync the kernel may have dropped the pages, so the bytes have to be written again.
/// Source: Rebello et al. 2020, "Can applications recover from fsync failures?", section 3.
WriteFailure retry_transient(const RetryPolicy& policy, const std::function<WriteFailure()>& attempt);

/// Writes all of `bytes` to an open file, through interruptions and short writes. Removes from `bytes` what is written,
/// so that the next attempt goes on from there.
WriteFailure write_all(int file, std::string_view& bytes);

/// Creates (or empties) `path`, writes `parts` one after the other, fsyncs, closes; every step is checked.
/// @param mode  permission bits for the file; 0 takes 0666 less the umask
WriteFailure write_and_sync(const std::filesystem::path& path, std::span<const std::string_view> parts,
                            mode_t mode = 0);

/// rename(2) and fsync of a folder, as steps of an attempt.
WriteFailure try_rename(const std::filesystem::path& from, const std::filesystem::path& to);
WriteFailure try_sync_folder(const std::filesystem::path& folder);

/// Throws Error(kCannotWrite) if there is a failure: "step-5.tmp/model.safetensors: cannot fsync: No space left on
/// device (errno 28); free some space and run the same command again".
void check_written(const WriteFailure& failure, const std::filesystem::path& path);

/// True if there is something of that name; false also where the system does not let us look.
bool path_exists(const std::filesystem::path& path);

/// The folder that holds `path`; "." for a bare name.
std::filesystem::path parent_folder(const std::filesystem::path& path);

}  // namespace dragoman::base
