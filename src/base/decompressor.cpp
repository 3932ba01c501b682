#include "base/decompressor.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace dragoman::base {
namespace {

[[noreturn]] void fail_damaged(Compression format, const std::string& name, std::string_view what) {
  fail(ErrorKind::kBadData, "{}: its {} data are damaged ({}); take the file from a copy", name, name_of(format), what);
}

// Counters of zlib have 32 bits.
unsigned int short_size(size_t size) {
  return static_cast<unsigned int>(std::min(size, size_t{1} << 30));
}

constexpr uint64_t kSmallMemory = uint64_t{128} << 20;
constexpr int kSmallWindowLog = 27;

class GzipDecompressor : public Decompressor {
 public:
  explicit GzipDecompressor(std::string name) : name_(std::move(name)) {
    constexpr int kGzipOnly = 16;
    check(inflateInit2(&stream_, MAX_WBITS + kGzipOnly) == Z_OK, ErrorKind::kRuntime,
          "{}: no memory to decompress it; free some", name_);
  }
  ~GzipDecompressor() override { inflateEnd(&stream_); }
  GzipDecompressor(const GzipDecompressor&) = delete;
  GzipDecompressor& operator=(const GzipDecompressor&) = delete;

  size_t next(std::string_view& in, Follows /*behind*/, std::span<char> out) override {
    if (is_between_) {
      in.remove_prefix(std::min(in.find_first_not_of('\0'), in.size()));  // tapes fill blocks with zeros
      if (in.empty()) {
        return 0;
      }
      inflateReset(&stream_);
      is_between_ = false;
    }
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = short_size(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = short_size(out.size());
    const unsigned int offered = stream_.avail_in, room = stream_.avail_out;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      fail_damaged(Compression::kGzip, name_, stream_.msg != nullptr ? stream_.msg : "not readable");
    }
    is_between_ = status == Z_STREAM_END;
    in.remove_prefix(offered - stream_.avail_in);
    return room - stream_.avail_out;
  }
  bool is_complete() const override { return is_between_; }

 private:
  std::string name_;
  z_stream stream_{};
  bool is_between_ = false;  // a member has ended, and no other has begun
};

class XzDecompressor : public Decompressor {
 public:
  XzDecompressor(std::string name, DecompressionMemory memory) : name_(std::move(name)) {
    const uint64_t most = memory == DecompressionMemory::kSmall ? kSmallMemory : UINT64_MAX;
    check(lzma_stream_decoder(&stream_, most, LZMA_CONCATENATED) == LZMA_OK, ErrorKind::kRuntime,
          "{}: no memory to decompress it; free some", name_);
  }
  ~XzDecompressor() override { lzma_end(&stream_); }
  XzDecompressor(const XzDecompressor&) = delete;
  XzDecompressor& operator=(const XzDecompressor&) = delete;

  size_t next(std::string_view& in, Follows behind, std::span<char> out) override {
    if (is_complete_) {
      return 0;
    }
    stream_.next_in = reinterpret_cast<const uint8_t*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<uint8_t*>(out.data());
    stream_.avail_out = out.size();
    const lzma_ret status = lzma_code(&stream_, behind == Follows::kNothing ? LZMA_FINISH : LZMA_RUN);
    check(status != LZMA_MEM_ERROR, ErrorKind::kRuntime, "{}: no memory to decompress it; free some", name_);
    if (status != LZMA_OK && status != LZMA_STREAM_END && status != LZMA_BUF_ERROR) {
      fail_damaged(Compression::kXz, name_,
                   status == LZMA_DATA_ERROR       ? "wrong data"
                   : status == LZMA_MEMLIMIT_ERROR ? "they need too much memory"
                                                   : "not readable");
    }
    is_complete_ = status == LZMA_STREAM_END;
    in.remove_prefix(in.size() - stream_.avail_in);
    return out.size() - stream_.avail_out;
  }
  bool is_complete() const override { return is_complete_; }

 private:
  std::string name_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool is_complete_ = false;
};

class ZstdDecompressor : public Decompressor {
 public:
  ZstdDecompressor(std::string name, DecompressionMemory memory)
      : name_(std::move(name)), context_(ZSTD_createDCtx(), ZSTD_freeDCtx) {
    check(context_ != nullptr, ErrorKind::kRuntime, "{}: no memory to decompress it; free some", name_);
    // Files of `zstd --long=31` too; a window is only allocated for a file that has it.
    const ZSTD_bounds windows = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax,
                           memory == DecompressionMemory::kSmall ? kSmallWindowLog : windows.upperBound);
  }

  size_t next(std::string_view& in, Follows /*behind*/, std::span<char> out) override {
    ZSTD_inBuffer input = {in.data(), in.size(), 0};
    ZSTD_outBuffer output = {out.data(), out.size(), 0};
    if (in.empty() && is_complete_) {
      return 0;
    }
    const size_t status = ZSTD_decompressStream(context_.get(), &output, &input);
    if (ZSTD_isError(status) != 0U) {
      fail_damaged(Compression::kZstd, name_, ZSTD_getErrorName(status));
    }
    is_complete_ = status == 0;
    in.remove_prefix(input.pos);
    return output.pos;
  }
  bool is_complete() const override { return is_complete_; }

 private:
  std::string name_;
  std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context_;
  bool is_complete_ = false;
};

}  // namespace

Compression compression_of(std::string_view first_bytes) {
  if (first_bytes.starts_with(kGzipMark)) {
    return Compression::kGzip;
  }
  if (first_bytes.starts_with(kXzMark)) {
    return Compression::kXz;
  }
  return first_bytes.starts_with(kZstdMark) ? Compression::kZstd : Compression::kNone;
}

std::unique_ptr<Decompressor> make_decompressor(Compression format, std::string name, DecompressionMemory memory) {
  switch (format) {
    case Compression::kGzip:
      return std::make_unique<GzipDecompressor>(std::move(name));
    case Compression::kXz:
      return std::make_unique<XzDecompressor>(std::move(name), memory);
    case Compression::kZstd:
      return std::make_unique<ZstdDecompressor>(std::move(name), memory);
    case Compression::kNone:
      break;
  }
  fail(ErrorKind::kRuntime, "{}: is not compressed", name);
}

std::string_view name_of(Compression format) {
  constexpr std::string_view kNames[] = {"no", "gzip", "xz", "zstd"};
  return kNames[static_cast<size_t>(format)];
}

void check_complete(const Decompressor& decompressor, const std::string& name) {
  check_data(decompressor.is_complete(), "{}: ends in the middle of its compressed data; take the file from a copy",
             name);
}

std::string decompressed(std::string_view bytes, size_t most_bytes, const std::string& name) {
  const auto decompressor = make_decompressor(compression_of(bytes), name, DecompressionMemory::kSmall);
  constexpr size_t kPiece = size_t{1} << 16;
  std::string text, piece(kPiece, '\0');
  for (;;) {
    const size_t before = bytes.size();
    const size_t got = decompressor->next(bytes, Follows::kNothing, piece);
    text.append(piece, 0, got);
    check_data(text.size() <= most_bytes, "{}: decompresses to more than {} bytes; cut the text into parts", name,
               most_bytes);
    if (got == 0 && bytes.size() == before) {
      check_data(bytes.empty(), "{}: its compressed data are damaged; take the file from a copy", name);
      check_complete(*decompressor, name);
      return text;
    }
  }
}

}  // namespace dragoman::base
