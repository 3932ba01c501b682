#pragma once

#include <functional>
#include <string>

#include "serving/http/router.h"
#include "serving/service/serving_context.h"
#include "serving/service/work_queue.h"

namespace dragoman::serving {

/// The number of requests about glossaries that may wait; more are refused.
inline constexpr size_t kMostGlossaryRequests = 64;

/// Adds the glossaries of DeepL's interface, versions 2 and 3 (docs/serving.md): /v2/glossary-language-pairs,
/// /v2/glossaries with its entries, and /v3/glossaries with entries and dictionaries. Version 2 sees the glossaries
/// that have one dictionary. Without ServingContext::glossaries the lists are empty, and all other requests are refused
/// with a message that names the flag. The thread of `queue` writes, so the thread of the connections never waits for a
/// disk. Requires: `context` and `queue` outlive the router. `queue` ends before the connections that it answers.
/// @param say  is called with a line for the log when a glossary cannot be stored
void add_glossary_routes(Router& router, ServingContext& context, WorkQueue& queue,
                         std::function<void(const std::string&)> say);

}  // namespace dragoman::serving
