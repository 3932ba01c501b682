#include "interop/piece_order.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/protobuf.h"
#include "data/vocabulary/piece_list.h"
#include "data/vocabulary/sentencepiece_check.h"
#include "data/vocabulary/vocabulary.h"
#include "interop/marian_tensors.h"
#include "tensor/transfer.h"

namespace dragoman::interop {
namespace {

constexpr uint64_t kPieces = 1;  // of ModelProto

bool is_piece(const base::ProtobufField& field) {
  return field.number == kPieces && field.type == base::ProtobufField::kBytes;
}

// Whether our <s> is one of their pad, unk and eos.
bool start_is_special(const PieceOrder& order) {
  const int64_t start = order.theirs[data::kBosId];
  return start == order.theirs[data::kPadId] || start == order.theirs[data::kUnkId] ||
         start == order.theirs[data::kEosId];
}

}  // namespace

std::string with_spm_order(std::string_view spm, const std::vector<int64_t>& order, std::string_view file_name) {
  std::vector<std::string_view> pieces;
  std::string rest;
  base::FieldReader model(spm, file_name);
  base::ProtobufField field;
  for (size_t begin = 0; model.next(field); begin = model.position()) {
    if (is_piece(field)) {
      pieces.push_back(field.bytes);
    } else {
      rest += spm.substr(begin, model.position() - begin);
    }
  }
  base::ProtobufMessage ordered;
  for (const int64_t piece : order) {
    ordered.add_bytes(kPieces, pieces.at(static_cast<size_t>(piece)));
  }
  return ordered.bytes() + rest;
}

std::string no_piece(size_t id) {
  return fmt::format("{}{}>", kNoPieceBegin, id);
}

PieceOrder order_pieces(const std::vector<std::string>& theirs, const SpecialPieces& special) {
  PieceOrder order{{data::kSpecialPieces.begin(), data::kSpecialPieces.end()},
                   {special.pad, special.unk, special.start, special.eos}};
  const std::vector<int64_t> first = order.theirs;
  for (int64_t id = 0; id < static_cast<int64_t>(theirs.size()); ++id) {
    if (std::ranges::find(first, id) == first.end()) {
      order.pieces.push_back(theirs[static_cast<size_t>(id)]);
      order.theirs.push_back(id);
    }
  }
  return order;
}

std::string with_order(std::string_view spm, const PieceOrder& order, const std::string& file_name) {
  data::check_sentencepiece_model(spm, file_name);
  std::string listed = data::with_piece_list(data::without_piece_list(spm, file_name), order.pieces, file_name);
  static_cast<void>(data::Vocabulary::from_bytes(listed, file_name));  // as `translate` does
  return listed;
}

tensor::Tensor rows_in_order(const tensor::Tensor& table, const PieceOrder& order) {
  return gathered(table, order.theirs, all_of(table.dim(1)));
}

tensor::Tensor bias_in_order(const tensor::Tensor& theirs, const PieceOrder& order) {
  tensor::Tensor bias = theirs.defined() ? gathered(theirs, order.theirs)
                                         : tensor::Tensor::zeros({static_cast<int64_t>(order.theirs.size())});
  if (start_is_special(order)) {
    tensor::HostEdit<float>(bias).span()[data::kBosId] = kNever;
  }
  return bias;
}

}  // namespace dragoman::interop
