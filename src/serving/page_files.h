#pragma once

#include <span>

#include "serving/page_assets.h"

namespace dragoman::serving {

/// All files of src/serving/page/, index.html as "/". Defined in a source that cmake/embed_files.cmake makes of them.
std::span<const Asset> page_files();

}  // namespace dragoman::serving
