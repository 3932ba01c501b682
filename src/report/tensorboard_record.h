#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dragoman::report {

/// Returns the CRC-32C of `bytes`, with the reflected polynomial 0x1EDC6F41. crc32c("123456789") = 0xE3069283.
/// Source: RFC 3720, appendix B.4.
uint32_t crc32c(std::string_view bytes);

/// Returns `data` as one record of a TFRecord file:
///   length (uint64) | masked CRC of the length bytes (uint32) | data | masked CRC of data (uint32), little-endian
///   masked(c) = (c rotated right by 15) + 0xA282EAD8
/// Source: TensorFlow, "TFRecord and tf.train.Example", section "TFRecords format details".
std::string frame_record(std::string_view data);

}  // namespace dragoman::report
