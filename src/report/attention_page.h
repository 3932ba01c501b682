#pragma once

#include <string>

#include "report/attention_page_data.h"

namespace dragoman::report {

/// Returns one self-contained HTML page with plain JavaScript, the data as JSON and no external resources. The page
/// shows all layers and heads of each kind, an enlarged heat map, and the tokens with arcs between them. Hover and
/// keyboard focus show single weights. Weights have four decimals; a weight that is not finite is shown as "not a
/// number". Throws: Error(kRuntime), "attention page: cross layer 0 head 1 has 30 weights, but 5 x 7 pieces; ...".
std::string attention_page(const AttentionPageData& data);

}  // namespace dragoman::report
