#include "cli/chat_session.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/published_folder.h"
#include "decoding/load_chat.h"

namespace dragoman::cli {

ChatSession::ChatSession(const std::filesystem::path& folder, std::string system) : system_(std::move(system)) {
  base::read_published(folder, [&](const base::CheckedFolder& files) { template_ = decoding::load_chat(files); });
  base::check_usage(template_ != nullptr, "{}: has no chat template; leave out --chat", folder.string());
  begin_anew();
}

void ChatSession::begin_anew() {
  messages_.clear();
  if (!system_.empty()) {
    messages_.push_back({"system", system_});
  }
}

std::vector<int32_t> ChatSession::ids_of_conversation(const decoding::Generator& generator) const {
  return generator.vocabulary().encode_checked(template_->text_of(messages_), "the conversation");
}

size_t ChatSession::answer(const std::string& message, const decoding::Generator& generator,
                           const decoding::GenerationOptions& options, TextOutput& output) {
  const std::vector<data::ChatMessage> before = messages_;
  try {
    messages_.push_back({"user", message});
    std::vector<int32_t> ids = ids_of_conversation(generator);
    const int64_t context = generator.context();
    if (static_cast<int64_t>(ids.size()) >= context && before.size() > (system_.empty() ? 0U : 1U)) {
      say_note(fmt::format("the conversation has {} tokens, the model takes {}, the answer counted; it begins anew",
                           ids.size(), context));
      begin_anew();
      messages_.push_back({"user", message});
      ids = ids_of_conversation(generator);
    }
    base::check_usage(static_cast<int64_t>(ids.size()) < context && !ids.empty(),
                      "the message has {} tokens, the model takes 1 to {}, the answer counted; write a shorter one",
                      ids.size(), context);
    decoding::GenerationRequest request{.prompt_ids = std::move(ids), .sample = answers_};
    request.on_part = [&output](const decoding::GeneratedPart& part) {
      output.write(part.text);
      return true;
    };
    const decoding::Continuation continuation = generator.generate({&request, 1}, options).front();
    output.write("\n");
    ++answers_;
    messages_.push_back({"assistant", continuation.text});
    return continuation.ids.size();
  } catch (...) {
    messages_ = before;
    throw;
  }
}

}  // namespace dragoman::cli
