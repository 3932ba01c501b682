// Any bytes as a chat template, or as chat.json: what is read makes a text of bounded length, or refuses.
#include "base/utf8.h"
#include "data/chat/chat_template.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  using namespace dragoman;
  const std::string text = fuzz::text_of(data, size);
  constexpr size_t kMostBytes = size_t{256} << 20;
  const std::vector<data::ChatMessage> messages = {
      {"system", "be kind"}, {"user", "a <b> \u4f60"}, {"assistant", " yes\n"}, {"user", "", "me"}};
  const auto use = [&](const data::ChatFile& file) {
    const std::string made = data::ChatTemplate(file, "chat.json").text_of(messages);
    fuzz::require(base::is_valid_utf8(made) && made.size() < kMostBytes, "a text is UTF-8 of bounded length");
  };
  fuzz::read_or_refuse([&] { use(data::chat_file_from_json(text, "chat.json")); });
  if (base::is_valid_utf8(text)) {
    fuzz::read_or_refuse([&] { use({text, {{"bos_token", "<s>"}, {"eos_token", "</s>"}}}); });
  }
  return 0;
}
