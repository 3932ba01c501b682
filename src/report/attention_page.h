#pragma once

#include <string>

#include "report/attention_page_data.h"

namespace dragoman::report {

/// One self-contained HTML page (no outside resource, plain JavaScript, the data inside as JSON): an overview of all
/// layers and heads of each kind, an enlarged heat map and the tokens with arcs between them, both with weights on
/// hover and keyboard focus. Weights keep four decimals; one that is not finite is shown as "not a number".
/// Throws Error(kRuntime): "attention page: cross layer 0 head 1 has 30 weights, but 5 x 7 pieces; ...".
std::string attention_page(const AttentionPageData& data);

}  // namespace dragoman::report
