#include "serving/page/page_assets.h"

#include <algorithm>

namespace dragoman::serving {

const Asset* find_asset(std::string_view path) {
  const auto files = page_files();
  const auto found = std::ranges::find(files, path, &Asset::path);
  return found == files.end() ? nullptr : &*found;
}

}  // namespace dragoman::serving
