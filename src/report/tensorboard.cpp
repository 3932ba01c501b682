#include "report/tensorboard.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <string>

#include "base/protobuf.h"
#include "base/utf8.h"
#include "report/tensorboard_record.h"

namespace dragoman::report {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFilePrefix = "events.out.tfevents.";

// Field numbers, named Message_field as in the .proto files.
constexpr uint32_t kEventWallTime = 1, kEventStep = 2, kEventFileVersion = 3, kEventSummary = 5, kEventSessionLog = 7;
constexpr uint32_t kSessionLogStatus = 1, kSessionStart = 1;
constexpr uint32_t kSummaryValue = 1;
constexpr uint32_t kValueTag = 1, kValueSimpleValue = 2, kValueTensor = 8, kValueMetadata = 9;
constexpr uint32_t kMetadataPluginData = 1, kMetadataDataClass = 4, kPluginName = 1, kDataClassTensor = 2;
constexpr uint32_t kTensorDtype = 1, kTensorShape = 2, kTensorStringValue = 8, kShapeDimension = 2, kDimensionSize = 1;
constexpr uint32_t kDtypeString = 7;

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') {
    return "localhost";
  }
  return name.data();
}

// Seconds in the name of an event file, or 0.
int64_t seconds_in_name(const std::string& name) {
  int64_t seconds = 0;
  if (name.starts_with(kFilePrefix)) {
    std::from_chars(name.data() + kFilePrefix.size(), name.data() + name.size(), seconds);
  }
  return seconds;
}

// The path of a new event file. TensorBoard reads a folder's files in the order of their names, so the time in the
// name moves past that of any file already there, even one written in this second or under a wrong clock.
fs::path new_event_path(const fs::path& folder) {
  auto seconds = static_cast<int64_t>(wall_time());
  if (fs::is_directory(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      seconds = std::max(seconds, seconds_in_name(entry.path().filename().string()) + 1);
    }
  }
  return folder / fmt::format("{}{:010}.{}.{}.v2", kFilePrefix, seconds, host_name(), getpid());
}

base::ProtobufMessage new_event(int64_t step) {
  base::ProtobufMessage event;
  event.add_double(kEventWallTime, wall_time());
  event.add_varint(kEventStep, static_cast<uint64_t>(step));
  return event;
}

std::string summary_record(int64_t step, const base::ProtobufMessage& value) {
  base::ProtobufMessage summary;
  summary.add_message(kSummaryValue, value);
  return frame_record(new_event(step).add_message(kEventSummary, summary).bytes());
}

base::ProtobufMessage text_tensor(std::string_view text) {
  base::ProtobufMessage dimension, shape, tensor;
  dimension.add_varint(kDimensionSize, 1);
  shape.add_message(kShapeDimension, dimension);
  tensor.add_varint(kTensorDtype, kDtypeString).add_message(kTensorShape, shape);
  return tensor.add_bytes(kTensorStringValue, base::repair_utf8(text));
}

base::ProtobufMessage text_metadata() {
  base::ProtobufMessage plugin, metadata;
  plugin.add_bytes(kPluginName, "text");
  metadata.add_message(kMetadataPluginData, plugin);
  return metadata.add_varint(kMetadataDataClass, kDataClassTensor);
}

}  // namespace

TensorBoardWriter::TensorBoardWriter(const fs::path& folder, int64_t resume_step) : file_(new_event_path(folder)) {
  base::ProtobufMessage version;
  version.add_double(kEventWallTime, wall_time()).add_bytes(kEventFileVersion, "brain.Event:2");
  file_.append(frame_record(version.bytes()));
  // A start at step s makes TensorBoard drop what it read of steps >= s. It takes the first start that it reads for the
  // beginning and only later ones for restarts: so a new run needs its own.
  base::ProtobufMessage start;
  start.add_varint(kSessionLogStatus, kSessionStart);
  const int64_t first_new_step = resume_step > 0 ? resume_step + 1 : 0;
  file_.append(frame_record(new_event(first_new_step).add_message(kEventSessionLog, start).bytes()));
}

void TensorBoardWriter::scalar(std::string_view tag, int64_t step, double value) {
  base::ProtobufMessage point;
  point.add_bytes(kValueTag, base::repair_utf8(tag)).add_float(kValueSimpleValue, static_cast<float>(value));
  file_.append(summary_record(step, point));
}

void TensorBoardWriter::text(std::string_view tag, int64_t step, std::string_view markdown) {
  base::ProtobufMessage value;
  value.add_bytes(kValueTag, base::repair_utf8(tag)).add_message(kValueMetadata, text_metadata());
  file_.append(summary_record(step, value.add_message(kValueTensor, text_tensor(markdown))));
}

}  // namespace dragoman::report
