#include "serving/service/served_encoder.h"

#include <algorithm>
#include <future>

#include "serving/service/model_card.h"
#include "serving/service/served_folder.h"
#include "serving/service/warm_up.h"

namespace dragoman::serving {
namespace {

// Tokens per second, measured with some texts.
double speed_of(const ServedEncoder& encoder) {
  constexpr int64_t kLength = 16;
  const auto length = static_cast<size_t>(std::min(kLength, encoder.config().max_positions));
  return warm_up([&] {
    const auto promise = std::make_shared<std::promise<size_t>>();
    std::list<decoding::EncoderTask> task(1);
    task.front().input.ids.assign(length, 0);
    task.front().done = [promise, length](const decoding::EncodedText& text) {
      text.error == nullptr ? promise->set_value(length) : promise->set_exception(text.error);
    };
    encoder.service->submit(std::move(task));
    return promise->get_future();
  });
}

}  // namespace

ServedEncoder load_served_encoder(const std::filesystem::path& folder, std::optional<kernels::Precision> precision,
                                  const decoding::ServiceThreads& threads, int64_t batch_tokens) {
  const FolderFacts facts = folder_facts(folder);
  ServedEncoder encoder{
      .id = model_id(folder),
      .folder = folder,
      .sha256 = facts.sha256,
      .labeler = std::make_shared<const decoding::TextLabeler>(decoding::load_labeler(folder, precision)),
      .service = {},
      .created = facts.created};
  encoder.service = std::make_shared<decoding::EncoderService>(encoder.labeler->shared_model(), threads, batch_tokens);
  encoder.card = model_card(encoder.id, *encoder.labeler, training_record(folder));
  encoder.rate = speed_of(encoder);
  return encoder;
}

}  // namespace dragoman::serving
