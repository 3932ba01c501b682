#include "distributed/message_pieces.h"

#include <gmock/gmock.h>

#include <limits>
#include <utility>
#include <vector>

namespace dragoman::distributed {
namespace {

using Pieces = std::vector<std::pair<size_t, size_t>>;

Pieces pieces_of(size_t count, size_t longest) {
  Pieces pieces;
  for_each_piece(count, longest, [&](size_t offset, size_t bytes) { pieces.emplace_back(offset, bytes); });
  return pieces;
}

TEST(MessagePieces, APieceIsNeverLongerThanAllowed) {
  EXPECT_EQ(pieces_of(10, 4), (Pieces{{0, 4}, {4, 4}, {8, 2}}));
  EXPECT_EQ(pieces_of(8, 4), (Pieces{{0, 4}, {4, 4}}));
  EXPECT_EQ(pieces_of(3, 4), (Pieces{{0, 3}}));
}

TEST(MessagePieces, AnEmptyBufferIsOneEmptyMessage) {
  EXPECT_EQ(pieces_of(0, 4), (Pieces{{0, 0}}));
}

TEST(MessagePieces, MoreThanAnIntHoldsTravelsInPiecesThatFit) {
  constexpr size_t kCount = (size_t{5} << 30) + 12;
  size_t end = 0;
  for (const auto& [offset, bytes] : pieces_of(kCount, kMaxMessageBytes)) {
    EXPECT_EQ(offset, end);
    EXPECT_LE(bytes, static_cast<size_t>(std::numeric_limits<int>::max()));
    end = offset + bytes;
  }
  EXPECT_EQ(end, kCount);
}

}  // namespace
}  // namespace dragoman::distributed
