#pragma once

#include <string>

#include "decoding/inspection/inspection.h"

namespace dragoman::serving {

/// Returns a page of HTML with the story of one text and its translation: the animation of the view "Look inside"
/// (docs/page.md), of Transformers, recurrent and convolutional models. The page is a file that loads nothing: the
/// scripts and the numbers of the text stand in it. Its numbers are those of POST /v1/inspect, and the limits of tokens
/// are the same. The page speaks the language of the browser, English or Chinese.
/// @param request  the text and the options of the search
/// Throws: Error(kUsage), "story: the decoder's sub-layer is ssru, the story is of self-attention"; and as
///         decoding::Inspection.
[[nodiscard]] std::string story_page(const decoding::Translator& translator,
                                     const decoding::InspectionRequest& request);

/// Returns the same page for a prompt and its continuation, for request.max_tokens new tokens at most.
/// Throws: as above.
[[nodiscard]] std::string story_page(const decoding::Generator& generator, const decoding::InspectionRequest& request);

}  // namespace dragoman::serving
