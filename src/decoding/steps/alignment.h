#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decoding/search/alignment.h"
#include "models/model.h"

namespace dragoman::decoding {

/// Cross-attention weights of one decoder layer, averaged over its heads, with the target fed in one teacher-forced
/// pass: row t belongs to the step that generated piece t. This is the definition of an alignment. A search that
/// has seen the layer's weights in its own steps keeps those instead (see SentenceRequest::alignment_layer).
/// @param source  ids with the end;  @param target  ids without begin and end;  @param layer  0 = first, -1 = last
/// Throws Error(kUsage) for a layer the model does not have: "alignment_layer is 6, the model has 6 decoder layers
/// ...". Source: Vaswani et al. 2017, section 3.2.3. Attention is a hint, not a word alignment (Garg et al. 2019).
Alignment align(const models::Model& model, std::span<const int32_t> source, std::span<const int32_t> target,
                int layer);

/// Throws what `align` throws for a layer the model does not have.
void check_alignment_layer(const models::Model& model, int layer);

}  // namespace dragoman::decoding
