#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <charconv>
#include <memory>

#include "base/error.h"
#include "base/files.h"
#include "cli/command.h"
#include "cli/field_flags.h"
#include "cli/meter.h"
#include "cli/text_output.h"
#include "data/text/text_file.h"
#include "data/vocabulary/byte_bpe_trainer.h"
#include "data/vocabulary/tokenizer_file.h"
#include "data/vocabulary/vocabulary_trainer.h"

namespace dragoman::cli {
namespace {

using data::Vocabulary;
using data::VocabularyOptions;

// Output is handed on in pieces of about this size when lines arrive faster than they are read.
constexpr size_t kOutputBytes = size_t{1} << 16;

struct VocabArguments {
  std::vector<std::filesystem::path> inputs;
  std::filesystem::path output;
  VocabularyOptions options;
  data::BpeSplit byte_level = data::BpeSplit::kNone;

  std::filesystem::path model;
  bool encode = false;
  bool decode = false;
  bool ids = false;

  void check() const {
    if (model.empty()) {
      base::check_usage(!inputs.empty() && !output.empty(),
                        "vocab: give --input and --output to train a vocabulary, or --model to use one");
      base::check_usage(!encode && !decode && !ids, "vocab: --encode, --decode and --ids need --model FILE");
      return;
    }
    base::check_usage(inputs.empty() && output.empty(),
                      "vocab: --model uses a vocabulary, --input and --output train one; give the one or the other");
    base::check_usage(!(encode && decode), "vocab: --encode and --decode exclude each other");
  }
};

// A tokenizer.json for language models.
int train_byte_level(const VocabArguments& arguments) {
  const auto meter = make_meter("learning a vocabulary", "");
  const Vocabulary vocabulary =
      data::train_byte_bpe(arguments.inputs, {.size = arguments.options.size, .split = arguments.byte_level});
  base::write_file_atomic(arguments.output, vocabulary.bytes());
  meter->clear();
  TextOutput("-").write(
      fmt::format("{}: {} byte-level bpe pieces learned\n", arguments.output.string(), vocabulary.size()));
  return 0;
}

int train(const VocabArguments& arguments) {
  if (arguments.byte_level != data::BpeSplit::kNone) {
    return train_byte_level(arguments);
  }
  const auto meter = make_meter("learning a vocabulary", "");
  const data::TrainedVocabulary trained = data::train_vocabulary(arguments.inputs, arguments.options);
  base::write_file_atomic(arguments.output, trained.vocabulary.bytes());
  meter->clear();
  say_note(trained.note);
  TextOutput("-").write(fmt::format("{}: {} {} pieces learned from {} lines\n", arguments.output.string(),
                                    trained.vocabulary.size(), base::name_of(arguments.options.type),
                                    trained.lines_used));
  return 0;
}

std::string encode_line(const Vocabulary& vocabulary, const std::string& line, bool ids) {
  const std::vector<int32_t> encoded = vocabulary.encode(line);
  return ids ? fmt::format("{}\n", fmt::join(encoded, " "))
             : fmt::format("{}\n", fmt::join(vocabulary.pieces(encoded), " "));
}

int32_t parse_id(std::string_view word, const Vocabulary& vocabulary, uint64_t line) {
  int32_t id = -1;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
  base::check_data(error == std::errc() && end == word.data() + word.size() && id >= 0 && id < vocabulary.size(),
                   "standard input: line {}: \"{}\" is not the id of a piece, 0 to {}", line, word,
                   vocabulary.size() - 1);
  return id;
}

std::string decode_line(const Vocabulary& vocabulary, std::string_view line, bool ids, uint64_t number) {
  std::vector<int32_t> encoded;
  while (!line.empty()) {
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(word.size() + 1, line.size()));
    if (!word.empty()) {
      encoded.push_back(ids ? parse_id(word, vocabulary, number) : vocabulary.id(word));
    }
  }
  return vocabulary.decode(encoded) + "\n";
}

int convert(const Vocabulary& vocabulary, const VocabArguments& arguments) {
  data::LineReader reader(STDIN_FILENO, "standard input");
  TextOutput output("-");
  std::string pending;
  for (std::string line; reader.next(line);) {
    pending += arguments.encode ? encode_line(vocabulary, line, arguments.ids)
                                : decode_line(vocabulary, line, arguments.ids, reader.lines_read());
    if (pending.size() > kOutputBytes || !reader.ready()) {
      output.write(pending);
      pending.clear();
    }
  }
  output.write(pending);
  say_note(reader.repairs());
  return 0;
}

int use(const VocabArguments& arguments) {
  const Vocabulary vocabulary = data::read_tokenizer_file(arguments.model);
  if (arguments.encode || arguments.decode) {
    return convert(vocabulary, arguments);
  }
  TextOutput("-").write(fmt::format("{}: {} {} pieces{}, sha256 {}\n", arguments.model.string(), vocabulary.size(),
                                    vocabulary.is_bpe() ? "bpe" : "unigram",
                                    vocabulary.has_byte_fallback() ? " with byte fallback" : "", vocabulary.sha256()));
  return 0;
}

void add_training_options(CLI::App& command, VocabArguments& arguments) {
  VocabularyOptions& options = arguments.options;
  begin_group(command, "Train a vocabulary");
  command
      .add_option("-i,--input", arguments.inputs, "Texts to learn from, one sentence a line; may be given repeatedly")
      ->type_name("FILE");
  command
      .add_option("-o,--output", arguments.output,
                  "Vocabulary file to write (a SentencePiece model, .spm; with --byte-level a tokenizer.json)")
      ->type_name("FILE");
  command.add_option("--size", options.size, "Pieces, 5 to 1000000");
  add_choice(command, "--type", options.type,
             "Unigram language model or byte-pair encoding; the others are learned by `train` alone");
  add_choice(command, "--byte-level", arguments.byte_level,
             "Byte-level byte-pair encoding for language models, with this split into words; none: SentencePiece");
  command.add_option("--character-coverage", options.character_coverage,
                     "Share of the characters that get a piece, 0.98 to 1; 0.9995 suits Chinese");
  command.add_flag("--byte-fallback", options.byte_fallback, "Unknown characters become their bytes");
  command.add_option("--normalization", options.normalization, "How text is normalised before it is cut")
      ->check(CLI::IsMember(data::normalizations()));
  command.add_option("--words", options.whole_words,
                     "Words that are one piece behind a space, with commas between them: didn't,state-of-the-art");
  command.add_option("--max-lines", options.max_lines, "Lines learned from at most, drawn evenly; 0 = all");
  command.add_option("--seed", options.seed, "Of the draw of lines");
}

}  // namespace

void add_vocab_command(CLI::App& app, Run& run) {
  auto arguments = std::make_shared<VocabArguments>();
  CLI::App* command = add_command(app, "vocab", "Train a sub-word vocabulary, or cut and join text with one",
                                  "dragoman vocab --input train.en train.de --size 10000 --output words.spm\n"
                                  "dragoman vocab --model words.spm --encode < new.en");
  add_training_options(*command, *arguments);
  begin_group(*command, "Use a vocabulary");
  command
      ->add_option("-m,--model", arguments->model,
                   "Vocabulary file to use (.spm or tokenizer.json); alone, prints what it is")
      ->type_name("FILE");
  command->add_flag("--encode", arguments->encode, "With --model: cut the lines of standard input into pieces");
  command->add_flag("--decode", arguments->decode, "With --model: join lines of pieces to text");
  command->add_flag("--ids", arguments->ids, "Numbers instead of pieces, for --encode and --decode");
  command->callback([arguments, &run] {
    arguments->check();
    run = [arguments] { return arguments->model.empty() ? train(*arguments) : use(*arguments); };
  });
}

}  // namespace dragoman::cli
