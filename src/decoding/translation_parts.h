#pragma once

#include <string>
#include <vector>

#include "decoding/translation.h"

namespace dragoman::decoding {

/// Joins the translations of the parts of one line, in order: texts by a space, pieces, ids and token scores one
/// after another, scores summed, normalised scores averaged by number of tokens, alignments as blocks of one matrix,
/// the k-th alternatives with each other (a part with fewer gives its last). Ended as the last part that was cut, if
/// one was.
/// @return an empty translation for no parts, the part itself for one
Translation join_parts(std::vector<Translation> parts);

/// Two texts with a space between them; one of them where the other is empty.
std::string joined_text(std::string before, const std::string& part);

}  // namespace dragoman::decoding
