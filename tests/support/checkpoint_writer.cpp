// A run in small, for the fault tests: `checkpoint_writer FOLDER` writes FOLDER/checkpoints/step-2, publishes version 2
// at the top of FOLDER and appends to a file atomically, as training does. Ends with the exit status of the error.
#include <cstdio>
#include <exception>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/folder_writer.h"
#include "base/published_folder.h"
#include "support/versioned_files.h"

namespace {

using dragoman::base::FolderWriter;
using dragoman::base::RetryPolicy;

void run(const std::filesystem::path& folder, int version) {
  const RetryPolicy retry{.tries = 4, .first_pause = std::chrono::milliseconds(1)};
  dragoman::base::recover_folders(folder / "checkpoints");
  FolderWriter writer(folder / "checkpoints" / ("step-" + std::to_string(version)), retry);
  dragoman::test_support::add_version(writer, version);
  writer.commit();
  dragoman::base::publish_files(
      folder, [&](FolderWriter& top) { dragoman::test_support::add_version(top, version); }, retry);
  dragoman::base::write_file_atomic(folder / "notes.txt", "version " + std::to_string(version), retry);
}

}  // namespace

int main(int argument_count, char** arguments) {
  try {
    run(argument_count > 1 ? arguments[1] : ".", argument_count > 2 ? std::atoi(arguments[2]) : 2);
    return 0;
  } catch (const dragoman::base::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_status();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "not an Error: %s\n", error.what());
    return 99;
  }
}
