#include "decoding/inspection/inspection.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"
#include "data/text/text_file.h"
#include "decoding/steps/teacher_forcing.h"
#include "models/convolutional/convolutional_config.h"
#include "models/decoder_only/decoder_only_config.h"
#include "models/encoder_only/encoder_only_config.h"
#include "models/model_device.h"
#include "models/recurrent/recurrent_config.h"
#include "models/transformer/transformer_config.h"
#include "tensor/device_scope.h"
#include "tensor/transfer.h"

namespace dragoman::decoding {
namespace {

// For an error about a path: the paths that there are.
std::string paths_of(const models::ModelConfig& config) {
  if (const auto* shape = config.get_if<models::TransformerConfig>()) {
    return fmt::format("encoder.layers.0.self_attention, and this model has {} encoder and {} decoder layers",
                       shape->encoder_layers, shape->decoder_layers);
  }
  if (const auto* shape = config.get_if<models::DecoderOnlyConfig>()) {
    return fmt::format("layers.0.self_attention, and this model has {} layers", shape->layers);
  }
  if (const auto* shape = config.get_if<models::EncoderOnlyConfig>()) {
    return fmt::format("layers.0.self_attention, and this model has {} layers", shape->layers);
  }
  if (const auto* shape = config.get_if<models::RecurrentConfig>()) {
    return fmt::format("encoder.layers.0.forward, decoder.layers.0, and this model has {} layers on each side",
                       shape->layers);
  }
  if (const auto* shape = config.get_if<models::ConvolutionalConfig>()) {
    return fmt::format(
        "encoder.layers.0, decoder.layers.0.attention, and this model has {} encoder and {} decoder layers",
        shape->encoder_layers, shape->decoder_layers);
  }
  return "layers.0.self_attention";
}

void check_ids(std::span<const int32_t> ids, size_t longest, int32_t vocab_size) {
  base::check_usage(ids.size() <= longest, "inspect: target_ids has {} tokens, at most {} can be looked into",
                    ids.size(), longest);
  for (size_t i = 0; i < ids.size(); ++i) {
    base::check_usage(ids[i] >= 0 && ids[i] < vocab_size, "inspect: target_ids[{}] is {}, must be in [0, {})", i,
                      ids[i], vocab_size);
  }
}

// Throws unless the search came to its own end.
void check_search(FinishReason reason) {
  if (reason == FinishReason::kCancelled || reason == FinishReason::kDeadline) {
    throw InspectionStopped(reason);
  }
}

std::vector<int32_t> inspected_prompt(const Generator& generator, const std::string& text,
                                      const InspectionLimits& limits) {
  std::vector<int32_t> prompt = generator.prompt_ids(text);
  const size_t longest = std::min(limits.max_source_tokens, static_cast<size_t>(generator.context()) - 1);
  base::check_usage(prompt.size() <= longest,
                    "inspect: the text has {} tokens, at most {} can be looked into; give a shorter one", prompt.size(),
                    longest);
  return prompt;
}

// The text in its frame, as an encoder reads it.
std::vector<int32_t> inspected_text(const TextLabeler& encoder, const std::string& text,
                                    const InspectionLimits& limits) {
  base::check_usage(text.find_first_not_of(" \t\r\n") != std::string::npos,
                    "inspect: the text is blank; give a sentence");
  const std::vector<int32_t> pieces = encoder.vocabulary().encode(data::clean_line(text).text);
  const data::TextFrame& frame = encoder.vocabulary().frame();
  std::vector<int32_t> ids = data::framed(frame, pieces);
  const auto positions = static_cast<size_t>(encoder.model().encoder_config().max_positions);
  const size_t longest = std::min(limits.max_source_tokens, positions);
  base::check_usage(ids.size() <= longest,
                    "inspect: the text has {} tokens, at most {} can be looked into; give a shorter one", ids.size(),
                    longest);
  return ids;
}

// What follows a prompt, the end included.
std::vector<int32_t> continued(const Generator& generator, std::span<const int32_t> prompt,
                               const InspectionRequest& asked, size_t most) {
  GenerationOptions options;
  options.max_tokens = std::clamp(asked.max_tokens, int64_t{1}, static_cast<int64_t>(most));
  options.search = asked.options;
  options.search.execution.workers = 1;
  const GenerationRequest request{
      .prompt_ids = {prompt.begin(), prompt.end()}, .cancel = asked.cancel, .deadline = asked.deadline};
  Continuation continuation = generator.generate({&request, 1}, options).front();
  check_search(continuation.finish_reason);
  const std::vector<int32_t>& ends = generator.vocabulary().special().eos;
  if (continuation.finish_reason == FinishReason::kEndOfSentence && !ends.empty()) {
    continuation.ids.push_back(ends.front());
  }
  return std::move(continuation.ids);
}

std::string value_key(std::string_view path, std::string_view name) {
  return fmt::format("{} {}", path, name);
}

}  // namespace

// Keeps what the modules show.
class Inspection::Recorder : public nn::ForwardObserver {
 public:
  Recorder(Inspection& inspection, const InspectionRequest& request) : inspection_(inspection), request_(request) {}

  void observe(std::string_view path, int64_t, const tensor::Tensor& weights) override {
    inspection_.attention_paths_.emplace_back(path);
    inspection_.weights_.emplace(path, tensor::to_host(weights));
  }
  void observe_value(std::string_view path, std::string_view name, const tensor::Tensor& value) override {
    request_.check_goes_on();
    inspection_.values_.emplace(value_key(path, name), tensor::to_host(value));
  }
  bool wants_kept_values() const override { return true; }

 private:
  Inspection& inspection_;
  const InspectionRequest& request_;
};

void InspectionRequest::check_goes_on() const {
  SentenceRequest stops;
  stops.cancel = cancel;
  stops.deadline = deadline;
  if (const auto reason = stops.stop_reason()) {
    throw InspectionStopped(*reason);
  }
}

std::vector<int32_t> inspected_source(const Translator& translator, const std::string& text,
                                      const InspectionLimits& limits, const LanguageTokens& languages) {
  std::vector<int32_t> source = encode_source(translator.source_vocabulary(), data::clean_line(text).text, languages);
  const auto positions = static_cast<size_t>(translator.model().config().sizes().max_positions);
  const size_t longest = std::min(limits.max_source_tokens, positions);
  base::check_usage(!source.empty(), "inspect: the text is blank; give a sentence");
  base::check_usage(source.size() <= longest,
                    "inspect: the text has {} tokens, at most {} can be looked into; give a shorter one", source.size(),
                    longest);
  return source;
}

SearchResult trace_search(const Translator& translator, std::span<const int32_t> source, const InspectionRequest& asked,
                          size_t max_tokens) {
  SearchOptions options = asked.options;
  base::check_usage(!options.samples() && !options.alternatives, "inspect: only a beam search can be looked into");
  options.execution.workers = 1;
  SentenceRequest request;
  request.source.assign(source.begin(), source.end());
  request.cancel = asked.cancel;
  request.deadline = asked.deadline;
  request.max_length = static_cast<int64_t>(max_tokens);
  request.keeps_tree = true;
  set_first(asked.languages, translator.target_vocabulary(), request);
  const SearchModels& models = translator.models();
  const tensor::DeviceScope device(models::device_of(models.first()));
  const ParallelSearch search({models.all().front()}, models.shortlist());
  SearchResult result = std::move(search.run({&request, 1}, options).front());
  check_search(result.hypotheses.front().finish_reason);
  return result;
}

size_t Inspection::longest_text(const InspectionLimits& limits) const {
  return std::min(limits.max_target_tokens, static_cast<size_t>(model_.config().sizes().max_positions));
}

void Inspection::run(const InspectionRequest& request) {
  Recorder recorder(*this, request);
  observe_pair(model_, continues_source_ ? std::vector<int32_t>() : source_, input_, recorder);
}

Inspection::Inspection(const Translator& translator, const InspectionRequest& request, const InspectionLimits& limits)
    : model_(translator.model()),
      vocabulary_(translator.target_vocabulary()),
      continues_source_(false),
      source_(inspected_source(translator, request.text, limits, request.languages)),
      predicted_(request.predicted) {
  const size_t longest = longest_text(limits);
  check_ids(predicted_, longest, vocabulary_.size());
  if (predicted_.empty()) {
    const Hypothesis best = trace_search(translator, source_, request, longest).hypotheses.front();
    predicted_ = best.ids;
    if (best.finish_reason == FinishReason::kEndOfSentence) {
      predicted_.push_back(data::kEosId);
    }
  }
  input_ = teacher_forced_input(predicted_);
  run(request);
}

Inspection::Inspection(const Generator& generator, const InspectionRequest& request, const InspectionLimits& limits)
    : model_(generator.model()),
      vocabulary_(generator.vocabulary()),
      continues_source_(true),
      source_(inspected_prompt(generator, request.text, limits)),
      predicted_(request.predicted) {
  const size_t longest = longest_text(limits);
  check_ids(predicted_, longest, vocabulary_.size());
  const std::span<const int32_t> given = std::span(source_).subspan(1);  // what the first rows are to predict
  if (predicted_.empty()) {
    predicted_.assign(given.begin(), given.end());
    const std::vector<int32_t> next = continued(generator, source_, request, longest - source_.size());
    predicted_.insert(predicted_.end(), next.begin(), next.end());
  }
  base::check_usage(
      predicted_.size() > given.size() && std::ranges::equal(std::span(predicted_).first(given.size()), given),
      "inspect: target_ids do not begin with the prompt, whose first token is left out; send those of an "
      "earlier reply");
  input_ = {source_.front()};
  input_.insert(input_.end(), predicted_.begin(), predicted_.end() - 1);
  run(request);
}

Inspection::Inspection(const TextLabeler& encoder, const InspectionRequest& request, const InspectionLimits& limits)
    : model_(encoder.model()),
      vocabulary_(encoder.vocabulary()),
      continues_source_(false),
      source_(inspected_text(encoder, request.text, limits)) {
  Recorder recorder(*this, request);
  nn::ForwardContext context;
  context.observer = &recorder;
  const autograd::NoGrad inference;
  const tensor::DeviceScope device(models::device_of(model_));
  encoder.model().encode(models::one_sentence(source_), context);
}

std::string Inspection::written() const {
  const size_t given = continues_source_ ? source_.size() - 1 : 0;
  const std::span<const int32_t> ids = std::span(predicted_).subspan(given);
  return continues_source_ ? base::repair_utf8(vocabulary_.decode_bytes(ids)) : vocabulary_.decode(ids);
}

bool Inspection::shows(std::string_view path, std::string_view name) const {
  return values_.contains(value_key(path, name));
}

tensor::Tensor Inspection::value(std::string_view path, std::string_view name) const {
  const auto found = values_.find(value_key(path, name));
  base::check_usage(found != values_.end(), "inspect: {} shows no {}; paths are those of the parameters, such as {}",
                    path, name, paths_of(model_.config()));
  return found->second.to(tensor::DType::kFloat32);
}

const tensor::Tensor& Inspection::weights(std::string_view path) const {
  const auto found = weights_.find(path);
  base::check_usage(found != weights_.end(), "inspect: {} is no attention of this model; there {}", path,
                    attention_paths_.empty() ? "is none" : fmt::format("are {}", fmt::join(attention_paths_, ", ")));
  return found->second;
}

tensor::Tensor Inspection::logits(int64_t begin, int64_t end) const {
  const auto steps = static_cast<int64_t>(predicted_.size());
  base::check_usage(begin >= 0 && begin < end && end <= steps, "inspect: step {} is not in [0, {})", begin, steps);
  const autograd::NoGrad inference;
  const tensor::Tensor shown = value("decoder", "output").rows(begin, end).clone();  // [T, D]
  const tensor::DeviceScope device(models::device_of(model_));
  const autograd::Variable hidden(tensor::to_current_device(shown));
  return tensor::to_host(model_.output().logits(hidden).value());  // [T, V]
}

}  // namespace dragoman::decoding
