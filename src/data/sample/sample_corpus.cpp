#include "data/sample/sample_corpus.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "data/sample/chinese_patterns.h"
#include "data/sample/make_grammar.h"

namespace dragoman::data {

namespace {

using WordSet = std::unordered_set<std::string>;

enum class Part { kTrain, kValid, kTest };

// Streams of random numbers, one for each purpose.
constexpr uint64_t kTrainStream = 1;
constexpr uint64_t kHeldOutStream = 2;

// From this size on all words of the lexicon are used; below, one noun of each class for each 200 sentences.
constexpr int64_t kFullLexiconSize = 10'000;
constexpr int64_t kSentencesPerNoun = 200;

int64_t test_size(int64_t size) {
  return std::clamp<int64_t>(size / 20, 10, 1'000);
}
int64_t valid_size(int64_t size) {
  return std::clamp<int64_t>(size / 40, 10, 500);
}

size_t class_limit(int64_t size) {
  return size >= kFullLexiconSize ? 0 : size_t(std::max<int64_t>(3, size / kSentencesPerNoun));
}

bool is_chinese(std::string_view pair) {
  return pair.find("zh") != std::string_view::npos;
}

// The words of a sentence; of Chinese, which has no spaces, the characters.
std::vector<std::string> words_of(std::string_view sentence, bool by_character) {
  std::vector<std::string> words;
  if (by_character) {
    for (const char32_t c : base::decode_utf8(sentence)) {
      words.push_back(base::encode_utf8(std::u32string(1, c)));
    }
    return words;
  }
  const std::vector<std::string_view> parts = sample::split_words(sentence);
  words.assign(parts.begin(), parts.end());
  return words;
}

void check_options(const SampleCorpusOptions& options) {
  base::check_range("sample-corpus: --size", static_cast<double>(options.size), kSampleCorpusMinSize,
                    kSampleCorpusMaxSize);
}

// Draws sentence pairs, keeps the new ones and sends each to the part that its key belongs to.
class CorpusMaker {
 public:
  explicit CorpusMaker(const SampleCorpusOptions& options)
      : options_(options),
        lexicon_(class_limit(options.size)),
        grammar_(sample::make_grammar(options.pair, lexicon_)),
        example_(grammar_->well_known_example()) {}

  SampleCorpus make() {
    SampleCorpus corpus;
    const int64_t n_test = test_size(options_.size);
    const int64_t n_valid = valid_size(options_.size);
    fill_train(corpus.train, size_t(options_.size - n_test - n_valid));
    for (const sample::SamplePair& pair : corpus.train) {
      english_words_.merge(set_of(words_of(pair.english, false)));
      other_words_.merge(set_of(words_of(pair.other, is_chinese(options_.pair))));
    }
    for (const sample::SamplePair& pair : example_) {
      add_held_out(corpus.test, pair);
    }
    fill_held_out(corpus, size_t(n_valid), size_t(n_test));
    return corpus;
  }

 private:
  void fill_train(std::vector<sample::SamplePair>& train, size_t wanted) {
    base::Random random(options_.seed, kTrainStream);
    for (int64_t attempt = 0; train.size() < wanted; ++attempt) {
      check_attempts(attempt);
      for (sample::SamplePair& pair : grammar_->draw(random)) {
        if (train.size() < wanted && part_of(pair.key) == Part::kTrain && is_new(pair)) {
          train.push_back(std::move(pair));
        }
      }
    }
  }

  void fill_held_out(SampleCorpus& corpus, size_t n_valid, size_t n_test) {
    base::Random random(options_.seed, kHeldOutStream);
    for (int64_t attempt = 0; corpus.valid.size() < n_valid || corpus.test.size() < n_test; ++attempt) {
      check_attempts(attempt);
      for (const sample::SamplePair& pair : grammar_->draw(random)) {
        const Part part = part_of(pair.key);
        if (part == Part::kValid && corpus.valid.size() < n_valid) {
          add_held_out(corpus.valid, pair);
        } else if (part == Part::kTest && corpus.test.size() < n_test) {
          add_held_out(corpus.test, pair);
        }
      }
    }
  }

  void add_held_out(std::vector<sample::SamplePair>& part, const sample::SamplePair& pair) {
    if (all_known(words_of(pair.english, false), english_words_) &&
        all_known(words_of(pair.other, is_chinese(options_.pair)), other_words_) && is_new(pair)) {
      part.push_back(pair);
    }
  }

  // Small corpora have few keys, so more of them are held out.
  Part part_of(const std::string& key) const {
    if (key == example_.front().key) {
      return Part::kTest;
    }
    const double share = options_.size < 2'000 ? 0.2 : 0.06;
    const double place = base::Random(options_.seed, base::fnv1a_64(key)).uniform();
    return place < share ? Part::kTest : place < 2 * share ? Part::kValid : Part::kTrain;
  }

  // Remembers the pair. Both sides must be new.
  bool is_new(const sample::SamplePair& pair) {
    if (seen_.contains(pair.english) || seen_.contains(pair.other)) {
      return false;
    }
    seen_.insert(pair.english);
    seen_.insert(pair.other);
    return true;
  }

  static WordSet set_of(const std::vector<std::string>& words) { return {words.begin(), words.end()}; }

  static bool all_known(const std::vector<std::string>& words, const WordSet& known) {
    return std::ranges::all_of(words, [&](const std::string& word) { return known.contains(word); });
  }

  void check_attempts(int64_t attempt) const {
    base::check(attempt < 100 * kSampleCorpusMaxSize, base::ErrorKind::kRuntime,
                "sample-corpus: --size {} --seed {}: the grammar yields too few different sentences; try another seed",
                options_.size, options_.seed);
  }

  const SampleCorpusOptions& options_;
  sample::Lexicon lexicon_;
  std::unique_ptr<sample::Grammar> grammar_;
  std::vector<sample::SamplePair> example_;
  WordSet seen_, english_words_, other_words_;
};

// Where the word "it" (upper or lower case) stands in the sentence.
void find_it(std::string_view english, PronounRow& row) {
  const std::vector<std::string_view> words = sample::split_words(english);
  const auto found = std::ranges::find_if(words, [](std::string_view word) {
    return word == "it" || word == "It" || word == "it." || word == "it," || word == "it?";
  });
  base::check_argument(found != words.end(), "sample-corpus: no 'it' in '{}'", english);
  row.it_word = found - words.begin();
  row.it_byte = found->data() - english.data();
}

// Where the clause begins that lacks the pronoun: behind the word that joins it.
void find_clause(std::string_view chinese, PronounRow& row) {
  for (const sample::Rendering& connective : sample::kChineseConnectives) {
    if (const size_t at = chinese.find(connective.chinese); at != std::string_view::npos) {
      row.it_byte = static_cast<int64_t>(at + connective.chinese.size());
      return;
    }
  }
  base::fail(base::ErrorKind::kRuntime, "sample-corpus: no joined clause in '{}'", chinese);
}

std::vector<PronounRow> pronoun_rows(const std::vector<sample::SamplePair>& test, bool from_chinese) {
  std::vector<PronounRow> rows;
  for (size_t i = 0; i < test.size(); ++i) {
    if (const auto& coreference = test[i].coreference; coreference.has_value()) {
      PronounRow row;
      row.line = int64_t(i) + 1;
      row.pronoun = coreference->pronoun;
      row.antecedent_english = coreference->antecedent_english;
      row.antecedent_other = coreference->antecedent_other;
      row.rival_english = coreference->rival_english;
      row.rival_other = coreference->rival_other;
      row.pattern = coreference->pattern;
      if (from_chinese) {
        find_clause(test[i].other, row);
      } else {
        find_it(test[i].english, row);
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

void write_part(const SampleCorpusOptions& options, const std::string& name,
                const std::vector<sample::SamplePair>& part) {
  std::string english, other;
  for (const sample::SamplePair& pair : part) {
    english += pair.english + '\n';
    other += pair.other + '\n';
  }
  base::write_file_atomic(options.output / (name + ".en"), english);
  base::write_file_atomic(options.output / (name + (is_chinese(options.pair) ? ".zh" : ".de")), other);
}

int64_t count_words(const std::vector<sample::SamplePair>& part, std::string sample::SamplePair::*side,
                    bool by_character) {
  WordSet words;
  for (const sample::SamplePair& pair : part) {
    for (const std::string& word : words_of(pair.*side, by_character)) {
      words.insert(word.substr(0, word.find_last_not_of(".,?") + 1));
    }
  }
  return int64_t(words.size());
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  base::check(!error, base::ErrorKind::kCannotWrite, "{}: cannot make the folder: {}; choose another --output",
              folder.string(), error.message());
}

}  // namespace

SampleCorpus make_sample_corpus(const SampleCorpusOptions& options) {
  check_options(options);
  return CorpusMaker(options).make();
}

SampleCorpusSummary write_sample_corpus(const SampleCorpusOptions& options) {
  const SampleCorpus corpus = make_sample_corpus(options);
  const std::vector<PronounRow> rows = pronoun_rows(corpus.test, options.pair.starts_with("zh"));
  make_folder(options.output);
  write_part(options, "train", corpus.train);
  write_part(options, "valid", corpus.valid);
  write_part(options, "test", corpus.test);
  base::write_file_atomic(options.output / kPronounFileName,
                          format_pronoun_rows(rows, is_chinese(options.pair) ? "zh" : "de"));
  return {int64_t(corpus.train.size()),
          int64_t(corpus.valid.size()),
          int64_t(corpus.test.size()),
          int64_t(rows.size()),
          count_words(corpus.train, &sample::SamplePair::english, false),
          count_words(corpus.train, &sample::SamplePair::other, is_chinese(options.pair))};
}

}  // namespace dragoman::data
