#pragma once

#include <cstdint>
#include <string_view>

namespace dragoman::base {

/// FNV-1a hashes of 32 and 64 bits. A hash depends on the bytes alone and is the same on every machine, unlike
/// std::hash. Values are part of files and of the meaning of seeds, so they never change.
/// Source: Fowler, Noll, Vo and Eastlake, "The FNV Non-Cryptographic Hash Algorithm", draft-eastlake-fnv, section 2.
class Fnv1a64 {
 public:
  constexpr Fnv1a64& add(unsigned char byte) {
    value_ = (value_ ^ byte) * 0x100000001b3U;
    return *this;
  }
  constexpr Fnv1a64& add(std::string_view bytes) {
    for (const char byte : bytes) {
      add(static_cast<unsigned char>(byte));
    }
    return *this;
  }
  /// Adds the four bytes of `value`, lowest first.
  constexpr Fnv1a64& add_little_endian(uint32_t value) {
    for (int byte = 0; byte < 4; ++byte) {
      add(static_cast<unsigned char>(value >> (8 * byte) & 0xFFU));
    }
    return *this;
  }
  [[nodiscard]] constexpr uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325U;
};

/// Returns the 64-bit hash of `bytes`.
[[nodiscard]] constexpr uint64_t fnv1a_64(std::string_view bytes) {
  return Fnv1a64{}.add(bytes).value();
}

/// Returns the 32-bit hash of `bytes`.
[[nodiscard]] constexpr uint32_t fnv1a_32(std::string_view bytes) {
  uint32_t hash = 0x811c9dc5U;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x01000193U;
  }
  return hash;
}

}  // namespace dragoman::base
