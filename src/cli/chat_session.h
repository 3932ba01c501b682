#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/text_output.h"
#include "data/chat/chat_template.h"
#include "decoding/generator.h"

namespace dragoman::cli {

/// A conversation with a language model in the form that its chat template gives it.
class ChatSession {
 public:
  /// @param folder  of the model
  /// @param system  the first message, which says how the model shall answer; empty for none
  /// Throws: Error(kUsage), "my-gpt: has no chat template; leave out --chat"; Error(kBadData) for a template beyond the
  /// supported subset of Jinja.
  ChatSession(const std::filesystem::path& folder, std::string system);

  /// Writes the answer to a message while it grows. Both become a part of the conversation. If the context of the model
  /// is full, a note says so and the conversation begins anew with this message.
  /// Returns the number of tokens of the answer. Throws: Error(kBadData) for a message that the template refuses, which
  /// is left out of the conversation.
  size_t answer(const std::string& message, const decoding::Generator& generator,
                const decoding::GenerationOptions& options, TextOutput& output);

 private:
  void begin_anew();
  std::vector<int32_t> ids_of_conversation(const decoding::Generator& generator) const;

  std::shared_ptr<const data::ChatTemplate> template_;
  std::string system_;
  std::vector<data::ChatMessage> messages_;
  uint64_t answers_ = 0;
};

}  // namespace dragoman::cli
