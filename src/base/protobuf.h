#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dragoman::base {

/// How errors about files that no program wrote in good faith end.
inline constexpr const char* kDamaged = "the file is damaged or hostile";

/// One field of a protocol buffer message. Source: protobuf.dev, "Encoding".
struct ProtobufField {
  uint64_t number = 0;
  enum Type : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 } type = kVarint;
  uint64_t value = 0;      ///< kVarint, kFixed32, kFixed64
  std::string_view bytes;  ///< kBytes
};

/// Walks the fields of one message, never beyond its end, and allocates nothing.
class FieldReader {
 public:
  /// @param name  the file named in errors
  FieldReader(std::string_view message, std::string_view name) : message_(message), rest_(message), name_(name) {}

  /// False at the end. Throws Error(kBadData): "x.spm: is cut short; the file is damaged or hostile".
  bool next(ProtobufField& field);
  /// Bytes of the message before the field that comes next.
  size_t position() const { return message_.size() - rest_.size(); }

 private:
  void require(bool condition, const char* what) const;
  std::string_view take(uint64_t count);
  uint64_t varint();
  uint64_t fixed(size_t count);

  std::string_view message_;
  std::string_view rest_;
  std::string_view name_;
};

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
  void put_tag(uint32_t field, ProtobufField::Type type);

  std::string bytes_;
};

}  // namespace dragoman::base
