#pragma once

#include "data/sample/chinese_clause.h"

namespace dragoman::data::sample {

/// Return a sentence without an antecedent.
SamplePair draw_copula(const Words& words, base::Random& random);     ///< "The old dogs were very tired."
SamplePair draw_existence(const Words& words, base::Random& random);  ///< "There was no old dog in the garden."
SamplePair draw_witness(const Words& words,
                        base::Random& random);                    ///< "Yesterday the farmer saw a dog behind the barn."
SamplePair draw_count(const Words& words, base::Random& random);  ///< "Three old dogs slept in the barn."
SamplePair draw_wish(const Words& words, base::Random& random);   ///< "The farmer must sell three old dogs."

}  // namespace dragoman::data::sample
