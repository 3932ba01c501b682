#include "base/protobuf.h"

#include <bit>

#include "base/error.h"

namespace dragoman::base {
namespace {

void put_varint(std::string& bytes, uint64_t value) {
  while (value >= 0x80) {
    bytes += static_cast<char>((value & 0x7F) | 0x80);
    value >>= 7;
  }
  bytes += static_cast<char>(value);
}

template <typename Unsigned>
void put_little_endian(std::string& bytes, Unsigned value) {
  for (size_t i = 0; i < sizeof(value); ++i) {
    bytes += static_cast<char>((value >> (8 * i)) & 0xFF);
  }
}

}  // namespace

bool FieldReader::next(ProtobufField& field) {
  if (rest_.empty()) {
    return false;
  }
  const uint64_t tag = varint();
  field = {};
  field.number = tag >> 3;
  field.type = static_cast<ProtobufField::Type>(tag & 7);
  require(field.number != 0, "has a field with number 0");
  switch (field.type) {
    case ProtobufField::kVarint:
      field.value = varint();
      break;
    case ProtobufField::kFixed64:
      field.value = fixed(8);
      break;
    case ProtobufField::kFixed32:
      field.value = fixed(4);
      break;
    case ProtobufField::kBytes:
      field.bytes = take(varint());
      break;
    default:
      fail("has a field of unknown type");
  }
  return true;
}

void FieldReader::fail(const char* what) const {
  base::fail(ErrorKind::kBadData, "{}: {}; {}", name_, what, kDamaged);
}

void FieldReader::require(bool condition, const char* what) const {
  if (!condition) {
    fail(what);
  }
}

std::string_view FieldReader::take(uint64_t count) {
  require(count <= rest_.size(), "is cut short");
  const std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

uint64_t FieldReader::varint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<uint8_t>(take(1)[0]);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      return value;
    }
  }
  fail("has a number of more than 10 bytes");
}

uint64_t FieldReader::fixed(size_t count) {
  const std::string_view bytes = take(count);
  uint64_t value = 0;
  for (size_t i = count; i-- > 0;) {
    value = value << 8 | static_cast<uint8_t>(bytes[i]);
  }
  return value;
}

void ProtobufMessage::put_tag(uint32_t field, ProtobufField::Type type) {
  put_varint(bytes_, (uint64_t{field} << 3) | type);
}

ProtobufMessage& ProtobufMessage::add_varint(uint32_t field, uint64_t value) {
  put_tag(field, ProtobufField::kVarint);
  put_varint(bytes_, value);
  return *this;
}

ProtobufMessage& ProtobufMessage::add_double(uint32_t field, double value) {
  put_tag(field, ProtobufField::kFixed64);
  put_little_endian(bytes_, std::bit_cast<uint64_t>(value));
  return *this;
}

ProtobufMessage& ProtobufMessage::add_float(uint32_t field, float value) {
  put_tag(field, ProtobufField::kFixed32);
  put_little_endian(bytes_, std::bit_cast<uint32_t>(value));
  return *this;
}

ProtobufMessage& ProtobufMessage::add_bytes(uint32_t field, std::string_view value) {
  put_tag(field, ProtobufField::kBytes);
  put_varint(bytes_, value.size());
  bytes_ += value;
  return *this;
}

}  // namespace dragoman::base
