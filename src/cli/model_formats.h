#pragma once

#include <string>
#include <vector>

namespace dragoman::cli {

/// Returns: the names of the models of other programs that `import --from` reads and `export --to` writes.
inline std::vector<std::string> model_formats() {
  return {"hf-marian"};
}

}  // namespace dragoman::cli
