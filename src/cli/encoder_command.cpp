#include "cli/encoder_command.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/device_flag.h"
#include "cli/field_flags.h"
#include "cli/search_flags.h"
#include "cli/text_output.h"

namespace dragoman::cli {

void add_encoder_flags(CLI::App& command, EncoderArguments& arguments, const std::string& input,
                       const std::string& output) {
  begin_group(command, base::kMostUsed);
  command.add_option("-m,--model", arguments.model, "Model folder")->type_name("DIR")->required();
  command.add_option("-i,--input", arguments.input, input)->type_name("FILE")->capture_default_str();
  command.add_option("-o,--output", arguments.output, output)->type_name("FILE");
  command.add_flag("--json", arguments.json, "One JSON object a line instead");
  add_precision_flag(command, arguments.precision);
  add_device_flag(command, arguments.device);
  add_field(command, base::field_of(&decoding::EncodeOptions::batch_tokens), arguments.encode.batch_tokens);
  add_field(command, base::field_of(&decoding::EncodeOptions::workers), arguments.encode.workers);
}

void add_stride_flag(CLI::App& command, EncoderArguments& arguments) {
  add_field(command, base::field_of(&decoding::EncodeOptions::stride), arguments.encode.stride)->group("Long texts");
}

std::string input_path(const EncoderArguments& arguments) {
  return arguments.input == "-" ? "/dev/stdin" : arguments.input;
}

void warn_of_cut_texts(int64_t cut, size_t texts, int64_t most_tokens, std::string_view advice) {
  if (cut > 0) {
    say(fmt::format("warning: {} of {} texts are longer than the model takes ({} tokens) and lost their end{}\n", cut,
                    texts, most_tokens, advice));
  }
}

}  // namespace dragoman::cli
