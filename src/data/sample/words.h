#pragma once

#include <string_view>

namespace dragoman::data::sample {

/// The word lists of the sample corpus as plain tables, one entry a line; Lexicon reads them.

/// english english-plural gender german german-plural [suffix of weak nouns]; "-" where there is no plural.
extern const std::string_view kNounTable;
/// class: english nouns. A noun may be in several classes.
extern const std::string_view kClassTable;
/// english german [stem] ["!" if it takes no degree]; the stem is the German word without a final e by default.
extern const std::string_view kAdjectiveTable;
/// class: the adjectives that may stand before its nouns.
extern const std::string_view kAttributeTable;
/// english / german
extern const std::string_view kAdverbialTable;

}  // namespace dragoman::data::sample
