#include "base/manifest.h"

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "support/expect_error.h"

namespace dragoman::base {
namespace {

using test_support::expect_error;

Manifest sample() {
  Manifest manifest;
  manifest.files["config.json"] = {.size = 17, .sha256 = sha256_hex("a")};
  manifest.files["model.safetensors"] = {.size = uint64_t{1} << 40, .sha256 = sha256_hex("b")};
  return manifest;
}

TEST(Manifest, TextAndBack) {
  EXPECT_EQ(manifest_from_text(to_text(sample()), "m"), sample());
  EXPECT_EQ(manifest_from_text(to_text({}), "m"), Manifest{});
}

TEST(Manifest, EveryFlippedBitAndEveryCutIsFound) {
  const std::string text = to_text(sample());
  for (size_t byte = 0; byte < text.size(); ++byte) {
    expect_error(ErrorKind::kBadData, {"m/manifest.json"},
                 [&] { manifest_from_text(std::string_view(text).substr(0, byte), "m/manifest.json"); });
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = text;
      damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << bit));
      expect_error(ErrorKind::kBadData, {"m/manifest.json"}, [&] { manifest_from_text(damaged, "m/manifest.json"); });
    }
  }
}

TEST(Manifest, NamesThatCouldLeadOutAreRefused) {
  for (const char* name : {"", ".", "..", "../a", "/etc/passwd", "a/b", "a\\b", ".hidden", "manifest.json", "a b",
                           "a\n", "\xC3\xBC", "a%2e"}) {
    EXPECT_FALSE(is_file_name(name)) << name;
    Manifest manifest = sample();
    manifest.files[name] = {.size = 1, .sha256 = sha256_hex("c")};
    expect_error(ErrorKind::kBadData, {"m: "}, [&] { manifest_from_text(to_text(manifest), "m"); });
  }
  EXPECT_FALSE(is_file_name(std::string(129, 'a')));
  EXPECT_TRUE(is_file_name(std::string(128, 'a')));
  EXPECT_TRUE(is_file_name("model-00001_of.safetensors"));
}

TEST(Manifest, OtherVersionsAndFormatsAreNamed) {
  expect_error(ErrorKind::kBadData, {"m: ", "version 2", "reads 1"},
               [] { manifest_from_text(R"({"format": "dragoman-folder", "version": 2, "files": {}})", "m"); });
  expect_error(ErrorKind::kBadData, {"m: ", "not a manifest"}, [] { manifest_from_text("[]", "m"); });
  expect_error(ErrorKind::kBadData, {"m: ", "not a manifest"}, [] { manifest_from_text(R"({"format": 1})", "m"); });
}

}  // namespace
}  // namespace dragoman::base
