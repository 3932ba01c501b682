#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/device_flag.h"
#include "cli/encoder_command.h"
#include "cli/text_lines.h"
#include "cli/text_output.h"
#include "decoding/text_labeler.h"

namespace dragoman::cli {
namespace {

std::string class_line(const data::TextOrPair& text, const decoding::TextClasses& classes, size_t number,
                       const data::Labels& labels, bool json) {
  const int32_t best = classes.best(number);
  const std::span<const float> probabilities = classes.of(number);
  if (!json) {
    return fmt::format("{}\t{:.4f}\n", labels.name(best), probabilities[static_cast<size_t>(best)]);
  }
  nlohmann::ordered_json tree = {{"text", text.first}};
  if (text.second) {
    tree["second"] = *text.second;
  }
  tree["label"] = labels.name(best);
  for (int32_t label = 0; label < labels.size(); ++label) {
    tree["probabilities"][labels.name(label)] = probabilities[static_cast<size_t>(label)];
  }
  return tree.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

struct ClassifyArguments : EncoderArguments {
  bool columns = false;
};

std::vector<data::TextOrPair> read_texts(const ClassifyArguments& arguments) {
  std::vector<data::TextOrPair> texts;
  if (arguments.columns) {
    for (data::LabelledText& text : data::read_labelled_texts({input_path(arguments)})) {
      texts.push_back(std::move(text.text));
    }
    return texts;
  }
  for (const std::string& line : read_lines(input_path(arguments))) {
    const std::string place = fmt::format("{}:{}", arguments.input, texts.size() + 1);
    texts.push_back(data::text_or_pair(line, place));
    base::check_data(texts.back().second.has_value() == texts.front().second.has_value(),
                     "{}: has {}, the lines before have {}; give pairs on all lines or on none", place,
                     texts.back().second ? "two texts" : "one text", texts.back().second ? "one" : "two");
  }
  return texts;
}

// Labels that are read as first texts give answers that look like others.
void warn_of_labels(const std::vector<data::TextOrPair>& texts, const data::Labels& labels) {
  const auto is_label = [&](const data::TextOrPair& text) { return text.second && labels.id(text.first) >= 0; };
  if (!texts.empty() && std::ranges::all_of(texts, is_label)) {
    say("warning: the first text of each pair is a label of the model; --columns takes the first column for labels\n");
  }
}

int classify(const ClassifyArguments& arguments) {
  const DeviceChoice device(arguments.device);
  TextOutput output(arguments.output);
  const decoding::TextLabeler labeler =
      decoding::load_labeler(arguments.model, models::EncoderHead::kClasses, "classify", arguments.precision);
  const std::vector<data::TextOrPair> texts = read_texts(arguments);
  warn_of_labels(texts, labeler.labels());
  int64_t cut = 0;
  in_portions<data::TextOrPair>(texts, [&](std::span<const data::TextOrPair> some) {
    const decoding::TextClasses classes = labeler.classify(some, arguments.encode);
    cut += classes.cut;
    for (size_t i = 0; i < some.size(); ++i) {
      output.write(class_line(some[i], classes, i, labeler.labels(), arguments.json));
    }
  });
  output.finish();
  const bool has_pairs = !texts.empty() && texts.front().second.has_value();  // which no window reads
  warn_of_cut_texts(cut, texts.size(), labeler.model().encoder_config().max_positions,
                    has_pairs ? "" : kStrideReadsAll);
  return 0;
}

}  // namespace

void add_classify_command(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<ClassifyArguments>();
  CLI::App* command =
      add_command(app, "classify", "Give each line of a text a label, with an encoder",
                  "dragoman classify --model my-classifier --input lines.txt --output labels.tsv\n"
                  "dragoman classify --model my-classifier --columns --input test.tsv --output said.tsv");
  add_encoder_flags(*command, *arguments,
                    "Texts, one a line, or pairs with a tab between their texts; - = standard input",
                    "File for the labels, each with a tab and its probability behind it; - = standard output");
  command->add_flag(
      "--columns", arguments->columns,
      "The lines of the input are those of a training file: a label, which is left out, and a text or two, "
      "with tabs between them");
  add_stride_flag(*command, *arguments);
  command->callback([arguments, &run] {
    base::check_fields(arguments->encode);
    run = [arguments] { return classify(*arguments); };
  });
}

}  // namespace dragoman::cli
