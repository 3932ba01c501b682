#include "interop/requirements.h"

#include <algorithm>

namespace dragoman::interop {

void require_paper_layers(const Requirements& theirs, const nn::LayerOptions& layer,
                          std::span<const std::string_view> free) {
  nn::LayerOptions::fields([&](const auto& field) {
    const std::string_view name = field.name;
    const bool is_free = name == "initial_weights" || name.starts_with("rope_") || name.starts_with("relative_") ||
                         std::ranges::find(free, name) != free.end();
    const auto paper = nn::LayerOptions().*field.member;
    theirs.require(is_free || layer.*field.member == paper, field.name, base::text_of(layer.*field.member),
                   base::text_of(paper).c_str());
  });
}

}  // namespace dragoman::interop
