#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dragoman::training {

/// CRC-32C of `bytes` (polynomial 0x1EDC6F41, reflected). crc32c("123456789") = 0xE3069283.
/// Source: RFC 3720, appendix B.4.
uint32_t crc32c(std::string_view bytes);

/// One record of a TFRecord file:
///   length (uint64) | masked CRC of the length bytes (uint32) | data | masked CRC of data (uint32), little-endian
///   masked(c) = (c rotated right by 15) + 0xA282EAD8
/// Source: TensorFlow, "TFRecord and tf.train.Example", section "TFRecords format details".
std::string frame_record(std::string_view data);

/// Builds one protobuf message field by field (encoding: protobuf.dev, "Encoding"; all numbers little-endian).
/// `field` is the number that the message's definition gives. Fields come out in the order of the calls.
class ProtobufMessage {
 public:
  ProtobufMessage& add_varint(uint32_t field, uint64_t value);
  ProtobufMessage& add_double(uint32_t field, double value);
  ProtobufMessage& add_float(uint32_t field, float value);
  /// A string, bytes or an embedded message.
  ProtobufMessage& add_bytes(uint32_t field, std::string_view value);
  ProtobufMessage& add_message(uint32_t field, const ProtobufMessage& value) { return add_bytes(field, value.bytes()); }

  const std::string& bytes() const { return bytes_; }

 private:
  void put_tag(uint32_t field, uint32_t wire_type);

  std::string bytes_;
};

}  // namespace dragoman::training
