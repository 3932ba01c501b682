#include "decoding/request_encoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "decoding/text_splitter.h"

namespace dragoman::decoding {
namespace {

bool has_unknown(const std::vector<int32_t>& ids) {
  return std::ranges::find(ids, data::kUnkId) != ids.end();
}

void demand(const std::string& phrase, const data::Vocabulary& target, EncodedPart& part, EncodedLine& line) {
  const std::vector<int32_t> ids = target.encode(phrase);
  if (has_unknown(ids)) {
    line.warnings.push_back(fmt::format("\"{}\" has characters that the model does not know: not demanded", phrase));
    return;
  }
  Phrases& phrases = part.request.phrases;
  if (Phrase cut = make_phrase(target, ids);
      !cut.text.empty() && std::ranges::find(phrases.all, cut) == phrases.all.end()) {
    phrases.all.push_back(std::move(cut));
    phrases.text_of = [target](int32_t id) { return piece_text(target, id); };
    part.phrase_texts.push_back(phrase);
  }
}

void add_part(const TranslationRequest& request, const data::Vocabulary& target, const std::string& text,
              std::vector<int32_t> source, EncodedLine& line) {
  EncodedPart part{text, {.source = std::move(source)}, {}};
  part.request.cancel = request.cancel;
  part.request.deadline = request.deadline;
  set_first(request.languages, target, part.request);
  if (line.parts.empty()) {
    const std::vector<int32_t> prefix = target.encode(request.prefix);
    if (has_unknown(prefix)) {
      line.warnings.push_back("the prefix has characters that the model does not know");
    }
    part.request.prefix.insert(part.request.prefix.end(), prefix.begin(), prefix.end());
    for (const std::string& phrase : request.phrases) {
      demand(phrase, target, part, line);
    }
  }
  if (request.terms != nullptr) {
    for (const std::string& phrase : request.terms->find(text)) {
      demand(phrase, target, part, line);
    }
  }
  line.parts.push_back(std::move(part));
}

void stream(const TranslationRequest& request, const data::Vocabulary& target, EncodedLine& line) {
  line.stream = std::make_shared<LineStream>(request.on_token, target, line.parts.size());
  for (size_t part = 0; part < line.parts.size(); ++part) {
    line.parts[part].request.on_ids = [all = line.stream, part](std::span<const int32_t> new_ids, bool is_end) {
      return all->take(part, new_ids, is_end);
    };
  }
}

}  // namespace

EncodedLine encode_request(const TranslationRequest& request, const data::Vocabulary& source,
                           const data::Vocabulary& target, size_t max_tokens) {
  EncodedLine line;
  std::vector<int32_t> ids = encode_source(source, request.text, request.languages);
  line.tokens = ids.size();
  if (ids.size() > max_tokens) {
    const size_t longest = max_tokens - (request.languages.source ? 1 : 0);
    for (const std::string& part : split_long_text(source, base::repair_utf8(request.text), longest)) {
      if (std::vector<int32_t> part_ids = encode_source(source, part, request.languages); !part_ids.empty()) {
        add_part(request, target, part, std::move(part_ids), line);
      }
    }
  } else if (!ids.empty()) {
    add_part(request, target, request.text, std::move(ids), line);
  }
  if (request.on_token && !line.parts.empty()) {
    stream(request, target, line);
  }
  return line;
}

}  // namespace dragoman::decoding
