#pragma once

#include <string_view>

namespace dragoman::data::sample {

/// The Chinese of the words of the sample corpus as plain tables, one entry a line; ChineseLexicon reads them.

/// english-noun measure-word chinese
extern const std::string_view kChineseNounTable;
/// english-adjective chinese ["!" if it takes no degree], as predicates: tired 累
extern const std::string_view kChinesePredicateTable;
/// english-adjective[@class] chinese, as before a noun: red 红色的. An entry with a class holds for its nouns alone.
extern const std::string_view kChineseAttributeTable;
/// english / chinese
extern const std::string_view kChineseAdverbialTable;

}  // namespace dragoman::data::sample
