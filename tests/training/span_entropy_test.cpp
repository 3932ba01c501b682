// Span corruption against the best that any model can do: the conditional entropy of the hidden spans of texts whose
// probabilities are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <unordered_map>

#include "data/sample/lexicon.h"
#include "data/sample/make_grammar.h"
#include "data/text/text_file.h"
#include "data/vocabulary/sentinels.h"
#include "report/metrics_log.h"
#include "support/temporary_folder.h"
#include "training/presets.h"
#include "training/span_posterior.h"
#include "training/text_to_text_task.h"
#include "training/trainer.h"

namespace dragoman::training {
namespace {

using Parts = std::vector<std::vector<int32_t>>;

// A corrupted text as what was kept before each span, and the spans.
std::pair<Parts, Parts> parts_of(const data::SentencePair& pair, const std::vector<int32_t>& sentinels, int32_t eos) {
  const auto is_sentinel = [&](int32_t id) { return std::ranges::find(sentinels, id) != sentinels.end(); };
  Parts kept(1), gone;
  for (const int32_t id : pair.source) {
    if (is_sentinel(id)) {
      kept.emplace_back();
    } else if (id != eos) {
      kept.back().push_back(id);
    }
  }
  EXPECT_TRUE(kept.back().empty()) << "a text ends with a span";
  kept.pop_back();
  for (const int32_t id : pair.target) {
    if (is_sentinel(id)) {
      gone.emplace_back();
    } else {
      gone.back().push_back(id);
    }
  }
  return {kept, gone};
}

// Texts of two of three sentences, whose cuts are drawn many times: the posterior is the share of each target among the
// cuts with its input.
TEST(SpanEntropy, ThePosteriorIsTheShareOfDraws) {
  const std::vector<std::vector<int32_t>> sentences = {{1, 2, 3, 1, 2}, {1, 2, 2, 3, 1, 2, 1}, {1, 3, 3, 2}};
  const std::vector<uint64_t> counts = {5, 3, 2};
  SentenceTree tree;
  std::vector<size_t> drawn_from;
  for (size_t i = 0; i < sentences.size(); ++i) {
    tree.add(sentences[i], counts[i]);
    drawn_from.insert(drawn_from.end(), counts[i], i);
  }
  data::CorruptionOptions options;
  options.share = 0.4;
  options.mean_span = 2;
  const std::vector<int32_t> sentinels = {10, 11, 12, 13};
  const SpanPosterior posterior(tree, 2, options);

  base::Random random(1, 1);
  std::map<std::vector<int32_t>, std::map<std::vector<int32_t>, int>> targets;  // by input
  for (int draw = 0; draw < 400'000; ++draw) {
    std::vector<int32_t> text;
    for (int sentence = 0; sentence < 2; ++sentence) {
      const auto& one = sentences[drawn_from[random.below(drawn_from.size())]];
      text.insert(text.end(), one.begin(), one.end());
    }
    const data::CorruptedText cut = data::corrupt_spans(text, sentinels, options, random);
    ++targets[cut.input][cut.target];
  }
  int compared = 0;
  for (const auto& [input, of_input] : targets) {
    double all = 0;
    for (const auto& [target, count] : of_input) {
      all += count;
    }
    for (const auto& [target, count] : of_input) {
      if (all > 2000) {
        const auto [kept, gone] = parts_of({.source = input, .target = target}, sentinels, 0);
        const double share = count / all;
        EXPECT_NEAR(std::exp(-posterior.surprise(kept, gone)), share, 5 * std::sqrt(share / all) + 1e-3);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 20);
}

// Short sentences of the sample grammar: few enough that counts of draws are their probabilities.
class ShortSentences {
 public:
  ShortSentences(int max_words, uint64_t seed) : max_words_(max_words), random_(seed, 1) {}

  std::string next() {
    std::string sentence;
    do {
      const auto drawn = grammar_->draw(random_);
      sentence = drawn[random_.below(drawn.size())].english;
    } while (std::ranges::count(sentence, ' ') >= max_words_);
    return sentence;
  }

  std::string text(int sentences) {
    std::string text = next();
    for (int i = 1; i < sentences; ++i) {
      text += " " + next();
    }
    return text;
  }

 private:
  data::sample::Lexicon lexicon_{3};
  std::unique_ptr<data::sample::Grammar> grammar_ = data::sample::make_grammar("en-de", lexicon_);
  int max_words_;
  base::Random random_;
};

// A T5 that learns from texts of short sentences, and the entropy of what it validates on.
class SpanEntropyOfTheGrammar : public testing::Test {
 protected:
  struct Course {
    int words;      // of a sentence, at most
    int sentences;  // of a text
    int texts;
    int64_t steps;
    int draws;  // that the probabilities of sentences are counted from
  };

  // Returns the loss of the last validation, in nats a token of the targets, ends included.
  double loss_of(const Course& course) const {
    ShortSentences training(course.words, 1), validation(course.words, 2);
    write("text.txt", training, course.texts, course.sentences);
    write("valid.txt", validation, kValidationTexts, course.sentences);
    TrainOptions options = preset_options("t5-mini", "");
    options.text = {path("text.txt")};
    options.valid_text = {path("valid.txt")};
    options.model_folder = path("model");
    options.model = options.model.with<models::TransformerConfig>([](auto& shape) {
      shape.d_model = 128;
      shape.d_ff = 256;
      shape.encoder_layers = shape.decoder_layers = 2;
      shape.dropout = 0.0F;
    });
    options.vocabulary.size = 400;
    options.batch.batch_tokens = 1024;
    options.schedule = {ScheduleKind::kCosine, 1e-3, 200, course.steps, 0.01, 256};
    options.run.max_steps = course.steps;
    options.run.validate_every = std::min<int64_t>(course.steps, 4000);
    options.run.workers = 1;
    distributed::SingleProcess alone;
    std::ostringstream terminal;
    Trainer(options, nullptr, alone, terminal).run();
    const auto measured = report::read_metrics(path("model") / "metrics.jsonl").validation;
    for (const auto& each : measured) {
      std::cout << "update " << each.step << ": loss " << each.loss << "\n";
    }
    return measured.back().loss;
  }

  // Returns the conditional entropy of the validation targets in the same unit. Requires: loss_of(course) was called.
  double entropy_of(const Course& course) const {
    const data::Vocabulary vocabulary = data::Vocabulary::from_file(path("model") / "vocabulary.spm");
    ShortSentences drawn(course.words, 3);
    std::unordered_map<std::string, uint64_t> counts;
    for (int i = 0; i < course.draws; ++i) {
      ++counts[drawn.next()];
    }
    SentenceTree tree;
    for (const auto& [sentence, count] : counts) {
      tree.add(vocabulary.encode(sentence), count);
    }
    data::CorruptionOptions options;
    options.seed = kValidationSpanSeed;
    const SpanPosterior posterior(tree, course.sentences, options);
    const std::vector<int32_t> sentinels = data::sentinel_ids(vocabulary);
    const data::CorruptedWindows texts(data::encode_documents(data::read_lines(path("valid.txt")), vocabulary, 1),
                                       sentinels, vocabulary.special(), options);
    double nats = 0;
    int64_t tokens = 0;
    for (uint64_t i = 0; i < texts.size(); ++i) {
      const data::SentencePair pair = texts.pair(i, 0);
      const auto [kept, gone] = parts_of(pair, sentinels, vocabulary.special().eos.front());
      nats += posterior.surprise(kept, gone);
      tokens += pair.target_tokens();
    }
    return nats / static_cast<double>(tokens);
  }

 private:
  static constexpr int kValidationTexts = 1000;

  std::filesystem::path path(const char* name) const { return folder_.path() / name; }

  void write(const char* name, ShortSentences& sentences, int texts, int per_text) const {
    std::ofstream file(path(name));
    for (int i = 0; i < texts; ++i) {
      file << sentences.text(per_text) << "\n";
    }
  }

  test_support::TemporaryFolder folder_;
};

// A loss below the entropy would show a leak or a wrong mean.
TEST_F(SpanEntropyOfTheGrammar, NoModelIsBetterThanThePosterior) {
  const Course course{.words = 5, .sentences = 1, .texts = 20'000, .steps = 400, .draws = 200'000};
  const double loss = loss_of(course);
  const double entropy = entropy_of(course);
  std::cout << "loss " << loss << ", entropy " << entropy << "\n";
  EXPECT_GT(loss, 0.98 * entropy);
  EXPECT_LT(loss, 2.5 * entropy);
}

// Takes ten minutes: --gtest_also_run_disabled_tests --gtest_filter=*ReachesTheEntropy
TEST_F(SpanEntropyOfTheGrammar, DISABLED_ReachesTheEntropy) {
  const Course course{.words = 6, .sentences = 1, .texts = 800'000, .steps = 16'000, .draws = 3'000'000};
  const double loss = loss_of(course);
  const double entropy = entropy_of(course);
  std::cout << "loss " << loss << ", entropy " << entropy << "\n";
  EXPECT_GT(loss, 0.98 * entropy);
  EXPECT_LT(loss, 1.02 * entropy);
}

}  // namespace
}  // namespace dragoman::training
