#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dragoman::base {

/// The end of the messages about files that no correct program has written.
inline constexpr const char* kDamaged = "the file is damaged or hostile";

/// One field of a protocol buffer message. Source: protobuf.dev, "Encoding".
struct ProtobufField {
  uint64_t number = 0;
  enum Type : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 } type = kVarint;
  uint64_t value = 0;      ///< kVarint, kFixed32, kFixed64
  std::string_view bytes;  ///< kBytes
};

/// A reader of the fields of one message. It never reads beyond the end of the message and allocates no memory.
class FieldReader {
 public:
  /// @param name  the file named in errors
  FieldReader(std::string_view message, std::string_view name) : message_(message), rest_(message), name_(name) {}

  /// Reads the next field. Returns false at the end of the message.
  /// Throws: Error(kBadData), "x.spm: is cut short; the file is damaged or hostile".
  [[nodiscard]] bool next(ProtobufField& field);
  /// Returns the number of bytes before the next field.
  size_t position() const { return message_.size() - rest_.size(); }

 private:
  [[noreturn]] void fail(const char* what) const;
  void require(bool condition, const char* what) const;
  std::string_view take(uint64_t count);
  uint64_t varint();
  uint64_t fixed(size_t count);

  std::string_view message_;
  std::string_view rest_;
  std::string_view name_;
};

/// A writer of one protocol buffer message. The fields are written in the order of the calls, and all numbers are
/// little-endian. `field` is the number of the field in the definition of the message.
/// Source: protobuf.dev, "Encoding".
class ProtobufMessage {
 public:
  ProtobufMessage& add_varint(uint32_t field, uint64_t value);
  ProtobufMessage& add_double(uint32_t field, double value);
  ProtobufMessage& add_float(uint32_t field, float value);
  /// Adds a string, bytes or an embedded message.
  ProtobufMessage& add_bytes(uint32_t field, std::string_view value);
  ProtobufMessage& add_message(uint32_t field, const ProtobufMessage& value) { return add_bytes(field, value.bytes()); }

  const std::string& bytes() const { return bytes_; }

 private:
  void put_tag(uint32_t field, ProtobufField::Type type);

  std::string bytes_;
};

}  // namespace dragoman::base
