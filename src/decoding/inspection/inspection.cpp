#include "decoding/inspection/inspection.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "data/text/text_file.h"
#include "decoding/steps/teacher_forcing.h"
#include "models/transformer/transformer_config.h"
#include "tensor/transfer.h"

namespace dragoman::decoding {
namespace {

// For an error about a path: ", and this model has 6 encoder and 6 decoder layers" where there are such layers.
std::string layers_of(const models::ModelConfig& config) {
  const auto* shape = config.get_if<models::TransformerConfig>();
  return shape == nullptr ? ""
                          : fmt::format(", and this model has {} encoder and {} decoder layers", shape->encoder_layers,
                                        shape->decoder_layers);
}

void check_ids(std::span<const int32_t> ids, int32_t vocab_size) {
  for (size_t i = 0; i < ids.size(); ++i) {
    base::check_usage(ids[i] >= 0 && ids[i] < vocab_size, "inspect: target_ids[{}] is {}, must be in [0, {})", i,
                      ids[i], vocab_size);
  }
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
    inspection_.weights_.emplace(path, weights);
  }
  void observe_value(std::string_view path, std::string_view name, const tensor::Tensor& value) override {
    request_.check_goes_on();
    inspection_.values_.emplace(value_key(path, name), value);
  }

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
                                      const InspectionLimits& limits) {
  std::vector<int32_t> source = data::encode_source(translator.source_vocabulary(), data::clean_line(text).text);
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
  const SearchModels& models = translator.models();
  const ParallelSearch search({models.all().front()}, models.shortlist());
  SearchResult result = std::move(search.run({&request, 1}, options).front());
  const FinishReason reason = result.hypotheses.front().finish_reason;
  if (reason == FinishReason::kCancelled || reason == FinishReason::kDeadline) {
    throw InspectionStopped(reason);
  }
  return result;
}

Inspection::Inspection(const Translator& translator, const InspectionRequest& request, const InspectionLimits& limits)
    : translator_(translator),
      source_(inspected_source(translator, request.text, limits)),
      predicted_(request.predicted) {
  const auto positions = static_cast<size_t>(translator.model().config().sizes().max_positions);
  const size_t longest = std::min(limits.max_target_tokens, positions);
  base::check_usage(predicted_.size() <= longest, "inspect: target_ids has {} tokens, at most {} can be looked into",
                    predicted_.size(), longest);
  check_ids(predicted_, translator.target_vocabulary().size());
  if (predicted_.empty()) {
    const Hypothesis best = trace_search(translator, source_, request, longest).hypotheses.front();
    predicted_ = best.ids;
    if (best.finish_reason == FinishReason::kEndOfSentence) {
      predicted_.push_back(data::kEosId);
    }
  }
  input_ = teacher_forced_input(predicted_);
  Recorder recorder(*this, request);
  observe_pair(translator.model(), source_, input_, recorder);
}

std::string Inspection::translation() const {
  return translator_.target_vocabulary().decode(predicted_);
}

tensor::Tensor Inspection::value(std::string_view path, std::string_view name) const {
  const auto found = values_.find(value_key(path, name));
  base::check_usage(found != values_.end(),
                    "inspect: {} shows no {}; paths are those of the parameters, such as "
                    "encoder.layers.0.self_attention{}",
                    path, name, layers_of(translator_.model().config()));
  return found->second.to(tensor::DType::kFloat32);
}

const tensor::Tensor& Inspection::weights(std::string_view path) const {
  const auto found = weights_.find(path);
  base::check_usage(found != weights_.end(), "inspect: {} is no attention of this model; there are {}", path,
                    fmt::join(attention_paths_, ", "));
  return found->second;
}

tensor::Tensor Inspection::logits(int64_t begin, int64_t end) const {
  const auto steps = static_cast<int64_t>(predicted_.size());
  base::check_usage(begin >= 0 && begin < end && end <= steps, "inspect: step {} is not in [0, {})", begin, steps);
  const autograd::NoGrad inference;
  const tensor::Tensor hidden = value("decoder", "output").rows(begin, end).clone();  // [T, D]
  return translator_.model().output().logits(autograd::Variable(hidden)).value();     // [T, V]
}

}  // namespace dragoman::decoding
