#include "base/hash.h"

#include <gtest/gtest.h>

namespace dragoman::base {
namespace {

// The values of the test vectors in draft-eastlake-fnv.
TEST(Hash, PublishedValues) {
  static_assert(fnv1a_64("") == 0xcbf29ce484222325U);
  static_assert(fnv1a_64("a") == 0xaf63dc4c8601ec8cU);
  static_assert(fnv1a_64("foobar") == 0x85944171f73967e8U);
  static_assert(fnv1a_32("") == 0x811c9dc5U);
  static_assert(fnv1a_32("a") == 0xe40c292cU);
  static_assert(fnv1a_32("foobar") == 0xbf9cf968U);
}

TEST(Hash, BytesAboveAsciiCountAsUnsigned) {
  EXPECT_EQ(fnv1a_64("\xFF"), Fnv1a64{}.add(static_cast<unsigned char>(0xFF)).value());
}

TEST(Hash, NumbersCountLowestByteFirst) {
  EXPECT_EQ(Fnv1a64{}.add_little_endian(0x64636261U).value(), fnv1a_64("abcd"));
}

}  // namespace
}  // namespace dragoman::base
