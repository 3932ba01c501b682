#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/device_flag.h"
#include "cli/encoder_command.h"
#include "cli/text_lines.h"
#include "cli/text_output.h"
#include "data/masked_examples.h"
#include "decoding/text_labeler.h"

namespace dragoman::cli {
namespace {

struct FillArguments : EncoderArguments {
  int candidates = 5;
};

// A piece may be a line break or a tab, which would end the line or the candidate.
std::string in_one_line(const std::string& piece) {
  std::string text;
  for (const char byte : piece) {
    switch (byte) {
      case '\n':
        text += "\\n";
        break;
      case '\r':
        text += "\\r";
        break;
      case '\t':
        text += "\\t";
        break;
      default:
        text += byte;
    }
  }
  return text;
}

std::string filled_line(const std::string& text, const decoding::FilledMasks& masks, bool json) {
  if (json) {
    nlohmann::json all = nlohmann::json::array();
    for (const std::vector<decoding::MaskCandidate>& candidates : masks) {
      nlohmann::json of_mask = nlohmann::json::array();
      for (const decoding::MaskCandidate& candidate : candidates) {
        of_mask.push_back({{"piece", candidate.piece}, {"id", candidate.id}, {"probability", candidate.probability}});
      }
      all.push_back(std::move(of_mask));
    }
    return base::dump_json({{"text", text}, {"masks", std::move(all)}}) + "\n";
  }
  std::string line;
  for (const std::vector<decoding::MaskCandidate>& candidates : masks) {
    line += line.empty() ? "" : "\t|\t";
    for (size_t i = 0; i < candidates.size(); ++i) {
      line +=
          fmt::format("{}{} {:.4f}", i == 0 ? "" : "\t", in_one_line(candidates[i].piece), candidates[i].probability);
    }
  }
  return line + "\n";
}

// @param place  of the text, for the error
data::EncoderInput input_of(const std::string& text, const decoding::TextLabeler& labeler, const std::string& place) {
  data::EncoderInput input = labeler.masked_input(text);
  base::check_data(!input.word_rows.empty(), "{}: {}", place, labeler.lack_of_mask(input));
  return input;
}

int fill_mask(const FillArguments& arguments) {
  const DeviceChoice device(arguments.device);
  TextOutput output(arguments.output);
  const decoding::TextLabeler labeler =
      decoding::load_labeler(arguments.model, models::EncoderHead::kWords, "fill-mask", arguments.precision);
  const std::vector<std::string> texts = read_lines(input_path(arguments));
  data::check_has_mask(data::mask_id(labeler.vocabulary()));
  int64_t cut = 0;
  size_t line = 0;
  in_portions<std::string>(texts, [&](std::span<const std::string> some) {
    std::vector<data::EncoderInput> inputs;
    for (const std::string& text : some) {
      inputs.push_back(input_of(text, labeler, fmt::format("{}:{}", arguments.input, ++line)));
      cut += inputs.back().is_cut ? 1 : 0;
    }
    const std::vector<decoding::FilledMasks> filled = labeler.fill(inputs, arguments.candidates, arguments.encode);
    for (size_t i = 0; i < some.size(); ++i) {
      output.write(filled_line(some[i], filled[i], arguments.json));
    }
  });
  output.finish();
  warn_of_cut_texts(cut, texts.size(), labeler.model().encoder_config().max_positions, "");
  return 0;
}

}  // namespace

void add_fill_mask_command(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<FillArguments>();
  CLI::App* command = add_command(app, "fill-mask", "Say what may stand at each [MASK] of a text, with an encoder",
                                  "echo 'the [MASK] sleeps near the river' | dragoman fill-mask --model my-encoder");
  add_encoder_flags(*command, *arguments,
                    "Texts, one a line, with the mask piece of the tokenizer, such as [MASK] or <mask>; - = standard "
                    "input",
                    "File for the candidates, tabs between them and | between masks; - = standard output");
  command->add_option("--candidates", arguments->candidates, "Candidates for each mask");
  command->callback([arguments, &run] {
    base::check_fields(arguments->encode);
    base::check_range("candidates", arguments->candidates, 1, 1000);
    run = [arguments] { return fill_mask(*arguments); };
  });
}

}  // namespace dragoman::cli
