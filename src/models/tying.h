#pragma once

#include "base/names.h"

namespace dragoman::models {

/// Which of the three [V, D] matrices of an encoder-decoder are one (Vaswani et al. 2017, section 3.4: all three).
enum class Tying {
  kNone,    ///< source embedding, target embedding and output weight apart
  kTarget,  ///< target embedding = output weight
  kAll,     ///< all three; needs one joint vocabulary
};

constexpr base::Names<Tying> names_of(Tying) {
  return {"tying", {{Tying::kNone, "none"}, {Tying::kTarget, "target"}, {Tying::kAll, "all"}}};
}

}  // namespace dragoman::models
