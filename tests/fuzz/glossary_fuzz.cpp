// Any text as the entries of a glossary, TSV or CSV: refused, or read so that writing and reading gives the same.
#include <set>

#include "base/utf8.h"
#include "fuzz.h"
#include "serving/http/http_message.h"
#include "serving/service/glossary_entries.h"

using namespace dragoman;

// The first byte chooses the format.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const auto format = data[0] % 2 == 0 ? serving::EntriesFormat::kTsv : serving::EntriesFormat::kCsv;
  const models::LanguagePair pair{"en", "de"};
  const std::string text = base::repair_utf8(fuzz::text_of(data + 1, size - 1));
  try {
    const auto entries = serving::parse_glossary_entries(text, format, pair);
    std::set<std::string> sources;
    for (const serving::GlossaryEntry& entry : entries) {
      fuzz::require(!entry.source.empty() && !entry.target.empty(), "no phrase is empty");
      fuzz::require(entry.source.size() <= serving::kMostGlossaryTextBytes, "no phrase is too long");
      fuzz::require(sources.insert(entry.source).second, "no source appears twice");
    }
    const std::string written = serving::tsv_of(entries);
    fuzz::require(serving::parse_glossary_entries(written, serving::EntriesFormat::kTsv, pair) == entries,
                  "what is written is read back");
    fuzz::require(serving::merged_entries(entries, entries) == entries, "the same entries change nothing");
  } catch (const serving::HttpError& error) {
    fuzz::require(error.status() == serving::status::kBadRequest, "a refusal is 400");
  }
  return 0;
}
