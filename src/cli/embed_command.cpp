#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/device_flag.h"
#include "cli/encoder_command.h"
#include "cli/text_lines.h"
#include "cli/text_output.h"
#include "data/text/labelled_text.h"
#include "evaluation/vector_scores.h"

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

struct EmbedArguments : EncoderArguments {
  bool similarity = false;
};

std::string similarity_line(const data::TextOrPair& pair, double cosine, bool json) {
  return json ? base::dump_json({{"text", pair.first}, {"second", *pair.second}, {"similarity", cosine}}) + "\n"
              : fmt::format("{:.6f}\n", cosine);
}

// The cosine of the two texts of each line.
int compare(const EmbedArguments& arguments) {
  const DeviceChoice device(arguments.device);
  TextOutput output(arguments.output);
  const decoding::TextEncoder encoder = decoding::load_encoder(arguments.model, arguments.precision);
  std::vector<data::TextOrPair> pairs;
  for (const std::string& line : read_lines(input_path(arguments))) {
    const std::string place = fmt::format("{}:{}", arguments.input, pairs.size() + 1);
    pairs.push_back(data::text_or_pair(line, place));
    base::check_data(pairs.back().second.has_value(),
                     "{}: has one text, --similarity needs two with a tab between them", place);
  }
  int64_t cut = 0;
  in_portions<data::TextOrPair>(pairs, [&](std::span<const data::TextOrPair> some) {
    std::vector<std::string> texts;
    for (const data::TextOrPair& pair : some) {
      texts.insert(texts.end(), {pair.first, *pair.second});
    }
    const decoding::Embeddings embeddings = encoder.embed(texts, arguments.encode);
    cut += embeddings.cut;
    for (size_t i = 0; i < some.size(); ++i) {
      const double cosine = evaluation::cosine_of(embeddings.of(2 * i), embeddings.of(2 * i + 1));
      output.write(similarity_line(some[i], cosine, arguments.json));
    }
  });
  output.finish();
  warn_of_cut_texts(cut, 2 * pairs.size(), encoder.model().encoder_config().max_positions, kStrideReadsAll);
  return 0;
}

int embed(const EmbedArguments& arguments) {
  const DeviceChoice device(arguments.device);
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
  warn_of_cut_texts(cut, texts.size(), encoder.model().encoder_config().max_positions, kStrideReadsAll);
  return 0;
}

}  // namespace

void add_embed_command(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<EmbedArguments>();
  CLI::App* command = add_command(app, "embed", "Turn each line of a text into a vector, with an encoder",
                                  "dragoman embed --model my-encoder --input lines.txt --output vectors.tsv\n"
                                  "dragoman embed --model my-encoder --similarity --input pairs.tsv");
  add_encoder_flags(*command, *arguments, "Text, one line a vector; - = standard input",
                    "File for the vectors, numbers separated by tabs, one vector a line; - = standard output");
  command->add_flag("--similarity", arguments->similarity,
                    "A line holds two texts with a tab between them; write the cosine of their vectors");
  add_stride_flag(*command, *arguments);
  command->callback([arguments, &run] {
    base::check_fields(arguments->encode);
    run = [arguments] { return arguments->similarity ? compare(*arguments) : embed(*arguments); };
  });
}

}  // namespace dragoman::cli
