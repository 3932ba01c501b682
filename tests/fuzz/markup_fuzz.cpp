// Any bytes as HTML or XML to translate: read, given to a translator that copies, and put together again.
#include "../serving/markup_rules.h"
#include "fuzz.h"

namespace {

using namespace dragoman;

}  // namespace

// The first byte says which of the two it is, and whether some elements are left alone.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  serving::MarkupOptions options{.is_xml = data[0] % 2 != 0};
  options.left_alone = data[0] % 4 < 2 ? std::vector<std::string>() : std::vector<std::string>{"x", "b"};
  const std::string text = base::repair_utf8(fuzz::text_of(data + 1, size - 1));
  fuzz::read_or_refuse([&] {
    const std::string broken = test_support::broken_markup_rule(text, options);
    fuzz::require(broken.empty(), broken.c_str());
  });
  return 0;
}
