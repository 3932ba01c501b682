#include "decoding/text_labeler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/ascii.h"
#include "base/error.h"
#include "data/masked_examples.h"
#include "decoding/in_groups.h"
#include "decoding/load_model.h"
#include "decoding/text_batches.h"
#include "models/model_device.h"
#include "tensor/device_scope.h"
#include "tensor/transfer.h"

namespace dragoman::decoding {
namespace {

using data::EncoderInput;
using models::EncoderHead;
using models::EncoderOnly;

models::ModelInput model_input(EncoderBatch batch, bool has_rows) {
  models::FlatIds flat, chosen;
  std::vector<int32_t> second_begins;
  for (const EncoderInput* input : batch) {
    flat.append(input->ids);
    flat.end_sentence();
    chosen.append(input->word_rows);
    chosen.end_sentence();
    second_begins.push_back(input->second_begin);
  }
  models::ModelInput model;
  model.source = models::make_token_rows(flat);
  model.source.segments = tensor::host_tensor(models::segments_of(second_begins, flat.offsets));
  if (has_rows) {
    model.source.chosen = tensor::host_tensor(models::rows_of_all(chosen.ids, chosen.offsets, flat.offsets));
  }
  return model;
}

// Calls use(number of the input, its logits).
void run_all(const EncoderOnly& model, const std::vector<EncoderInput>& inputs, const EncodeOptions& options,
             const UseEncoded& use) {
  base::check_fields(options);
  std::vector<size_t> lengths;
  for (const EncoderInput& input : inputs) {
    lengths.push_back(input.ids.size());
  }
  const tensor::DeviceScope device(models::device_of(model));
  const std::vector<TextBatch> batches =
      batches_of_texts(lengths, options.batch_tokens, options.workers, models::device_of(model));
  for_each_group(batches.size(), options.workers, [&](size_t number) {
    const TextBatch& batch = batches[number];
    logits_batch(model, batch_of(inputs, batch),
                 [&](size_t index, std::span<const float> logits) { use(batch[index], logits); });
  });
}

size_t best_of(std::span<const float> values) {
  return static_cast<size_t>(std::ranges::max_element(values) - values.begin());
}

}  // namespace

void logits_batch(const EncoderOnly& model, EncoderBatch batch, const UseEncoded& use) {
  const autograd::NoGrad inference;
  const bool has_rows = model.encoder_config().head != EncoderHead::kClasses;
  const autograd::Variable hidden = model.forward(model_input(batch, has_rows), {});
  const tensor::Tensor logits = model.output().logits(hidden).value();
  const tensor::HostView<float> values(logits);
  const auto width = static_cast<size_t>(logits.dim(1));
  size_t row = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    const size_t count = has_rows ? batch[i]->word_rows.size() : 1;
    use(i, values.span().subspan(row * width, count * width));
    row += count;
  }
}

std::vector<float> probabilities_of(std::span<const float> logits) {
  const auto largest = static_cast<double>(*std::ranges::max_element(logits));
  std::vector<double> powers;
  for (const float logit : logits) {
    powers.push_back(std::exp(static_cast<double>(logit) - largest));
  }
  const double sum = std::accumulate(powers.begin(), powers.end(), 0.0);
  std::vector<float> probabilities;
  for (const double power : powers) {
    probabilities.push_back(static_cast<float>(power / sum));
  }
  return probabilities;
}

int32_t TextClasses::best(size_t text) const {
  return static_cast<int32_t>(best_of(of(text)));
}

TextLabeler::TextLabeler(std::shared_ptr<const EncoderOnly> model, data::Vocabulary vocabulary, data::Labels labels)
    : model_(std::move(model)),
      vocabulary_(std::move(vocabulary)),
      labels_(std::move(labels)),
      mask_(data::mask_id(vocabulary_)) {
  const int64_t of_head = model_->encoder_config().n_labels;
  base::check_data(labels_.size() == of_head, "labels.json: has {} labels, the head of the model has {}",
                   labels_.size(), of_head);
}

TextClasses TextLabeler::classify(std::span<const data::TextOrPair> texts, const EncodeOptions& options) const {
  TextClasses classes;
  classes.labels = labels_.size();
  classes.probabilities.resize(texts.size() * static_cast<size_t>(classes.labels));
  std::vector<EncoderInput> inputs;
  std::vector<size_t> text_of, windows_of(texts.size());
  for (size_t text = 0; text < texts.size(); ++text) {
    for (EncoderInput& input :
         data::encoder_windows(vocabulary_, texts[text], model_->encoder_config().max_positions, options.stride)) {
      base::check_data(!input.ids.empty(), "classify: text {} is empty, and the tokenizer puts nothing around it",
                       text + 1);
      classes.cut += input.is_cut ? 1 : 0;
      text_of.push_back(text);
      ++windows_of[text];
      inputs.push_back(std::move(input));
    }
  }
  std::vector<std::vector<float>> of_inputs(inputs.size());
  run_all(*model_, inputs, options,
          [&](size_t input, std::span<const float> logits) { of_inputs[input] = probabilities_of(logits); });
  for (size_t input = 0; input < inputs.size(); ++input) {
    const size_t first = text_of[input] * static_cast<size_t>(classes.labels);
    for (size_t label = 0; label < of_inputs[input].size(); ++label) {
      classes.probabilities[first + label] += of_inputs[input][label] / static_cast<float>(windows_of[text_of[input]]);
    }
  }
  return classes;
}

std::vector<WordTags> TextLabeler::tag(std::span<const std::vector<std::string>> sentences,
                                       const EncodeOptions& options) const {
  std::vector<EncoderInput> inputs;
  std::vector<size_t> sentence_of;
  for (size_t sentence = 0; sentence < sentences.size(); ++sentence) {
    base::check_argument(!sentences[sentence].empty(), "tag: sentence {} has no words", sentence + 1);
    for (EncoderInput& input :
         data::word_inputs(vocabulary_, sentences[sentence], model_->encoder_config().max_positions, options.stride)) {
      inputs.push_back(std::move(input));
      sentence_of.push_back(sentence);
    }
  }
  std::vector<WordTags> of_inputs(inputs.size());
  run_all(*model_, inputs, options,
          [&](size_t input, std::span<const float> logits) { of_inputs[input] = tags_of(logits); });
  std::vector<WordTags> tags(sentences.size());
  for (size_t input = 0; input < inputs.size(); ++input) {
    tags[sentence_of[input]].append(of_inputs[input], inputs[input].first_word);
  }
  return tags;
}

void WordTags::append(const WordTags& window, size_t first_word) {
  const size_t shared = tags.size() - first_word;
  const size_t kept = tags.size() - shared / 2;
  tags.resize(kept);
  probabilities.resize(kept);
  const auto skipped = static_cast<std::ptrdiff_t>(kept - first_word);
  tags.insert(tags.end(), window.tags.begin() + skipped, window.tags.end());
  probabilities.insert(probabilities.end(), window.probabilities.begin() + skipped, window.probabilities.end());
}

WordTags TextLabeler::tags_of(std::span<const float> logits) const {
  WordTags tags;
  const auto width = static_cast<size_t>(labels_.size());
  for (size_t row = 0; row < logits.size(); row += width) {
    const std::vector<float> probabilities = probabilities_of(logits.subspan(row, width));
    const size_t best = best_of(probabilities);
    tags.tags.push_back(static_cast<int32_t>(best));
    tags.probabilities.push_back(probabilities[best]);
  }
  return tags;
}

data::EncoderInput TextLabeler::masked_input(const std::string& text) const {
  return with_masks(data::encoder_input(vocabulary_, {text, std::nullopt}, model_->encoder_config().max_positions));
}

data::EncoderInput TextLabeler::with_masks(EncoderInput input) const {
  for (size_t row = 0; row < input.ids.size(); ++row) {
    if (input.ids[row] == mask_) {
      input.word_rows.push_back(static_cast<int32_t>(row));
    }
  }
  return input;
}

FilledMasks TextLabeler::candidates_of(std::span<const float> logits, size_t masks, int most) const {
  FilledMasks filled;
  const size_t width = logits.size() / masks;
  const size_t kept = std::min(static_cast<size_t>(most), width);
  for (size_t row = 0; row < logits.size(); row += width) {
    const std::vector<float> probabilities = probabilities_of(logits.subspan(row, width));
    std::vector<int32_t> order(width);
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(
        order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(), [&](int32_t a, int32_t b) {
          const float p = probabilities[static_cast<size_t>(a)], q = probabilities[static_cast<size_t>(b)];
          return p != q ? p > q : a < b;
        });
    std::vector<MaskCandidate>& candidates = filled.emplace_back();
    for (size_t i = 0; i < kept; ++i) {
      const bool is_piece = order[i] < vocabulary_.size();  // a model may have more rows than its tokenizer
      candidates.push_back({order[i], is_piece ? std::string(base::trim(vocabulary_.piece_bytes(order[i]), " ")) : "",
                            probabilities[static_cast<size_t>(order[i])]});
    }
  }
  return filled;
}

std::string TextLabeler::lack_of_mask(const EncoderInput& input) const {
  return input.word_rows.empty() ? fmt::format("has no {}{}; write it in place of what is to be guessed", mask_piece(),
                                               input.is_cut ? " in the part that the model can take" : "")
                                 : "";
}

std::vector<FilledMasks> TextLabeler::fill(std::span<const std::string> texts, int most,
                                           const EncodeOptions& options) const {
  data::check_has_mask(mask_);
  std::vector<EncoderInput> inputs;
  for (const std::string& text : texts) {
    const EncoderInput& input = inputs.emplace_back(masked_input(text));
    base::check_data(!input.word_rows.empty(), "fill-mask: text {} {}", inputs.size(), lack_of_mask(input));
  }
  return fill(inputs, most, options);
}

std::vector<FilledMasks> TextLabeler::fill(const std::vector<EncoderInput>& inputs, int most,
                                           const EncodeOptions& options) const {
  std::vector<FilledMasks> filled(inputs.size());
  run_all(*model_, inputs, options, [&](size_t input, std::span<const float> logits) {
    filled[input] = candidates_of(logits, inputs[input].word_rows.size(), most);
  });
  return filled;
}

TextLabeler load_labeler(const std::filesystem::path& folder, std::optional<kernels::Precision> precision) {
  LoadedModel loaded = load_model(folder, precision);
  auto model = std::dynamic_pointer_cast<const EncoderOnly>(loaded.model);
  base::check_usage(model != nullptr, "{}: holds a {} model, which is no encoder", folder.string(),
                    loaded.model->config().architecture());
  data::Labels labels;
  if (!loaded.labels.empty()) {
    labels = data::Labels::from_json(loaded.labels, (folder / models::kLabelsName).string());
  } else if (model->encoder_config().n_labels > 0) {
    labels = data::numbered_labels(model->encoder_config().n_labels);
  }
  return {std::move(model), std::move(loaded.vocabularies.source), std::move(labels)};
}

void check_head(const TextLabeler& labeler, EncoderHead head, const std::string& name, const std::string& command) {
  const EncoderHead found = labeler.model().encoder_config().head;
  base::check_usage(found == head, "{}: holds an encoder with head {}, {} needs {}; train it with --task {}", name,
                    base::name_of(found), command, base::name_of(head),
                    head == EncoderHead::kWords ? "masked-language-model" : command);
}

TextLabeler load_labeler(const std::filesystem::path& folder, EncoderHead head, const std::string& command,
                         std::optional<kernels::Precision> precision) {
  TextLabeler labeler = load_labeler(folder, precision);
  check_head(labeler, head, folder.string(), command);
  return labeler;
}

}  // namespace dragoman::decoding
