// Names of enumerators: there and back, in lists, and refused.
#include "base/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error_of.h"

namespace dragoman {
namespace {

enum class Colour { kRed, kGreen, kInvisible };

constexpr base::Names<Colour> names_of(Colour) {
  return {"colour", {{Colour::kRed, "red"}, {Colour::kGreen, "green"}}};
}

enum class Nameless { kOne };

static_assert(base::Named<Colour> && base::Chosen<Colour> && base::Chosen<std::optional<Colour>>);
static_assert(!base::Named<Nameless> && !base::Named<int> && !base::Chosen<std::optional<int>>);
static_assert(base::name_of(Colour::kGreen) == "green", "names are known when a program is compiled");

TEST(Names, GoThereAndBack) {
  for (const auto& [value, name] : names_of(Colour{})) {
    EXPECT_EQ(base::name_of(value), name);
    EXPECT_EQ(base::from_name<Colour>(name), value);
  }
}

TEST(Names, AnEmptyOptionalIsAuto) {
  using Maybe = std::optional<Colour>;
  EXPECT_EQ(base::name_of(Maybe()), "auto");
  EXPECT_EQ(base::name_of(Maybe(Colour::kRed)), "red");
  EXPECT_EQ(base::from_name<Maybe>("auto"), std::nullopt);
  EXPECT_EQ(base::from_name<Maybe>("red"), Colour::kRed);
}

TEST(Names, ChoicesStandInTheOrderOfTheTable) {
  EXPECT_THAT(base::choices<Colour>(), testing::ElementsAre("red", "green"));
  EXPECT_THAT(base::choices<std::optional<Colour>>(), testing::ElementsAre("auto", "red", "green"));
}

TEST(Names, AnUnknownNameIsRefusedWithTheChoices) {
  EXPECT_EQ(test_support::error_of([] { base::from_name<Colour>("blue"); }),
            "colour is \"blue\", must be one of red, green");
  EXPECT_EQ(test_support::error_of([] { base::from_name<Colour>("auto"); }),
            "colour is \"auto\", must be one of red, green");
  EXPECT_EQ(test_support::error_of([] { base::from_name<std::optional<Colour>>(""); }),
            "colour is \"\", must be one of auto, red, green");
}

TEST(Names, AnEnumeratorWithoutARowIsCalledNone) {
  EXPECT_EQ(base::name_of(Colour::kInvisible), "none");
}

}  // namespace
}  // namespace dragoman
