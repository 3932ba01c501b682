#include "decoding/load_chat.h"

#include "models/model_folder.h"

namespace dragoman::decoding {

std::shared_ptr<const data::ChatTemplate> load_chat(const base::CheckedFolder& folder) {
  if (!folder.has(models::kChatName)) {
    return nullptr;
  }
  const data::ChatFile file =
      data::chat_file_from_json(folder.read(models::kChatName), folder.path_of(models::kChatName));
  return std::make_shared<const data::ChatTemplate>(file, "the chat template of the model");
}

}  // namespace dragoman::decoding
