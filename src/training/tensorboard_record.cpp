#include "training/tensorboard_record.h"

#include <array>
#include <bit>

namespace dragoman::training {
namespace {

constexpr uint32_t kReflectedPolynomial = 0x82F63B78;  // 0x1EDC6F41 with its bits in reverse order
constexpr uint32_t kMaskDelta = 0xA282EAD8;
constexpr uint32_t kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5;  // wire types

constexpr std::array<uint32_t, 256> make_crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? kReflectedPolynomial : 0);
    }
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kCrcTable = make_crc_table();

uint32_t masked_crc(std::string_view bytes) {
  return std::rotr(crc32c(bytes), 15) + kMaskDelta;
}

template <typename Unsigned>
void put_little_endian(std::string& bytes, Unsigned value) {
  for (size_t i = 0; i < sizeof(value); ++i) {
    bytes += static_cast<char>((value >> (8 * i)) & 0xFF);
  }
}

void put_varint(std::string& bytes, uint64_t value) {
  while (value >= 0x80) {
    bytes += static_cast<char>((value & 0x7F) | 0x80);
    value >>= 7;
  }
  bytes += static_cast<char>(value);
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) {
    crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  }
  return ~crc;
}

std::string frame_record(std::string_view data) {
  std::string length;
  put_little_endian(length, static_cast<uint64_t>(data.size()));
  std::string record = length;
  put_little_endian(record, masked_crc(length));
  record += data;
  put_little_endian(record, masked_crc(data));
  return record;
}

void ProtobufMessage::put_tag(uint32_t field, uint32_t wire_type) {
  put_varint(bytes_, (uint64_t{field} << 3) | wire_type);
}

ProtobufMessage& ProtobufMessage::add_varint(uint32_t field, uint64_t value) {
  put_tag(field, kVarint);
  put_varint(bytes_, value);
  return *this;
}

ProtobufMessage& ProtobufMessage::add_double(uint32_t field, double value) {
  put_tag(field, kFixed64);
  put_little_endian(bytes_, std::bit_cast<uint64_t>(value));
  return *this;
}

ProtobufMessage& ProtobufMessage::add_float(uint32_t field, float value) {
  put_tag(field, kFixed32);
  put_little_endian(bytes_, std::bit_cast<uint32_t>(value));
  return *this;
}

ProtobufMessage& ProtobufMessage::add_bytes(uint32_t field, std::string_view value) {
  put_tag(field, kLengthDelimited);
  put_varint(bytes_, value.size());
  bytes_ += value;
  return *this;
}

}  // namespace dragoman::training
