// Any bytes as the body of a completion and of a chat: what is read has options that the generator takes.
#include "base/utf8.h"
#include "fuzz.h"
#include "serving/routes/chat_request.h"

namespace {

using namespace dragoman;

void look_at(const serving::CompletionRequest& asked, const serving::TextLimits& limits) {
  asked.options.check();
  fuzz::require(asked.n >= 1 && asked.max_tokens >= 0 && asked.max_tokens <= serving::kMostNewTokens,
                "numbers are in range");
  fuzz::require(asked.options.stop.size() <= serving::kMostStops, "stop strings are few");
  fuzz::require(asked.is_chat ? asked.prompts.empty() && !asked.messages.empty() : !asked.prompts.empty(),
                "there is something to read");
  for (const serving::SentText& prompt : asked.prompts) {
    fuzz::require(base::is_valid_utf8(prompt.text), "prompts are UTF-8");
  }
  for (const data::ChatMessage& message : asked.messages) {
    fuzz::require(base::is_valid_utf8(message.content), "messages are UTF-8");
  }
  fuzz::require(asked.prompts.size() <= limits.texts && asked.messages.size() <= serving::kMostMessages, "limits hold");
}

template <class Read>
void read_or_refuse(Read read) {
  try {
    look_at(read(), {});
  } catch (const serving::HttpError& error) {
    fuzz::require(error.status() == serving::status::kBadRequest, "a body that is not read gets 400");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  const serving::Request request{.method = "POST",
                                 .path = "/v1/completions",
                                 .headers = {{"Content-Type", "application/json"}},
                                 .body = fuzz::text_of(data, size)};
  read_or_refuse([&] { return serving::completion_request(request, {}); });
  read_or_refuse([&] { return serving::chat_request(request, {}); });
  return 0;
}
