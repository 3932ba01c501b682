#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "cli/command.h"
#include "cli/device_flag.h"
#include "cli/encoder_command.h"
#include "cli/text_lines.h"
#include "cli/text_output.h"
#include "decoding/text_labeler.h"

namespace dragoman::cli {
namespace {

using Words = std::vector<std::string>;

struct TagArguments : EncoderArguments {
  bool columns = false;
};

std::string tag_lines(const Words& words, const decoding::WordTags& tags, const data::Labels& labels,
                      const TagArguments& arguments) {
  Words names;
  for (const int32_t tag : tags.tags) {
    names.push_back(labels.name(tag));
  }
  if (arguments.json) {
    return base::dump_json({{"words", words}, {"tags", names}, {"probabilities", tags.probabilities}}) + "\n";
  }
  std::string text;
  for (size_t word = 0; word < words.size(); ++word) {
    text += arguments.columns ? fmt::format("{}\t{}\n", words[word], names[word])
                              : fmt::format("{}{}", word == 0 ? "" : " ", names[word]);
  }
  return text + "\n";
}

std::vector<Words> read_sentences(const TagArguments& arguments) {
  std::vector<Words> sentences;
  if (arguments.columns) {
    for (data::TaggedWords& sentence : data::read_tagged_words({input_path(arguments)}, false)) {
      sentences.push_back(std::move(sentence.words));
    }
    return sentences;
  }
  for (const std::string& line : read_lines(input_path(arguments))) {
    sentences.push_back(data::words_of_line(line));
  }
  return sentences;
}

int tag(const TagArguments& arguments) {
  const DeviceChoice device(arguments.device);
  TextOutput output(arguments.output);
  const decoding::TextLabeler labeler =
      decoding::load_labeler(arguments.model, models::EncoderHead::kTags, "tag", arguments.precision);
  const std::vector<Words> sentences = read_sentences(arguments);
  in_portions<Words>(sentences, [&](std::span<const Words> some) {
    std::vector<Words> with_words;
    std::ranges::copy_if(some, std::back_inserter(with_words), [](const Words& words) { return !words.empty(); });
    const std::vector<decoding::WordTags> tags = labeler.tag(with_words, arguments.encode);
    size_t next = 0;
    for (const Words& words : some) {
      const decoding::WordTags of_words = words.empty() ? decoding::WordTags() : tags[next++];
      output.write(tag_lines(words, of_words, labeler.labels(), arguments));
    }
  });
  output.finish();
  return 0;
}

}  // namespace

void add_tag_command(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<TagArguments>();
  CLI::App* command = add_command(app, "tag", "Give each word of a text a tag, with an encoder",
                                  "dragoman tag --model my-tagger --input lines.txt --output tags.txt\n"
                                  "dragoman tag --model my-tagger --columns --input test.tsv --output tagged.tsv");
  add_encoder_flags(*command, *arguments,
                    "Sentences, one a line, in words with blanks between them; - = standard input",
                    "File for the tags, those of a line with blanks between them; - = standard output");
  command->add_flag("--columns", arguments->columns,
                    "Input and output have one word a line and an empty line behind each sentence: the first column of "
                    "the input is the word, the output has the word, a tab and its tag");
  add_stride_flag(*command, *arguments);
  command->callback([arguments, &run] {
    base::check_fields(arguments->encode);
    run = [arguments] { return tag(*arguments); };
  });
}

}  // namespace dragoman::cli
