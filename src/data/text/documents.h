#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/fields.h"

namespace dragoman::data {

/// What a document is in the text of a language model.
enum class DocumentKind {
  kFile,       ///< each file is one document
  kBlankLine,  ///< blank lines separate documents
  kLine,       ///< each line is one
  kSeparator,  ///< lines that hold TextOptions::document_separator alone separate them
};

constexpr base::Names<DocumentKind> names_of(DocumentKind) {
  return {"documents",
          {{DocumentKind::kFile, "file"},
           {DocumentKind::kBlankLine, "blank-line"},
           {DocumentKind::kLine, "line"},
           {DocumentKind::kSeparator, "separator"}}};
}

/// How the text of a language model is read.
struct TextOptions {
  DocumentKind documents = DocumentKind::kFile;
  std::string document_separator;
  bool across_documents = true;  ///< a window may hold several documents
  double valid_share = 0.0;      ///< of the text's characters or examples, at its end

  static constexpr const char* kTitle = "Text of a language model";  ///< in --help
  /// Calls visit(base::Field) for each field.
  template <typename Visit>
  static void fields(Visit&& visit);
};

template <typename Visit>
void TextOptions::fields(Visit&& visit) {
  using base::Field;
  using O = TextOptions;
  visit(Field("documents", &O::documents, "What a document is; a vocabulary with <|endoftext|> puts it between them"));
  visit(Field("document_separator", &O::document_separator,
              "With --documents separator: the line that stands between documents"));
  visit(Field("across_documents", &O::across_documents, "Attention crosses the borders of documents (true or false)"));
  visit(Field("valid_share", &O::valid_share,
              "Without --valid-text: this share of the text, its end, is the validation text: of its characters, or of "
              "its lines where they are examples, such as labelled texts",
              {0, 0.9}));
}

/// Reads text files whole and cuts them into documents. Invalid UTF-8 becomes U+FFFD; lines end with LF, those of the
/// file's own CRs too. Documents without a character are left out.
/// Memory: the text.
/// Throws: Error(kBadData) as base::read_text_file, and if no text is left: "train.txt: holds no text; ...".
std::vector<std::string> read_documents(const std::vector<std::filesystem::path>& files, const TextOptions& options);

/// The documents of training and of validation.
struct DividedText {
  std::vector<std::string> training;
  std::vector<std::string> validation;
};

/// Cuts documents in two at a character, floor(n * (1 - share)) of all n characters.
/// Throws: Error(kUsage) if one of the parts would be empty.
DividedText divide(std::vector<std::string> documents, double share);

}  // namespace dragoman::data
