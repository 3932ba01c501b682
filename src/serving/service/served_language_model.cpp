#include "serving/service/served_language_model.h"

#include <algorithm>
#include <future>

#include "base/error.h"
#include "base/published_folder.h"
#include "decoding/load_chat.h"
#include "decoding/load_model.h"
#include "serving/service/model_card.h"
#include "serving/service/served_folder.h"
#include "serving/service/warm_up.h"

namespace dragoman::serving {
namespace {

// Tokens per second, measured with some texts.
double speed_of(const decoding::Generator& generator) {
  constexpr int64_t kTokens = 16;
  decoding::GenerationOptions options;
  options.max_tokens = std::min(kTokens, generator.context() - 1);
  return warm_up([&] {
    const auto promise = std::make_shared<std::promise<size_t>>();
    generator.submit({.prompt_ids = {0}}, options,
                     [promise](const decoding::Continuation& text, const std::exception_ptr& error) {
                       error == nullptr ? promise->set_value(text.ids.size() + 1) : promise->set_exception(error);
                     });
    return promise->get_future();
  });
}

// A template beyond the supported subset of Jinja leaves the model without chats.
void read_chat(const base::CheckedFolder& folder, ServedLanguageModel& model) {
  model.chat_error.clear();
  try {
    model.chat = decoding::load_chat(folder);
  } catch (const base::Error& error) {
    model.chat_error = error.what();
  }
}

}  // namespace

ServedLanguageModel load_language_model(const std::filesystem::path& folder,
                                        std::optional<kernels::Precision> precision,
                                        const decoding::ServiceThreads& threads) {
  const FolderFacts facts = folder_facts(folder);
  ServedLanguageModel model{
      .id = model_id(folder), .folder = folder, .sha256 = facts.sha256, .generator = {}, .created = facts.created};
  base::read_published(folder, [&](const base::CheckedFolder& files) { read_chat(files, model); });
  model.generator = decoding::load_generator(folder, precision, threads);
  model.card = model_card(model.id, *model.generator, training_record(folder));
  model.rate = speed_of(*model.generator);
  return model;
}

}  // namespace dragoman::serving
