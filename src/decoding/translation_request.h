#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "decoding/language_tokens.h"
#include "decoding/search/sentence_request.h"
#include "decoding/terms.h"

namespace dragoman::decoding {

/// One more piece of a translation that will not change again.
struct StreamedToken {
  size_t position;    ///< 0, 1, 2 ... in the translation
  int32_t id;         ///< of the piece
  std::string piece;  ///< spaces are U+2581
  std::string text;   ///< of all pieces so far
};

/// A line to translate, and what it asks for beside the options that it shares with others.
struct TranslationRequest {
  std::string text = {};
  /// The languages, of a model for several. Each part of a line that is cut has them.
  LanguageTokens languages = {};
  /// What the translation must begin with; cut into pieces as a target line is. Spaces at its end are dropped, and its
  /// last word may grow. The translation's scores include it.
  std::string prefix = {};
  /// What the translation must hold, each once at least and in any order; 64 at most.
  std::vector<std::string> phrases = {};
  /// Demands the target phrases of the terms found in the text. Null = none.
  std::shared_ptr<const TermTable> terms = {};
  /// Is told every token of the translation once, in order, as soon as it is sure: at once in greedy search and
  /// sampling (of the first sample); in beam search when all hypotheses share it. The last text is the translation's.
  /// Runs in a worker's thread, and must not translate with the same translator. False cancels. Of a line
  /// translated in parts, a part is told of when those before it have ended. A callback that throws fails the call.
  std::function<bool(const StreamedToken&)> on_token = {};
  /// When stop is requested, the translation is the best so far, with kCancelled.
  std::stop_token cancel = {};
  /// When this time is reached, it is the best so far, with kDeadline.
  std::optional<Deadline> deadline = {};
};

}  // namespace dragoman::decoding
