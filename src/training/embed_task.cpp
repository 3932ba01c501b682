#include "training/embed_task.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/error.h"
#include "base/sha256.h"
#include "data/encoder_input.h"
#include "data/pair_groups.h"
#include "data/tab_pairs.h"
#include "data/text/corpus.h"
#include "training/batch_fit.h"
#include "training/contrastive_objective.h"
#include "training/embed_validation.h"
#include "training/encoder_task.h"
#include "training/presets.h"
#include "training/validation_examples.h"

namespace dragoman::training {
namespace {

using Files = std::vector<std::filesystem::path>;
using data::TabPair;

// Where a side has no text, there is no pair.
std::vector<TabPair> pairs_of_sides(const Files& source, const Files& target) {
  const data::ParallelCorpus corpus(source, target);
  std::vector<TabPair> pairs;
  for (uint64_t line = 0; line < corpus.size(); ++line) {
    TabPair pair{corpus.source(line).text, corpus.target(line).text, corpus.place(line)};
    if (!base::trim(pair.input, " \t").empty() && !base::trim(pair.target, " \t").empty()) {
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

std::vector<TabPair> read_pairs(const Files& text, const Files& source, const Files& target) {
  return text.empty() ? pairs_of_sides(source, target) : data::read_tab_triples(text);
}

std::string fingerprint_of_pairs(const std::vector<TabPair>& pairs) {
  base::Sha256 hash;
  for (const TabPair& pair : pairs) {
    hash.update(base::sha256_hex(pair.input + "\t" + pair.target + (pair.far.empty() ? "" : "\t" + pair.far)));
  }
  return hash.hex();
}

class EmbedTask : public EncoderTask {
 public:
  explicit EmbedTask(const TrainOptions& options) : EncoderTask(options, "embed", models::EncoderHead::kNone) {
    training_ = read_pairs(options.text, options.source, options.target);
    if (options.valid_source.empty()) {
      validation_ = validation_examples(training_, options, data::read_tab_triples);
    } else {
      validation_ = read_pairs(options.valid_text, options.valid_source, options.valid_target);
    }
    fingerprint_ = fingerprint_of_pairs(training_);
    if (!validation_.empty()) {
      validation_fingerprint_ = fingerprint_of_pairs(validation_);
    }
  }

  std::unique_ptr<data::Examples> examples(const data::VocabularyPair& vocabularies, const TrainOptions& options,
                                           data::Exchange /*exchange*/) override {
    return groups_of(training_, vocabularies.source, options, &cut_);
  }
  std::unique_ptr<const Objective> objective(const TrainOptions& options) const override {
    return contrastive_objective(options.whole_texts);
  }
  int64_t longest_example(const TrainOptions& options) const override {
    return options.whole_texts.group_pairs * tokens_of_pair(options);
  }
  data::Batch longest_batch(int64_t tokens, const TrainOptions& options) const override {
    data::Batch batch;
    int64_t left = std::max<int64_t>(tokens / tokens_of_pair(options), 1);  // pairs
    while (left > 0) {
      const int64_t pairs = std::min(left, options.whole_texts.group_pairs);
      data::SentencePair group{.line = static_cast<uint64_t>(batch.sentences()), .source = {}, .target = {}};
      group.source = batch_words(pairs * tokens_of_pair(options), options.model.sizes().source_vocab_size);
      group.target.resize(static_cast<size_t>(pairs - 1));
      group.after_target = 0;
      for (size_t begin = 0; begin < group.source.size(); begin += static_cast<size_t>(options.batch.max_length)) {
        group.text_begins.push_back(static_cast<int32_t>(begin));
      }
      data::append(batch, group);
      left -= pairs;
    }
    return batch;
  }
  int64_t choices(const models::Model& /*model*/, const TrainOptions& options) const override {
    return options.whole_texts.group_pairs * (has_far() ? 2 : 1);
  }
  std::unique_ptr<Validation> validation(const data::VocabularyPair& vocabularies,
                                         const TrainOptions& options) const override {
    if (validation_.empty()) {
      return std::make_unique<EmbedValidation>(TextPairs{}, nullptr, vocabularies.source, options);
    }
    const auto groups = groups_of(validation_, vocabularies.source, options, nullptr);
    TextPairs texts;
    for (const TabPair& pair : validation_) {
      texts.left.push_back(pair.input);
      texts.right.push_back(pair.target);
    }
    return std::make_unique<EmbedValidation>(std::move(texts), groups.get(), vocabularies.source, options);
  }
  std::vector<std::string> warnings(const data::VocabularyPair& /*vocabularies*/,
                                    const TrainOptions& options) const override {
    return cut_ == 0 ? std::vector<std::string>()
                     : std::vector<std::string>{fmt::format(
                           "{} of {} training texts are longer than {} tokens and lose their end; --max-length raises "
                           "that",
                           cut_, (has_far() ? 3 : 2) * training_.size(), options.batch.max_length)};
  }

 protected:
  std::vector<std::string_view> training_texts() const override {
    std::vector<std::string_view> texts;
    for (const TabPair& pair : training_) {
      texts.insert(texts.end(), {pair.input, pair.target});
      if (!pair.far.empty()) {
        texts.push_back(pair.far);
      }
    }
    return texts;
  }

 private:
  // Of texts of the greatest length.
  int64_t tokens_of_pair(const TrainOptions& options) const { return (has_far() ? 3 : 2) * options.batch.max_length; }
  bool has_far() const { return !training_.empty() && !training_.front().far.empty(); }

  // @param cut  counts the texts that lose their end; may be null
  std::unique_ptr<data::PairGroups> groups_of(const std::vector<TabPair>& pairs, const data::Vocabulary& vocabulary,
                                              const TrainOptions& options, uint64_t* cut) const {
    check_frame(vocabulary);
    const auto ids_of = [&](const std::string& text) {
      data::EncoderInput input = data::encoder_input(vocabulary, {text, std::nullopt}, options.batch.max_length);
      if (cut != nullptr) {
        *cut += input.is_cut ? 1 : 0;
      }
      return std::move(input.ids);
    };
    std::vector<data::EncodedTexts> encoded;
    for (const TabPair& pair : pairs) {
      encoded.push_back({ids_of(pair.input), ids_of(pair.target), pair.place});
      if (!pair.far.empty()) {
        encoded.back().far = ids_of(pair.far);
      }
    }
    return std::make_unique<data::PairGroups>(
        std::move(encoded),
        data::PairGroupOptions{options.whole_texts.group_pairs, options.batch.max_length, options.run.seed});
  }

  std::vector<TabPair> training_, validation_;
  uint64_t cut_ = 0;
};

}  // namespace

void check_embed(const TrainOptions& options) {
  base::check_usage(
      !options.text.empty() || !options.source.empty(),
      "train: task embed learns from pairs of texts; name them with --text, a tab between the texts of "
      "a line, and a third one that is far from the first if there is one, or with --source and --target");
  const auto check_one = [](const Files& text, const Files& source, const char* flags) {
    base::check_usage(text.empty() || source.empty(), "train: {} both name pairs of texts; leave one out", flags);
  };
  check_one(options.text, options.source, "--text and --source");
  check_one(options.valid_text, options.valid_source, "--valid-text and --valid-source");
  base::check_usage(!options.loss.two_passes(), "train: --rdrop and --simcut are not made for task embed");
  base::check_usage(options.loss.label_smoothing == preset_options(options.preset, options.task).loss.label_smoothing,
                    "train: --label-smoothing is of no use to task embed; leave it out");
}

std::unique_ptr<Task> make_embed_task(const TrainOptions& options) {
  return std::make_unique<EmbedTask>(options);
}

}  // namespace dragoman::training
