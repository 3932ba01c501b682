#include "decoding/shortlist.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "base/error.h"
#include "data/vocabulary/vocabulary.h"
#include "tensor/safetensors.h"
#include "tensor/transfer.h"

namespace dragoman::decoding {
namespace {

using tensor::Tensor;

// Tensors of the file, [.] int32 all of them.
constexpr const char* kFrequent = "frequent";
constexpr const char* kStarts = "starts";
constexpr const char* kTargets = "targets";
constexpr const char* kPieces = "target_pieces";  // [1]

constexpr std::array<int32_t, 4> kSpecial = {data::kPadId, data::kUnkId, data::kBosId, data::kEosId};

bool rises_below(std::span<const int32_t> ids, int32_t limit) {
  return std::ranges::adjacent_find(ids, std::ranges::greater_equal()) == ids.end() &&
         (ids.empty() || (ids.front() >= 0 && ids.back() < limit));
}

// Some of the numbers 0 .. n - 1.
class IdSet {
 public:
  explicit IdSet(int32_t n) : bits_((static_cast<size_t>(n) + 63) / 64) {}
  void add(std::span<const int32_t> ids) {
    for (const int32_t id : ids) {
      bits_[static_cast<size_t>(id) / 64] |= uint64_t{1} << (static_cast<uint32_t>(id) % 64);
    }
  }
  std::vector<int32_t> rising() const {
    std::vector<int32_t> ids;
    for (size_t word = 0; word < bits_.size(); ++word) {
      for (uint64_t left = bits_[word]; left != 0; left &= left - 1) {
        ids.push_back(static_cast<int32_t>(word * 64) + std::countr_zero(left));
      }
    }
    return ids;
  }

 private:
  std::vector<uint64_t> bits_;
};

std::vector<int32_t> numbers(const tensor::NamedTensors& tensors, const char* name, const std::string& file_name) {
  const auto found = tensors.find(name);
  base::check_data(
      found != tensors.end() && found->second.rank() == 1 && found->second.dtype() == tensor::DType::kInt32,
      "{}: has no vector of I32 named {}; make it again with dragoman shortlist", file_name, name);
  const tensor::HostView<int32_t> values(found->second);
  return {values.begin(), values.end()};
}

// Sums of the lengths before each list, and of all.
std::vector<int32_t> starts_of(const std::vector<std::vector<int32_t>>& lists) {
  std::vector<int32_t> starts = {0};
  for (const std::vector<int32_t>& list : lists) {
    base::check_argument(list.size() <= static_cast<size_t>(std::numeric_limits<int32_t>::max() - starts.back()),
                         "shortlist: its lists have more than 2^31 - 1 entries; take fewer a source piece");
    starts.push_back(starts.back() + static_cast<int32_t>(list.size()));
  }
  return starts;
}

std::vector<int32_t> joined(const std::vector<std::vector<int32_t>>& lists) {
  std::vector<int32_t> all;
  for (const std::vector<int32_t>& list : lists) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

}  // namespace

Shortlist::Shortlist(int32_t target_pieces, std::vector<int32_t> frequent,
                     const std::vector<std::vector<int32_t>>& lists)
    : Shortlist(target_pieces, std::move(frequent), starts_of(lists), joined(lists)) {}

Shortlist::Shortlist(int32_t target_pieces, std::vector<int32_t> frequent, std::vector<int32_t> starts,
                     std::vector<int32_t> targets)
    : target_pieces_(target_pieces),
      frequent_(std::move(frequent)),
      starts_(std::move(starts)),
      targets_(std::move(targets)) {
  base::check_argument(target_pieces >= static_cast<int32_t>(kSpecial.size()),
                       "shortlist: {} target pieces, there are 4 special ones already", target_pieces);
  base::check_argument(rises_below(frequent_, target_pieces), "shortlist: frequent pieces do not rise from 0 to {}",
                       target_pieces - 1);
  base::check_argument(!starts_.empty() && starts_.front() == 0 && std::ranges::is_sorted(starts_) &&
                           static_cast<size_t>(starts_.back()) == targets_.size(),
                       "shortlist: starts do not rise from 0 to {}", targets_.size());
  for (int32_t source = 0; source < pieces().source; ++source) {
    base::check_argument(rises_below(list(source), target_pieces),
                         "shortlist: the pieces of source piece {} do not rise from 0 to {}", source,
                         target_pieces - 1);
  }
}

std::span<const int32_t> Shortlist::list(int32_t source) const {
  const int32_t begin = starts_[static_cast<size_t>(source)], end = starts_[static_cast<size_t>(source) + 1];
  return std::span(targets_).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
}

std::vector<int32_t> Shortlist::allowed(std::span<const int32_t> source, const SentenceRequest& request) const {
  IdSet set(target_pieces_);
  set.add(kSpecial);
  set.add(frequent_);
  set.add(request.prefix);
  for (const Phrase& phrase : request.phrases.all) {
    for (const int32_t id : phrase.next) {
      if (id >= 0) {
        set.add({&id, 1});
      }
    }
  }
  for (const int32_t piece : source) {
    set.add(list(piece));
  }
  return set.rising();
}

bool Shortlist::allows_always(int32_t target) const {
  return std::ranges::binary_search(frequent_, target);
}

std::string Shortlist::to_bytes() const {
  const auto vector = [](const std::vector<int32_t>& values) { return tensor::host_tensor(values); };
  tensor::NamedTensors tensors = {{kPieces, vector({target_pieces_})}, {kStarts, vector(starts_)}};
  if (!frequent_.empty()) {  // the format has no tensors without elements
    tensors.emplace(kFrequent, vector(frequent_));
  }
  if (!targets_.empty()) {
    tensors.emplace(kTargets, vector(targets_));
  }
  return tensor::make_safetensors(tensors, {{"format", "dragoman shortlist"}}).bytes();
}

Shortlist Shortlist::from_bytes(std::string_view bytes, const std::string& file_name, PieceCounts model) {
  const tensor::NamedTensors tensors = tensor::read_safetensors(bytes, file_name);
  const auto numbers_or_none = [&](const char* name) {
    return tensors.contains(name) ? numbers(tensors, name, file_name) : std::vector<int32_t>();
  };
  const std::vector<int32_t> target_pieces = numbers(tensors, kPieces, file_name);
  std::vector<int32_t> starts = numbers(tensors, kStarts, file_name);
  const auto source_pieces = static_cast<int64_t>(starts.size()) - 1;
  base::check_data(source_pieces == model.source && target_pieces.front() == model.target,
                   "{}: is for {} source and {} target pieces, the model has {} and {}; make it again with dragoman "
                   "shortlist",
                   file_name, source_pieces, target_pieces.front(), model.source, model.target);
  try {
    return {target_pieces.front(), numbers_or_none(kFrequent), std::move(starts), numbers_or_none(kTargets)};
  } catch (const base::Error& error) {
    base::fail(base::ErrorKind::kBadData, "{}: {}; make it again with dragoman shortlist", file_name, error.what());
  }
}

}  // namespace dragoman::decoding
