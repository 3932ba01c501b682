#pragma once

namespace dragoman::kernels {

/// A function of one element.
enum class ElementMap {
  kNegate,  ///< -a
  kExp,     ///< e to the power a
};

/// A function of two elements, a of the left operand and b of the right one.
enum class PairMap {
  kAdd,           ///< a + b
  kSubtract,      ///< a - b
  kMultiply,      ///< a b
  kTwiceProduct,  ///< 2 b a, the gradient of b^2 times a
};

}  // namespace dragoman::kernels
