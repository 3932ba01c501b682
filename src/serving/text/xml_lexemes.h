#pragma once

#include <string_view>
#include <vector>

#include "serving/text/lexeme.h"

namespace dragoman::serving {

/// Cuts XML into lexemes. A text with an XML declaration or a DOCTYPE is a document; any other text is the content of
/// an element. No entity is expanded and no file is read. A reference is part of a text if HTML has its name and the
/// text does not declare it; any other reference to an entity is a kEntity. Each lexeme is a view of the XML, which
/// must live as long. Source: XML 1.0, fifth edition. Throws: Error(kUsage) if the text is not well-formed: "Tag
/// handling parsing failed, please check input: mismatched
///         tag at line 1, column 9".
[[nodiscard]] std::vector<Lexeme> xml_lexemes(std::string_view xml);

}  // namespace dragoman::serving
