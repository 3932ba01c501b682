// Prints the ends of the sentences of each line of the standard input, as byte offsets.
//   sentence_ends dragoman|icu LANGUAGE < lines
// `icu` is the sentence iterator of ICU with its list of abbreviations.
#include <unicode/brkiter.h>
#include <unicode/utext.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "serving/text/sentences.h"

namespace {

class IcuSentences {
 public:
  explicit IcuSentences(const std::string& language) {
    UErrorCode error = U_ZERO_ERROR;
    const icu::Locale locale((language + "@ss=standard").c_str());
    iterator_.reset(icu::BreakIterator::createSentenceInstance(locale, error));
  }

  std::vector<size_t> ends(const std::string& line) {
    UErrorCode error = U_ZERO_ERROR;
    UText text = UTEXT_INITIALIZER;
    utext_openUTF8(&text, line.data(), static_cast<int64_t>(line.size()), &error);
    iterator_->setText(&text, error);
    std::vector<size_t> ends;
    for (int32_t end = iterator_->next(); end != icu::BreakIterator::DONE; end = iterator_->next()) {
      ends.push_back(static_cast<size_t>(end));
    }
    utext_close(&text);
    return ends;
  }

 private:
  std::unique_ptr<icu::BreakIterator> iterator_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: sentence_ends dragoman|icu LANGUAGE < lines\n";
    return 2;
  }
  const std::string language = argv[2];
  const bool is_icu = std::string(argv[1]) == "icu";
  IcuSentences icu_sentences(language);
  for (std::string line; std::getline(std::cin, line);) {
    for (const size_t end : is_icu ? icu_sentences.ends(line) : dragoman::serving::sentence_ends(line, language)) {
      std::cout << end << ' ';
    }
    std::cout << '\n';
  }
  return 0;
}
