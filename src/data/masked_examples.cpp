#include "data/masked_examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "data/encoder_input.h"
#include "data/input_examples.h"
#include "data/random_stream.h"

namespace dragoman::data {
namespace {

constexpr double kMaskShare = 0.8;    // of the chosen pieces, which become the mask
constexpr double kRandomShare = 0.1;  // which become another piece

// The pieces of the documents, without what stands around each. @param starts  [documents + 1]
std::vector<int32_t> pieces_of_documents(const TokenText& text, const TextFrame& frame, bool ends_each,
                                         std::vector<uint64_t>& starts) {
  std::vector<int32_t> ids;
  for (size_t document = 0; document + 1 < text.starts.size(); ++document) {
    uint64_t begin = text.starts[document], end = text.starts[document + 1];
    begin += begin < end && frame.first >= 0 && text.ids[begin] == frame.first ? 1 : 0;
    end -= begin < end && frame.last >= 0 && text.ids[end - 1] == frame.last ? 1 : 0;
    ids.insert(ids.end(), text.ids.begin() + static_cast<std::ptrdiff_t>(begin),
               text.ids.begin() + static_cast<std::ptrdiff_t>(end));
    if (ends_each && frame.last >= 0 && begin < end && document + 2 < text.starts.size()) {
      ids.push_back(frame.last);
    }
    starts.push_back(ids.size());
  }
  return ids;
}

// Groups of neighbouring rows that are chosen together.
std::vector<std::vector<int32_t>> groups_of(const std::vector<int32_t>& ids, int64_t first, const MaskPieces& pieces,
                                            int32_t border, bool whole_words) {
  std::vector<std::vector<int32_t>> groups;
  bool begins = true;
  for (size_t at = 0; at < ids.size(); ++at) {
    const int32_t id = ids[at];
    if (id == border) {
      begins = true;
      continue;
    }
    const auto row = static_cast<int32_t>(first + static_cast<int64_t>(at));
    if (whole_words && !begins && pieces.continues[static_cast<size_t>(id)]) {
      groups.back().push_back(row);
    } else {
      groups.push_back({row});
    }
    begins = false;
  }
  return groups;
}

}  // namespace

int32_t mask_id(const Vocabulary& vocabulary) {
  for (const char* name : {"[MASK]", "<mask>"}) {
    const int32_t id = vocabulary.id(name);
    if (id >= 0 && vocabulary.piece(id) == name) {
      return id;
    }
  }
  return -1;
}

void check_has_mask(int32_t mask) {
  base::check_usage(mask >= 0,
                    "masked-language-model: the tokenizer has no piece [MASK] or <mask>; take one of an encoder, or "
                    "learn one with --vocab-type word-piece");
}

MaskPieces mask_pieces(const Vocabulary& vocabulary) {
  MaskPieces pieces{.mask = mask_id(vocabulary), .ordinary = {}, .continues = {}};
  check_has_mask(pieces.mask);
  constexpr std::string_view kContinuedPiece = "##", kSpacePiece = "\xC4\xA0";  // of WordPiece; of byte-level BPE
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string& piece = vocabulary.piece(id);
    if (!vocabulary.piece_bytes(id).empty()) {
      pieces.ordinary.push_back(id);
    }
    pieces.continues.push_back(vocabulary.is_bpe() ? !piece.starts_with(kSpacePiece)
                                                   : piece.starts_with(kContinuedPiece));
  }
  return pieces;
}

MaskedExamples::MaskedExamples(const TokenText& text, const Vocabulary& vocabulary, const MaskedTextOptions& options)
    : frame_(vocabulary.frame()), pieces_(mask_pieces(vocabulary)), options_(options) {
  std::vector<uint64_t> starts = {0};
  ids_ = pieces_of_documents(text, frame_, options.across_documents, starts);
  base::check_data(!ids_.empty(), "text: holds no piece, so nothing can be hidden; give more text");
  if (options.across_documents) {
    starts = {0, ids_.size()};
  }
  const auto length = static_cast<uint64_t>(options.max_length - frame_size(frame_, false));
  for (size_t document = 0; document + 1 < starts.size(); ++document) {
    for (uint64_t begin = starts[document]; begin < starts[document + 1]; begin += length) {
      windows_.push_back({begin, std::min(length, starts[document + 1] - begin)});
    }
  }
  if (options.across_documents && windows_.size() > 1 && windows_.back().length < length) {
    windows_.pop_back();
  }
  statistics_.read = statistics_.kept = windows_.size();
  for (const Place& window : windows_) {
    statistics_.source_tokens += window.length + static_cast<uint64_t>(frame_size(frame_, false));
    statistics_.target_tokens +=
        static_cast<uint64_t>(std::max(1.0, std::round(options.masks.mask_share * static_cast<double>(window.length))));
  }
}

uint64_t MaskedExamples::shift(uint64_t epoch) const {
  if (!options_.across_documents || epoch == kValidationEpoch) {
    return 0;
  }
  const uint64_t room = ids_.size() - (windows_.back().begin + windows_.back().length);
  base::Random random(options_.seed, random_stream(StreamPurpose::kTextShift, epoch, 0));
  return random.below(room + 1);
}

std::vector<int32_t> MaskedExamples::chosen_rows(const std::vector<int32_t>& ids, int64_t first,
                                                 base::Random& random) const {
  std::vector<std::vector<int32_t>> groups =
      groups_of(ids, first, pieces_, options_.across_documents ? frame_.last : -1, options_.masks.whole_words);
  base::shuffle(groups.begin(), groups.end(), random);
  const double share = options_.masks.mask_share * static_cast<double>(ids.size());
  const auto wanted = static_cast<size_t>(std::max(1.0, std::round(share)));
  std::vector<int32_t> rows;
  for (const std::vector<int32_t>& group : groups) {
    if (rows.empty() || rows.size() + group.size() <= wanted) {  // a long word may be all that is chosen
      rows.insert(rows.end(), group.begin(), group.end());
    }
    if (rows.size() >= wanted) {
      break;
    }
  }
  std::ranges::sort(rows);
  return rows;
}

SentencePair MaskedExamples::pair(uint64_t index, uint64_t epoch) const {
  const Place place = windows_[index];
  const auto begin = ids_.begin() + static_cast<std::ptrdiff_t>(place.begin + shift(epoch));
  const std::vector<int32_t> ids(begin, begin + static_cast<std::ptrdiff_t>(place.length));
  base::Random random(options_.seed, random_stream(StreamPurpose::kMasks, epoch, index));
  SentencePair pair;
  pair.line = index;
  pair.source = framed(frame_, ids);
  pair.chosen = chosen_rows(ids, frame_.first >= 0 ? 1 : 0, random);
  for (const int32_t row : pair.chosen) {
    int32_t& id = pair.source[static_cast<size_t>(row)];
    pair.target.push_back(id);
    const double draw = random.uniform();
    if (draw < kMaskShare) {
      id = pieces_.mask;
    } else if (draw < kMaskShare + kRandomShare) {
      id = pieces_.ordinary[random.below(pieces_.ordinary.size())];
    }
  }
  if (pair.chosen.empty()) {  // a window of borders alone; it predicts what it reads
    pair.chosen.push_back(0);
    pair.target.push_back(pair.source.front());
  }
  pair.after_target = pair.target.back();
  pair.target.pop_back();
  return pair;
}

Examples::Window MaskedExamples::window(std::span<const uint32_t> indices, uint64_t epoch) const {
  return window_of_all(*this, indices, epoch);
}

std::string MaskedExamples::report() const {
  return fmt::format("text: {} windows of {} tokens, about {} of them hidden in an epoch", size(),
                     statistics_.source_tokens, statistics_.target_tokens);
}

std::vector<std::pair<std::string, uint64_t>> MaskedExamples::facts() const {
  return {{"windows an epoch", size()},
          {"tokens", statistics_.source_tokens},
          {"hidden tokens, about", statistics_.target_tokens}};
}

std::string MaskedExamples::place(uint64_t line) const {
  return fmt::format("window {}", line + 1);
}

}  // namespace dragoman::data
