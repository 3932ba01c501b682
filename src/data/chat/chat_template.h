#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "data/chat/template_nodes.h"

namespace dragoman::data {

/// A message of a conversation.
struct ChatMessage {
  std::string role;  ///< "system", "user", "assistant"
  std::string content;
  std::string name = {};  ///< of who speaks; empty for none
};

/// What chat.json of a model folder says: the template of transformers, and the special tokens that it names.
struct ChatFile {
  std::string source;                         ///< a Jinja template
  std::map<std::string, std::string> tokens;  ///< "bos_token": "<s>", ...
};

/// Returns the text of chat.json, and reads it. Throws: Error(kBadData) for a text of another form.
[[nodiscard]] std::string chat_file_json(const ChatFile& file);
[[nodiscard]] ChatFile chat_file_from_json(std::string_view text, const std::string& name);

/// The form in which a model was trained to read conversations. The template is written in a subset of Jinja, which
/// docs/chat_templates.md lists. The text is that of `apply_chat_template` of transformers.
/// Threads: any number; the object is immutable.
class ChatTemplate {
 public:
  /// Throws: Error(kBadData), as parse_template.
  /// @param name  the file, for errors
  ChatTemplate(const ChatFile& file, std::string name);

  /// Returns the conversation as the model reads it, and the beginning of its next message. The special tokens are
  /// parts of the text. Variables of the template are messages, add_generation_prompt (true), tools and documents
  /// (none) and the special tokens.
  /// Throws: Error(kBadData), as run_template.
  [[nodiscard]] std::string text_of(std::span<const ChatMessage> messages,
                                    std::chrono::system_clock::time_point now = std::chrono::system_clock::now()) const;

 private:
  std::string name_;
  std::map<std::string, std::string> tokens_;
  std::shared_ptr<const TemplateBody> body_;
};

}  // namespace dragoman::data
