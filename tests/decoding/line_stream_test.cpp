#include "decoding/line_stream.h"

#include <gtest/gtest.h>

#include "tiny_vocabulary.h"

namespace dragoman::decoding {
namespace {

using Ids = std::vector<int32_t>;

class Lines : public testing::Test {
 protected:
  std::function<bool(const StreamedToken&)> ear() {
    return [this](const StreamedToken& token) {
      EXPECT_EQ(token.position, heard_.size());
      EXPECT_EQ(token.piece, vocabulary().piece(token.id));
      heard_.push_back(token.id);
      text_ = token.text;
      return heard_.size() < limit_;
    };
  }

  Ids heard_;
  std::string text_;
  size_t limit_ = 1000;
};

Ids joined(std::initializer_list<Ids> parts) {
  Ids all;
  for (const Ids& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

TEST_F(Lines, PartsAreToldOfInTheirOrderAsSoonAsThoseBeforeHaveEnded) {
  const Ids red = vocabulary().encode("the red cat");
  const Ids dog = vocabulary().encode("a dog");
  const Ids mouse = vocabulary().encode("mouse");
  LineStream stream(ear(), vocabulary(), 3);
  EXPECT_TRUE(stream.take(0, std::span(red).first(1), false));
  EXPECT_EQ(heard_, Ids(red.begin(), red.begin() + 1)) << "the first part is told of at once";
  EXPECT_TRUE(stream.take(2, mouse, true));
  EXPECT_TRUE(stream.take(1, std::span(dog).first(1), false));
  EXPECT_EQ(heard_.size(), 1U) << "later parts wait";
  EXPECT_TRUE(stream.take(0, std::span(red).subspan(1), true));
  EXPECT_EQ(heard_, joined({red, {dog.front()}})) << "what the next part has follows";
  EXPECT_TRUE(stream.take(1, std::span(dog).subspan(1), true));
  EXPECT_EQ(heard_, joined({red, dog, mouse}));
  EXPECT_EQ(text_, "the red cat a dog mouse");
  stream.end();
  EXPECT_EQ(heard_.size(), red.size() + dog.size() + mouse.size()) << "nothing is told twice";
}

TEST_F(Lines, APartThatNeverBeganHoldsTheOthersBackUntilTheEnd) {
  const Ids red = vocabulary().encode("red");
  LineStream stream(ear(), vocabulary(), 3);
  EXPECT_TRUE(stream.take(2, red, true));
  EXPECT_TRUE(stream.take(0, {}, true));
  EXPECT_EQ(heard_, Ids());
  stream.end();
  EXPECT_EQ(heard_, red);
  EXPECT_EQ(text_, "red") << "no space for parts without text";
}

TEST_F(Lines, WhoIsCancelledHearsNoMore) {
  const Ids red = vocabulary().encode("the red cat");
  limit_ = 2;
  LineStream stream(ear(), vocabulary(), 2);
  EXPECT_TRUE(stream.take(1, red, true));
  EXPECT_FALSE(stream.take(0, red, true));
  EXPECT_FALSE(stream.take(1, {}, true));
  stream.end();
  EXPECT_EQ(heard_, Ids(red.begin(), red.begin() + 2));
}

}  // namespace
}  // namespace dragoman::decoding
