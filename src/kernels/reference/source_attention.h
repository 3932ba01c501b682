#pragma once

#include "kernels/recurrent.h"

namespace dragoman::kernels::reference {

/// The definition of attention of decoder states to encoder states, in float64.
void source_attention(const SourceAttentionForward& attention);
void source_attention_backward(const SourceAttentionBackward& attention);

}  // namespace dragoman::kernels::reference
