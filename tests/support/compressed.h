#pragma once

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <functional>
#include <map>
#include <string>

namespace dragoman::test_support {

inline std::string gzip(const std::string& text) {
  z_stream stream{};
  constexpr int kGzipHeader = 16;
  deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzipHeader, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<unsigned int>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<unsigned int>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline std::string xz(const std::string& text) {
  std::string packed(lzma_stream_buffer_bound(text.size()), '\0');
  size_t size = 0;
  const lzma_ret status =
      lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                              reinterpret_cast<uint8_t*>(packed.data()), &size, packed.size());
  packed.resize(status == LZMA_OK ? size : 0);
  return packed;
}

/// With a checksum, as the program zstd writes it.
inline std::string zstd(const std::string& text) {
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress2(context, packed.data(), packed.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return packed;
}

/// The formats that text files are read in, by the ending that their programs give them.
inline const std::map<std::string, std::function<std::string(const std::string&)>>& compressors() {
  static const std::map<std::string, std::function<std::string(const std::string&)>> all = {
      {"gz", gzip}, {"xz", xz}, {"zst", zstd}};
  return all;
}

}  // namespace dragoman::test_support
