#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace dragoman::base {

/// The formats of compressed files that are read.
enum class Compression { kNone, kGzip, kXz, kZstd };

/// The bytes that files of each format begin with. No UTF-8 text begins so.
inline constexpr std::string_view kGzipMark("\x1F\x8B", 2);
inline constexpr std::string_view kXzMark(
    "\xFD"
    "7zXZ\0",
    6);
inline constexpr std::string_view kZstdMark("\x28\xB5\x2F\xFD", 4);

/// Returns the format of a file that begins with these bytes.
/// @param first_bytes  6 bytes, or the whole file if it is shorter
[[nodiscard]] Compression compression_of(std::string_view first_bytes);

/// Whether more compressed bytes will follow.
enum class Follows { kMore, kNothing };

/// Decompresses a file that arrives in pieces. Several compressed streams one behind the other are one text, as for
/// `zcat`. Threads: one thread at a time.
class Decompressor {
 public:
  virtual ~Decompressor() = default;

  /// Decompresses some of `in` into `out`, removes what was used from `in`, and returns the number of bytes written.
  /// @param behind  what follows behind `in`
  /// Requires: `out` is not empty.
  /// Throws: Error(kBadData), "x.gz: its gzip data are damaged (incorrect data check); take the file from a copy".
  [[nodiscard]] virtual size_t next(std::string_view& in, Follows behind, std::span<char> out) = 0;
  /// Returns true if a stream has ended and no other has begun.
  [[nodiscard]] virtual bool is_complete() const = 0;
};

/// The memory that a file may ask for. A few bytes can ask for gigabytes.
enum class DecompressionMemory {
  kAny,    ///< the files of the person who started the program
  kSmall,  ///< at most 128 MiB: all files of the usual levels of the programs. More is an error of the file.
};

/// Returns a decompressor. Requires: `format` is not kNone. @param name  name of the file in errors
[[nodiscard]] std::unique_ptr<Decompressor> make_decompressor(Compression format, std::string name,
                                                              DecompressionMemory memory = DecompressionMemory::kAny);

/// Checks a decompressor that has no more to read. Throws: Error(kBadData), "x.gz: ends in the middle of its compressed
/// data; take the file from a copy".
void check_complete(const Decompressor& decompressor, const std::string& name);

/// Returns the text of compressed bytes that are all there, with kSmall memory.
/// Throws: Error(kBadData) for damaged bytes, as Decompressor; as check_complete; and for a longer text, "x.gz:
/// decompresses to more than 1048576 bytes; cut the text into parts".
/// Requires: `bytes` begin with the mark of a format. @param name  name of the bytes in errors
[[nodiscard]] std::string decompressed(std::string_view bytes, size_t most_bytes, const std::string& name);

/// Returns the name of a format: "gzip".
[[nodiscard]] std::string_view name_of(Compression format);

}  // namespace dragoman::base
