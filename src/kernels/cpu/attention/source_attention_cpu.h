#pragma once

#include "kernels/recurrent.h"

namespace dragoman::kernels {

/// Attention of decoder states to encoder states in float32, and its backward. The result of a query depends on that
/// query and its sentence alone.
void source_attention_cpu(const SourceAttentionForward& attention);
void source_attention_backward_cpu(const SourceAttentionBackward& attention);

}  // namespace dragoman::kernels
