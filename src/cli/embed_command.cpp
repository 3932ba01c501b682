#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "cli/command.h"
#include "cli/encoder_command.h"
#include "cli/text_lines.h"
#include "cli/text_output.h"

namespace dragoman::cli {
namespace {

std::string vector_line(const std::string& text, std::span<const float> vector, bool json) {
  if (json) {
    return base::dump_json({{"text", text}, {"embedding", vector}}) + "\n";
  }
  std::string line;
  for (const float value : vector) {
    line += fmt::format("{}{}", line.empty() ? "" : "\t", value);
  }
  return line + "\n";
}

int embed(const EncoderArguments& arguments) {
  TextOutput output(arguments.output);
  const decoding::TextEncoder encoder = decoding::load_encoder(arguments.model, arguments.precision);
  const std::vector<std::string> texts = read_lines(input_path(arguments));
  int64_t cut = 0;
  in_portions<std::string>(texts, [&](std::span<const std::string> some) {
    const decoding::Embeddings embeddings = encoder.embed(some, arguments.encode);
    cut += embeddings.cut;
    for (size_t i = 0; i < some.size(); ++i) {
      output.write(vector_line(some[i], embeddings.of(i), arguments.json));
    }
  });
  output.finish();
  warn_of_cut_texts(cut, texts.size(), encoder.model().encoder_config().max_positions);
  return 0;
}

}  // namespace

void add_embed_command(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<EncoderArguments>();
  CLI::App* command = add_command(app, "embed", "Turn each line of a text into a vector, with an encoder",
                                  "dragoman embed --model my-encoder --input lines.txt --output vectors.tsv");
  add_encoder_flags(*command, *arguments, "Text, one line a vector; - = standard input",
                    "File for the vectors, numbers separated by tabs, one vector a line; - = standard output");
  command->callback([arguments, &run] {
    base::check_fields(arguments->encode);
    run = [arguments] { return embed(*arguments); };
  });
}

}  // namespace dragoman::cli
