#include "training/rank_agreement.h"

#include <gtest/gtest.h>

#include <set>

namespace dragoman::training {
namespace {

// Another value than the one that is there.
template <typename Value>
Value other_than(const Value& value) {
  if constexpr (base::Chosen<Value>) {
    for (const std::string& name : base::choices<Value>()) {
      if (name != base::name_of(value)) {
        return base::from_name<Value>(name);
      }
    }
    return value;
  } else if constexpr (std::is_same_v<Value, bool>) {
    return !value;
  } else if constexpr (std::is_arithmetic_v<Value>) {
    return value + 1;
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return value + "x";
  } else {
    return typename Value::value_type{};
  }
}

std::string facts_of(const TrainOptions& options) {
  std::string text;
  for (const SharedFact& fact : facts_to_share(options, "", "")) {
    text += fact.name + " " + fact.value + "\n";
  }
  return text;
}

TEST(RankAgreement, EveryOptionIsComparedUnlessItIsTheLeadersOrEachProcesssOwn) {
  const TrainOptions usual;
  std::set<std::string> free;  // may differ
  base::for_each_part<TrainOptions>([&](auto part) {
    base::PartOf<TrainOptions, decltype(part)>::fields([&](const auto& field) {
      TrainOptions changed;
      auto& value = std::invoke(part, changed).*field.member;
      value = other_than(value);
      const bool differs = facts_of(changed) != facts_of(usual);
      EXPECT_EQ(differs, field.across == base::AcrossProcesses::kSame) << field.name;
      if (!differs) {
        free.insert(field.name);
      }
    });
  });
  EXPECT_EQ(free, (std::set<std::string>{"average_best", "cache_megabytes", "keep_best", "keep_last", "log_every",
                                         "rank_timeout", "recompute"}))
      << "what may differ must be tried in integration_train_ranks";
}

TEST(RankAgreement, APlanOfMemoryIsMadeByAllOrNone) {
  TrainOptions planned;
  planned.run.memory = 1 << 30;
  EXPECT_NE(facts_of(planned), facts_of({}));
  TrainOptions more = planned;
  more.run.memory = 2 << 30;
  EXPECT_EQ(facts_of(planned), facts_of(more)) << "each process has memory of its own";
}

}  // namespace
}  // namespace dragoman::training
