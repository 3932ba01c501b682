#include "nn/context.h"

#include <gtest/gtest.h>

#include "small_layers.h"

namespace dragoman::nn {
namespace {

TEST(ForwardContext, DropoutIsOffUnlessTraining) {
  EXPECT_EQ(ForwardContext{}.dropout(0.5F, 1).probability, 0.0F);
  EXPECT_EQ(training_context().dropout(0.5F, 1).probability, 0.5F);
}

TEST(ForwardContext, AMaskIsKeyedBySeedStepSiteAndRow) {
  const kernels::Dropout dropout = from_row(100, 3).dropout(0.5F, 11);
  EXPECT_EQ(dropout.seed, 7U);
  EXPECT_EQ(dropout.step, 3U);
  EXPECT_EQ(dropout.site, 11U);
  EXPECT_EQ(dropout.first_row, 100);
}

TEST(ForwardContext, ASecondPassHasOtherMasks) {
  ForwardContext second = training_context(3);
  second.pass = 1;
  EXPECT_EQ(second.dropout(0.5F, 11).step, (uint32_t{1} << 31U) + 3U) << "beyond every step";
}

// Written into no file, but a resumed run must draw the masks of the run that never stopped.
TEST(DropoutSite, IsTheHashOfThePath) {
  EXPECT_EQ(dropout_site(""), 0x811c9dc5U);
  EXPECT_EQ(dropout_site("a"), 0xe40c292cU);
  EXPECT_EQ(dropout_site("foobar"), 0xbf9cf968U);
  EXPECT_NE(dropout_site("encoder.layers.0"), dropout_site("encoder.layers.1"));
}

}  // namespace
}  // namespace dragoman::nn
