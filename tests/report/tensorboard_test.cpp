#include "report/tensorboard.h"
#include "base/protobuf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "report/tensorboard_record.h"
#include "support/temporary_folder.h"

namespace dragoman::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename Number>
Number little_endian(std::string_view bytes) {
  Number value = 0;
  for (size_t i = 0; i < sizeof(Number); ++i) {
    value |= static_cast<Number>(static_cast<unsigned char>(bytes.at(i))) << (8 * i);
  }
  return value;
}

uint32_t unmasked(uint32_t masked) {
  return std::rotl(masked - 0xA282EAD8U, 15);
}

/// The data of each record; fails the test at a checksum that does not fit or a cut record.
std::vector<std::string> records_of(std::string_view file) {
  std::vector<std::string> records;
  while (!file.empty()) {
    const auto length = little_endian<uint64_t>(file.substr(0, 8));
    EXPECT_EQ(unmasked(little_endian<uint32_t>(file.substr(8, 4))), crc32c(file.substr(0, 8)));
    records.emplace_back(file.substr(12, length));
    EXPECT_EQ(unmasked(little_endian<uint32_t>(file.substr(12 + length, 4))), crc32c(records.back()));
    file.remove_prefix(16 + length);
  }
  return records;
}

/// The fields of a protobuf message: number -> raw value (varint and fixed as integer text, else the bytes).
std::multimap<uint64_t, std::string> fields_of(std::string_view bytes) {
  const auto varint = [&bytes] {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes.at(0));
      bytes.remove_prefix(1);
      value |= uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) {
        return value;
      }
    }
  };
  const auto take = [&bytes](size_t size) {
    std::string part(bytes.substr(0, size));
    EXPECT_EQ(part.size(), size);
    bytes.remove_prefix(part.size());
    return part;
  };
  std::multimap<uint64_t, std::string> fields;
  while (!bytes.empty()) {
    const uint64_t tag = varint();
    switch (tag & 7) {
      case 0:
        fields.emplace(tag >> 3, std::to_string(varint()));
        break;
      case 1:
        fields.emplace(tag >> 3, take(8));
        break;
      case 2:
        fields.emplace(tag >> 3, take(varint()));
        break;
      case 5:
        fields.emplace(tag >> 3, take(4));
        break;
      default:
        ADD_FAILURE() << "wire type " << (tag & 7);
        return fields;
    }
  }
  return fields;
}

std::string field(std::string_view message, uint64_t number) {
  const auto fields = fields_of(message);
  const auto found = fields.find(number);
  EXPECT_NE(found, fields.end()) << "field " << number << " is missing";
  return found == fields.end() ? "" : found->second;
}

TEST(Crc32c, EqualsTheVectorsOfRfc3720) {
  std::string ascending;
  for (char c = 0; c < 32; ++c) {
    ascending += c;
  }
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  EXPECT_EQ(crc32c(ascending), 0x46DD794EU);
  EXPECT_EQ(crc32c(std::string(ascending.rbegin(), ascending.rend())), 0x113FDB5CU);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(FrameRecord, IsReadBack) {
  const std::string data = std::string("any\0bytes\xFF", 10);
  EXPECT_THAT(records_of(frame_record(data) + frame_record("") + frame_record("x")), ElementsAre(data, "", "x"));
}

TEST(ProtobufMessage, EncodesAsTheSpecificationShows) {
  EXPECT_EQ(base::ProtobufMessage().add_varint(1, 150).bytes(), "\x08\x96\x01");
  EXPECT_EQ(base::ProtobufMessage().add_bytes(2, "testing").bytes(), "\x12\x07testing");
  EXPECT_EQ(base::ProtobufMessage().add_message(3, base::ProtobufMessage().add_varint(1, 150)).bytes(),
            "\x1a\x03\x08\x96\x01");
  EXPECT_EQ(base::ProtobufMessage().add_float(1, 1.0F).bytes(), std::string("\x0d\0\0\x80\x3f", 5));
  EXPECT_EQ(base::ProtobufMessage().add_double(1, 1.0).bytes(), std::string("\x09\0\0\0\0\0\0\xf0\x3f", 9));
}

TEST(TensorBoardWriter, WritesVersionAndScalars) {
  const test_support::TemporaryFolder folder;
  TensorBoardWriter writer(folder.path(), 0);
  writer.scalar("train/loss", 300, 2.5);
  EXPECT_THAT(writer.path().filename().string(), testing::StartsWith("events.out.tfevents."));
  const auto records = records_of(base::read_file(writer.path()));
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(field(records[0], 3), "brain.Event:2");
  EXPECT_EQ(field(field(records[1], 7), 1), "1") << "a start; TensorBoard honours a restart only after a first one";
  EXPECT_EQ(field(records[2], 2), "300");
  const std::string value = field(field(records[2], 5), 1);
  EXPECT_EQ(field(value, 1), "train/loss");
  EXPECT_EQ(std::bit_cast<float>(little_endian<uint32_t>(field(value, 2))), 2.5F);
}

TEST(TensorBoardWriter, WritesTextAsAStringTensorOfTheTextPlugin) {
  const test_support::TemporaryFolder folder;
  TensorBoardWriter writer(folder.path(), 0);
  writer.text("samples/0", 7, "Das Tier \xFF");
  const std::string value = field(field(records_of(base::read_file(writer.path())).at(2), 5), 1);
  EXPECT_EQ(field(field(field(value, 9), 1), 1), "text");
  EXPECT_EQ(field(field(value, 8), 1), "7") << "DT_STRING";
  EXPECT_EQ(field(field(value, 8), 8), "Das Tier \uFFFD");
}

TEST(TensorBoardWriter, AResumedRunStartsANewFileThatForgetsLaterSteps) {
  const test_support::TemporaryFolder folder;
  const TensorBoardWriter first(folder.path(), 0);
  const TensorBoardWriter second(folder.path(), 40);
  EXPECT_LT(first.path().filename().string(), second.path().filename().string())
      << "TensorBoard reads the files in the order of their names";
  const auto records = records_of(base::read_file(second.path()));
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(field(records[1], 2), "41") << "steps from 41 on are dropped";
  EXPECT_EQ(field(field(records[1], 7), 1), "1") << "SessionLog START";
}

}  // namespace
}  // namespace dragoman::report
