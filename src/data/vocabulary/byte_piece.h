#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace dragoman::data {

/// Returns the byte of a byte piece such as "<0x0A>", with which models spell characters without a piece.
[[nodiscard]] inline std::optional<char> byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>') {
    return std::nullopt;
  }
  unsigned value = 0;
  const auto [end, error] = std::from_chars(piece.data() + 3, piece.data() + 5, value, 16);
  return error == std::errc() && end == piece.data() + 5 ? std::optional(static_cast<char>(value)) : std::nullopt;
}

}  // namespace dragoman::data
