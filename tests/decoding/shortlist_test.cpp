// The shortlist as a list: what it allows, how it is learned, its file.
#include "decoding/shortlist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "data/encoded_corpus.h"
#include "decoding/shortlist_learner.h"
#include "id_phrases.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"
#include "tensor/safetensors.h"
#include "tiny_vocabulary.h"

namespace dragoman::decoding {
namespace {

using base::ErrorKind;
using test_support::expect_error;
using testing::ElementsAre;

constexpr const char* kFile = "m/shortlist.safetensors";

Shortlist small_list() {
  return {20, {5, 9}, {{}, {}, {}, {}, {4, 19}, {7}, {}}};
}

TEST(Shortlist, AllowsSpecialFrequentListedAndDemandedPieces) {
  const Shortlist list = small_list();
  const std::vector<int32_t> source = {4, 5, 4, 3};
  EXPECT_THAT(list.allowed({}, {}), ElementsAre(0, 1, 2, 3, 5, 9));
  EXPECT_THAT(list.allowed(source, {}), ElementsAre(0, 1, 2, 3, 4, 5, 7, 9, 19));
  SentenceRequest request;
  request.prefix = {18, 5};
  request.phrases = phrases_of({{12, 13}, {11}});
  EXPECT_THAT(list.allowed({}, request), ElementsAre(0, 1, 2, 3, 5, 9, 11, 12, 13, 18));
}

TEST(Shortlist, IsReadAsItWasWritten) {
  for (const Shortlist& list : {small_list(), Shortlist(4, {}, {{}})}) {
    const Shortlist read = Shortlist::from_bytes(list.to_bytes(), kFile, list.pieces());
    EXPECT_EQ(read.to_bytes(), list.to_bytes());
    EXPECT_TRUE(std::ranges::equal(read.frequent(), list.frequent()));
    for (int32_t source = 0; source < list.pieces().source; ++source) {
      EXPECT_TRUE(std::ranges::equal(read.list(source), list.list(source))) << "source piece " << source;
    }
  }
}

TEST(Shortlist, OfAnotherModelIsRefused) {
  const std::string bytes = small_list().to_bytes();
  expect_error(ErrorKind::kBadData, {kFile, "is for 7 source and 20 target pieces", "the model has 7 and 30"}, [&] {
    Shortlist::from_bytes(bytes, kFile, {7, 30});
  });
  expect_error(ErrorKind::kBadData, {"the model has 8 and 20"}, [&] { Shortlist::from_bytes(bytes, kFile, {8, 20}); });
}

// A file with these tensors, one of them put in place of the right one.
void expect_refused(const std::string& name, const tensor::Tensor& wrong, const std::string& why) {
  const Shortlist list = small_list();
  tensor::NamedTensors tensors = tensor::read_safetensors(list.to_bytes(), kFile);
  tensors[name] = wrong;
  const std::string bytes = tensor::make_safetensors(tensors).bytes();
  expect_error(ErrorKind::kBadData, {kFile, why}, [&] { Shortlist::from_bytes(bytes, kFile, list.pieces()); });
}

TEST(Shortlist, DamageIsRefused) {
  const auto ids = [](const std::vector<int32_t>& values) {
    return tensor::Tensor::from(values, {static_cast<int64_t>(values.size())});
  };
  expect_refused("starts", ids({0, 0, 0, 0, 0, 3, 2, 3}), "starts do not rise");
  expect_refused("starts", ids({0, 0, 0, 0, 0, 2, 3, 4}), "starts do not rise from 0 to 3");
  expect_refused("starts", ids({-1, 0, 0, 0, 0, 2, 3, 3}), "starts do not rise");
  expect_refused("starts", tensor::Tensor::zeros({8}), "no vector of I32 named starts");
  expect_refused("targets", ids({4, 20, 7}), "the pieces of source piece 4 do not rise from 0 to 19");
  expect_refused("targets", ids({4, 4, 7}), "the pieces of source piece 4 do not rise");
  expect_refused("targets", ids({-4, 4, 7}), "the pieces of source piece 4 do not rise");
  expect_refused("frequent", ids({9, 5}), "frequent pieces do not rise");
  expect_refused("target_pieces", tensor::Tensor::zeros({1, 1}, tensor::DType::kInt32), "named target_pieces");
  expect_error(ErrorKind::kBadData, {kFile}, [&] { Shortlist::from_bytes("{}", kFile, {7, 20}); });
  expect_error(ErrorKind::kBadData, {kFile, "named target_pieces"}, [&] {
    Shortlist::from_bytes(tensor::make_safetensors({{"starts", ids({0})}}).bytes(), kFile, {0, 20});
  });
}

// Lines of the random language, and their words one by one in another order of the same words.
class LearnedShortlists : public testing::Test {
 protected:
  LearnedShortlists() {
    base::Random random(5);
    for (uint64_t line = 0; line < 800; ++line) {
      data::SentencePair pair{line, {}, {}};
      for (uint64_t word = 0, words = 1 + random.below(6); word < words; ++word) {
        const uint64_t number = random.below(kWords.size());
        append(pair.source, number);
        append(pair.target, (number + 3) % kWords.size());
      }
      pair.source.push_back(data::kEosId);
      pairs_.push_back(std::move(pair));
    }
  }
  static void append(std::vector<int32_t>& ids, uint64_t word) {
    for (const int32_t id : vocabulary().encode(kWords[word])) {
      ids.push_back(id);
    }
  }
  LearnedShortlist learn(const ShortlistOptions& options) const {
    return learn_shortlist({pairs_.size(), [this](uint64_t i) { return pairs_[i]; }}, {vocabulary(), vocabulary()},
                           options);
  }
  std::vector<data::SentencePair> pairs_;
};

TEST_F(LearnedShortlists, HoldTheTranslationsOfWordsAndTheWordsThemselves) {
  ShortlistOptions options;
  options.frequent = 0;
  options.best = 6;
  const LearnedShortlist learned = learn(options);
  EXPECT_TRUE(learned.shortlist.frequent().empty());
  EXPECT_EQ(learned.pairs_used, pairs_.size());
  EXPECT_GT(learned.covered, 0.99) << "share of what was translated that is allowed";
  EXPECT_LT(learned.mean_allowed, 0.8 * vocabulary().size()) << "the lists allow nearly everything";
  for (int32_t id = 4; id < vocabulary().size(); ++id) {
    EXPECT_TRUE(std::ranges::binary_search(learned.shortlist.list(id), id)) << "piece " << vocabulary().piece(id);
    EXPECT_LE(learned.shortlist.list(id).size(), 7U) << "6 translations and itself: " << vocabulary().piece(id);
  }
}

TEST_F(LearnedShortlists, GrowWithTheirOptions) {
  ShortlistOptions options;
  options.frequent = 3;
  options.best = 1;
  const LearnedShortlist small = learn(options);
  options.frequent = 5;
  options.best = 3;
  const LearnedShortlist large = learn(options);
  EXPECT_EQ(small.shortlist.frequent().size(), 3U);
  EXPECT_TRUE(std::ranges::includes(large.shortlist.frequent(), small.shortlist.frequent()));
  for (int32_t id = 0; id < vocabulary().size(); ++id) {
    EXPECT_TRUE(std::ranges::includes(large.shortlist.list(id), small.shortlist.list(id))) << "source piece " << id;
  }
  EXPECT_GE(large.covered, small.covered);
  EXPECT_GT(large.mean_allowed, small.mean_allowed);
}

TEST_F(LearnedShortlists, AreTheSameBytesWithAnyNumberOfWorkers) {
  ShortlistOptions options;
  const std::string alone = learn(options).shortlist.to_bytes();
  for (const int workers : {2, 5}) {
    options.alignment.workers = workers;
    EXPECT_EQ(learn(options).shortlist.to_bytes(), alone) << workers << " workers";
  }
}

TEST(ShortlistOptions, AreChecked) {
  ShortlistOptions options;
  options.best = 0;
  expect_error(ErrorKind::kUsage, {"best is 0, must be 1 to 100000"}, [&] { options.check(); });
  options = {};
  options.frequent = -1;
  expect_error(ErrorKind::kUsage, {"frequent is -1, must be 0 to 1000000"}, [&] { options.check(); });
}

}  // namespace
}  // namespace dragoman::decoding
