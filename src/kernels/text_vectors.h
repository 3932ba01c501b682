#pragma once

namespace dragoman::kernels {

/// A row shorter than this is divided by this and not by its length, as in torch.nn.functional.normalize.
inline constexpr double kLeastLength = 1e-12;

}  // namespace dragoman::kernels
