#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decoding/text_encoder.h"

namespace dragoman::cli {

/// What the commands that run an encoder over the lines of a text are told.
struct EncoderArguments {
  std::string model;
  std::string input = "-";
  std::string output;
  bool json = false;
  std::string device = "cpu";
  std::optional<kernels::Precision> precision;
  decoding::EncodeOptions encode;
};

/// Adds the flags of EncoderArguments. @param input, output  what --input and --output are, for --help
void add_encoder_flags(CLI::App& command, EncoderArguments& arguments, const std::string& input,
                       const std::string& output);

/// Adds --stride, of the commands that can read long texts in windows.
void add_stride_flag(CLI::App& command, EncoderArguments& arguments);

/// Returns: the path that --input names; - is standard input.
std::string input_path(const EncoderArguments& arguments);

/// Calls use(some) for all of `items` in their order, some thousand at a time, so that memory does not grow with
/// them.
template <typename Item>
void in_portions(const std::vector<Item>& items, const std::function<void(std::span<const Item>)>& use) {
  constexpr size_t kItemsTogether = 4096;
  for (size_t begin = 0; begin < items.size(); begin += kItemsTogether) {
    use(std::span(items).subspan(begin, std::min(kItemsTogether, items.size() - begin)));
  }
}

/// Advice of warn_of_cut_texts for commands with --stride.
inline constexpr std::string_view kStrideReadsAll = "; --stride reads them in windows";

/// Says how many texts lost their end.
void warn_of_cut_texts(int64_t cut, size_t texts, int64_t most_tokens, std::string_view advice);

}  // namespace dragoman::cli
