#pragma once

#include <cstdint>
#include <vector>

#include "decoding/search/hypothesis.h"

namespace dragoman::decoding {

/// One hypothesis that a step of a beam search kept: its parent and one token more.
struct BeamNode {
  int32_t parent = -1;    ///< in BeamTree::nodes, before this one; -1: the start of the sentence
  int32_t step = 0;       ///< 0 = the first token
  int32_t token_id = 0;   ///< the last token; the end of sentence in a finished hypothesis
  float log_prob = 0.0F;  ///< of that token, nats
  double score = 0.0;     ///< what it was ranked by: the sum of the log-probabilities, changed by penalties if any
};

/// A hypothesis that ended.
struct BeamLeaf {
  int32_t node = -1;  ///< in BeamTree::nodes; -1 for a hypothesis of no tokens
  double score = 0.0;
  double normalised_score = 0.0;  ///< score / length penalty: the order of the leaves
  FinishReason reason = FinishReason::kEndOfSentence;
};

/// All hypotheses that a beam search kept, those that it dropped a step later too: such a node has no child and is no
/// leaf. Nodes of one step stand together, best first.
struct BeamTree {
  std::vector<BeamNode> nodes;     ///< parents before children
  std::vector<BeamLeaf> finished;  ///< best first
};

}  // namespace dragoman::decoding
