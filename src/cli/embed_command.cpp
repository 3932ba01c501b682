#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/json.h"
#include "cli/command.h"
#include "cli/field_flags.h"
#include "cli/search_flags.h"
#include "cli/text_lines.h"
#include "cli/text_output.h"
#include "decoding/text_encoder.h"

namespace dragoman::cli {
namespace {

constexpr size_t kTextsTogether = 4096;  // so that memory does not grow with the input

struct EmbedArguments {
  std::string model;
  std::string input = "-";
  std::string output;
  bool json = false;
  std::optional<kernels::Precision> precision;
  decoding::EncodeOptions encode;
};

std::string format(const std::string& text, std::span<const float> vector, bool json) {
  if (json) {
    return base::dump_json({{"text", text}, {"embedding", vector}}) + "\n";
  }
  std::string line;
  for (const float value : vector) {
    line += fmt::format("{}{}", line.empty() ? "" : "\t", value);
  }
  return line + "\n";
}

int embed(const EmbedArguments& arguments) {
  TextOutput output(arguments.output);
  const decoding::TextEncoder encoder = decoding::load_encoder(arguments.model, arguments.precision);
  const std::vector<std::string> texts = read_lines(arguments.input == "-" ? "/dev/stdin" : arguments.input);
  int64_t cut = 0;
  for (size_t begin = 0; begin < texts.size(); begin += kTextsTogether) {
    const auto some = std::span(texts).subspan(begin, std::min(kTextsTogether, texts.size() - begin));
    const decoding::Embeddings embeddings = encoder.embed(some, arguments.encode);
    cut += embeddings.cut;
    for (size_t i = 0; i < some.size(); ++i) {
      output.write(format(some[i], embeddings.of(i), arguments.json));
    }
  }
  output.finish();
  if (cut > 0) {
    say(fmt::format("warning: {} of {} texts are longer than the model takes ({} tokens) and lost their end\n", cut,
                    texts.size(), encoder.model().encoder_config().max_positions));
  }
  return 0;
}

}  // namespace

void add_embed_command(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<EmbedArguments>();
  CLI::App* command = add_command(app, "embed", "Turn each line of a text into a vector, with an encoder",
                                  "dragoman embed --model my-encoder --input lines.txt --output vectors.tsv");
  begin_group(*command, base::kMostUsed);
  command->add_option("-m,--model", arguments->model, "Model folder")->type_name("DIR")->required();
  command->add_option("-i,--input", arguments->input, "Text, one line a vector; - = standard input")
      ->type_name("FILE")
      ->capture_default_str();
  command
      ->add_option("-o,--output", arguments->output,
                   "File for the vectors, numbers separated by tabs, one vector a line; - = standard output")
      ->type_name("FILE");
  command->add_flag("--json", arguments->json, "One JSON object a line instead");
  add_precision_flag(*command, arguments->precision);
  add_field(*command, base::field_of(&decoding::EncodeOptions::batch_tokens), arguments->encode.batch_tokens);
  add_field(*command, base::field_of(&decoding::EncodeOptions::workers), arguments->encode.workers);
  command->callback([arguments, &run] {
    base::check_fields(arguments->encode);
    run = [arguments] { return embed(*arguments); };
  });
}

}  // namespace dragoman::cli
