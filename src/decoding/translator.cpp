#include "decoding/translator.h"

#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"
#include "decoding/text_splitter.h"
#include "decoding/translation_parts.h"

namespace dragoman::decoding {
namespace {

// The parts of all lines, one after another: line i has parts first_part[i] .. first_part[i + 1], none if blank.
struct EncodedLines {
  std::vector<std::vector<int32_t>> parts;
  std::vector<size_t> first_part = {0};
  std::vector<size_t> tokens;  // of the whole line, the end counted
};

EncodedLines encode_lines(const data::Vocabulary& vocabulary, std::span<const std::string> lines, size_t max_tokens) {
  EncodedLines encoded;
  for (const std::string& line : lines) {
    std::vector<int32_t> ids = data::encode_source(vocabulary, line);
    encoded.tokens.push_back(ids.size());
    if (ids.size() > max_tokens) {
      for (const std::string& part : split_long_text(vocabulary, base::repair_utf8(line), max_tokens)) {
        if (std::vector<int32_t> part_ids = data::encode_source(vocabulary, part); !part_ids.empty()) {
          encoded.parts.push_back(std::move(part_ids));
        }
      }
    } else if (!ids.empty()) {
      encoded.parts.push_back(std::move(ids));
    }
    encoded.first_part.push_back(encoded.parts.size());
  }
  return encoded;
}

void check_vocabulary(const char* side, int64_t in_vocabulary, int64_t in_model) {
  base::check_data(in_vocabulary == in_model,
                   "translator: the {} vocabulary has {} pieces, the model was made for {}; use the vocabulary that "
                   "was trained with the model",
                   side, in_vocabulary, in_model);
}

}  // namespace

Translator::Translator(std::shared_ptr<const models::Transformer> model, data::Vocabulary source,
                       data::Vocabulary target, const SearchOptions& defaults)
    : source_(std::move(source)), target_(std::move(target)), search_(std::move(model)), defaults_(defaults) {
  check_vocabulary("source", source_.size(), search_.model().config().source_vocab_size);
  check_vocabulary("target", target_.size(), search_.model().config().target_vocab_size);
}

std::vector<Translation> Translator::translate(std::span<const std::string> lines, const SearchOptions& options) const {
  const auto max_tokens = static_cast<size_t>(model().config().max_positions);
  const EncodedLines encoded = encode_lines(source_, lines, max_tokens);
  const std::vector<SearchOutput> outputs = search_.run(encoded.parts, options);
  std::vector<Translation> translations(lines.size());
  for (size_t line = 0; line < lines.size(); ++line) {
    const size_t begin = encoded.first_part[line];
    const size_t end = encoded.first_part[line + 1];
    std::vector<Translation> parts;
    for (size_t part = begin; part < end; ++part) {
      parts.push_back(build(encoded.parts[part], outputs[part]));
    }
    translations[line] = join_parts(std::move(parts));
    if (end - begin > 1) {
      translations[line].warning = fmt::format("{} tokens, the model takes {}: translated in {} parts",
                                               encoded.tokens[line], max_tokens, end - begin);
    }
  }
  return translations;
}

Translation Translator::build(std::span<const int32_t> source, const SearchOutput& output) const {
  std::vector<Translation> candidates;
  for (size_t rank = 0; rank < output.hypotheses.size(); ++rank) {
    candidates.push_back(build_candidate(output.hypotheses[rank]));
    if (!output.alignments.empty()) {
      candidates.back().alignment = output.alignments[rank];
    }
  }
  Translation best = std::move(candidates.front());
  for (const int32_t id : source) {
    best.source_pieces.push_back(source_.piece(id));
  }
  best.alternatives.assign(std::make_move_iterator(candidates.begin() + 1), std::make_move_iterator(candidates.end()));
  return best;
}

Translation Translator::build_candidate(const Hypothesis& hypothesis) const {
  Translation candidate;
  candidate.text = target_.decode(hypothesis.ids);
  candidate.ids = hypothesis.ids;
  for (const int32_t id : hypothesis.ids) {
    candidate.pieces.push_back(target_.piece(id));
  }
  candidate.token_scores = hypothesis.token_scores;
  candidate.score = hypothesis.score;
  candidate.normalised_score = hypothesis.normalised_score;
  candidate.finish_reason = hypothesis.finish_reason;
  return candidate;
}

std::shared_ptr<const models::Transformer> make_inference_model(const models::Transformer& model) {
  auto copy = std::make_shared<models::Transformer>(model.config());
  copy->parameters().share_values(model.parameters());
  copy->parameters().pack_weights();
  return copy;
}

}  // namespace dragoman::decoding
