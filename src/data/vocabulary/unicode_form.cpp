#include "data/vocabulary/unicode_form.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>

#include <algorithm>

#include "base/error.h"

namespace dragoman::data {
namespace {

const icu::Normalizer2& normalizer_of(UnicodeForm form) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* normalizer = form == UnicodeForm::kNfc    ? icu::Normalizer2::getNFCInstance(status)
                                       : form == UnicodeForm::kNfd  ? icu::Normalizer2::getNFDInstance(status)
                                       : form == UnicodeForm::kNfkc ? icu::Normalizer2::getNFKCInstance(status)
                                                                    : icu::Normalizer2::getNFKDInstance(status);
  base::check(U_SUCCESS(status), base::ErrorKind::kRuntime, "vocabulary: ICU has no normalisation: {}",
              u_errorName(status));
  return *normalizer;
}

}  // namespace

std::string in_form(const std::string& text, UnicodeForm form) {
  if (std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 128; })) {
    return text;
  }
  std::string result;
  icu::StringByteSink<std::string> sink(&result);
  UErrorCode status = U_ZERO_ERROR;
  normalizer_of(form).normalizeUTF8(0, text, sink, nullptr, status);
  base::check(U_SUCCESS(status), base::ErrorKind::kRuntime, "vocabulary: ICU cannot normalise {} bytes: {}",
              text.size(), u_errorName(status));
  return result;
}

}  // namespace dragoman::data
