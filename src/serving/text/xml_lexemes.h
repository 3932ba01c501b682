#pragma once

#include <string_view>
#include <vector>

#include "serving/text/lexeme.h"

namespace dragoman::serving {

/// Cuts XML into lexemes. A text with an XML declaration or a DOCTYPE is a document; any other text is the content of
/// an element. No entity is expanded and no file is read: a reference to an entity other than the five of XML is a
/// kEntity. Each lexeme is a view of the XML, which must live as long.
/// Source: XML 1.0, fifth edition.
/// Throws: Error(kUsage) if the text is not well-formed: "Tag handling parsing failed, please check input: mismatched
///         tag at line 1, column 9".
[[nodiscard]] std::vector<Lexeme> xml_lexemes(std::string_view xml);

}  // namespace dragoman::serving
