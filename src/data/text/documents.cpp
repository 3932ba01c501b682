#include "data/text/documents.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text_input.h"
#include "base/utf8.h"

namespace dragoman::data {
namespace {

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

std::string with_plain_line_ends(const std::string& text) {
  std::string plain;
  plain.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r' || i + 1 == text.size() || text[i + 1] != '\n') {
      plain += text[i];
    }
  }
  return plain;
}

// Where documents are not whole files: cuts at lines.
class Cutter {
 public:
  Cutter(const TextOptions& options, std::vector<std::string>& documents) : options_(options), documents_(documents) {}

  void take(std::string_view text) {
    while (!text.empty()) {
      const size_t end = text.find('\n');
      take_line(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    finish();
  }

 private:
  void take_line(std::string_view line) {
    if (options_.documents == DocumentKind::kSeparator
            ? line == options_.document_separator
            : options_.documents == DocumentKind::kBlankLine && is_blank(line)) {
      return finish();
    }
    document_ += line;
    document_ += '\n';
    if (options_.documents == DocumentKind::kLine) {
      finish();
    }
  }

  void finish() {
    if (!is_blank(std::string_view(document_).substr(0, document_.find('\n')))) {
      documents_.push_back(document_);
    }
    document_.clear();
  }

  const TextOptions& options_;
  std::vector<std::string>& documents_;
  std::string document_;
};

uint64_t characters(std::string_view text) {
  return static_cast<uint64_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

// The byte where the character number `count` begins.
size_t byte_of(std::string_view text, uint64_t count) {
  size_t byte = 0;
  for (; byte < text.size(); ++byte) {
    if ((text[byte] & 0xC0) != 0x80 && count-- == 0) {
      break;
    }
  }
  return byte;
}

}  // namespace

std::vector<std::string> read_documents(const std::vector<std::filesystem::path>& files, const TextOptions& options) {
  base::check_usage((options.documents == DocumentKind::kSeparator) == !options.document_separator.empty(),
                    "document_separator is \"{}\", must be given with documents \"separator\" and with nothing else",
                    options.document_separator);
  std::vector<std::string> documents;
  for (const auto& file : files) {
    std::string text = with_plain_line_ends(base::repair_utf8(base::read_text_file(file)));
    if (options.documents == DocumentKind::kFile) {
      if (!text.empty()) {
        documents.push_back(std::move(text));
      }
    } else {
      Cutter(options, documents).take(text);
    }
  }
  base::check_data(!documents.empty(), "{}: holds no text; give a file with text",
                   files.empty() ? "text" : files.front().string());
  return documents;
}

DividedText divide(std::vector<std::string> documents, double share) {
  uint64_t total = 0;
  for (const std::string& document : documents) {
    total += characters(document);
  }
  auto left = static_cast<uint64_t>(std::floor(static_cast<double>(total) * (1.0 - share)));
  base::check_usage(left > 0 && left < total,
                    "valid_share is {}, which leaves nothing of a text of {} characters on one side", share, total);
  DividedText divided;
  for (std::string& document : documents) {
    const uint64_t count = characters(document);
    if (left >= count) {
      left -= count;
      divided.training.push_back(std::move(document));
    } else if (left == 0) {
      divided.validation.push_back(std::move(document));
    } else {
      const size_t border = byte_of(document, left);
      divided.training.push_back(document.substr(0, border));
      divided.validation.push_back(document.substr(border));
      left = 0;
    }
  }
  return divided;
}

}  // namespace dragoman::data
