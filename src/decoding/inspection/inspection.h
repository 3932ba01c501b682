#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "decoding/generator.h"
#include "decoding/text_labeler.h"
#include "decoding/translator.h"

namespace dragoman::decoding {

/// What bounds an inspection, so that its time and memory are bounded.
struct InspectionLimits {
  size_t max_source_tokens = 128;  ///< S, the end included
  size_t max_target_tokens = 160;  ///< T; a search is cut there
};

/// A sentence to look into, or a prompt.
struct InspectionRequest {
  std::string text;
  SearchOptions options;                ///< of the search
  std::vector<int32_t> predicted = {};  ///< [T] what the decoder is to have predicted, the end included; empty: search
  int64_t max_tokens = 16;              ///< of the continuation of a prompt
  std::stop_token cancel = {};          ///< when stop is requested, InspectionStopped is thrown soon
  std::optional<Deadline> deadline = {};  ///< the same when this time is reached
  LanguageTokens languages = {};          ///< of a model that translates between several

  /// Throws InspectionStopped when it is to go no further.
  void check_goes_on() const;
};

/// Thrown by an inspection that was cancelled or is out of time.
class InspectionStopped : public std::runtime_error {
 public:
  explicit InspectionStopped(FinishReason reason)
      : std::runtime_error("inspect: ended before it was done"), reason_(reason) {}
  FinishReason reason() const { return reason_; }  ///< kCancelled or kDeadline

 private:
  FinishReason reason_;
};

/// Searches as Translator::translate does, with the first model of an ensemble, for at most `max_tokens` tokens.
/// Returns: what was found, with the tree of all that the search kept. It is a beam search for beam_size 1 too.
/// @param source  [S] ids, the end included;  @param asked  with the options of the search
/// Throws: Error(kUsage) for options that are not a beam search's, InspectionStopped between two steps.
SearchResult trace_search(const Translator& translator, std::span<const int32_t> source, const InspectionRequest& asked,
                          size_t max_tokens);

/// The source of a text as the model reads it. @return [S] ids, the end included
/// Throws Error(kUsage): "inspect: the text is blank; give a sentence", "inspect: the text has 300 tokens, at most 128
/// can be looked into; give a shorter one".
std::vector<int32_t> inspected_source(const Translator& translator, const std::string& text,
                                      const InspectionLimits& limits, const LanguageTokens& languages = {});

/// All values that a model computes for one text, as the modules of the model show them (nn::ForwardObserver). Of a
/// model that translates: the encoder's, then the decoder's with the translation fed in one teacher-forced pass, which
/// gives each step the numbers it had when the words before it had been generated one by one. Of a language model: the
/// prompt and its continuation in one such pass; row t reads token t of the whole text and predicts the next one. Of an
/// encoder: the text in its frame, and nothing is predicted.
class Inspection {
 public:
  /// Searches if `request.predicted` is empty, then runs the model once.
  /// Throws Error(kUsage): what inspected_source throws; "inspect: target_ids has 200 tokens, at most 160 ..."; an id
  /// outside the vocabulary: "inspect: target_ids[2] is 9000, must be in [0, 4000)". Throws InspectionStopped between
  /// two steps of the search and between two layers.
  Inspection(const Translator& translator, const InspectionRequest& request, const InspectionLimits& limits = {});
  /// Continues the prompt if `request.predicted` is empty, then runs the model once. What is predicted begins with the
  /// prompt but its first token.
  /// Throws Error(kUsage): "inspect: the text has 300 tokens, at most 128 can be looked into; give a shorter one",
  /// what `generator` says of a prompt, "inspect: target_ids do not begin with the prompt, ...", and as above. Throws
  /// InspectionStopped as above.
  Inspection(const Generator& generator, const InspectionRequest& request, const InspectionLimits& limits = {});

  /// Encodes the text. Throws Error(kUsage): "inspect: the text has 300 tokens, at most 128 can be looked into; give a
  /// shorter one", "inspect: the text is blank; give a sentence". Throws InspectionStopped between two layers.
  Inspection(const TextLabeler& encoder, const InspectionRequest& request, const InspectionLimits& limits = {});

  const models::Model& model() const { return model_; }
  const data::Vocabulary& vocabulary() const { return vocabulary_; }    ///< of what is predicted
  const std::vector<int32_t>& source() const { return source_; }        ///< [S] of a language model: the prompt
  const std::vector<int32_t>& predicted() const { return predicted_; }  ///< [T]
  const std::vector<int32_t>& input() const { return input_; }  ///< [T] the first token, then `predicted` but its last
  bool continues_source() const { return continues_source_; }   ///< true of a language model
  /// Text of the predicted tokens; of a language model that of the new ones.
  std::string written() const;

  /// Whether a module showed a value under this name.
  bool shows(std::string_view path, std::string_view name) const;
  /// What a module showed under a name, float32: see docs/inspect.md.
  /// Throws Error(kUsage): "inspect: encoder.layers.9.feed_forward shows no hidden; ...".
  tensor::Tensor value(std::string_view path, std::string_view name) const;
  /// [H, T, S] of an attention module. Throws Error(kUsage) naming those that there are.
  const tensor::Tensor& weights(std::string_view path) const;
  /// Paths of the attention modules in the order they ran.
  const std::vector<std::string>& attention_paths() const { return attention_paths_; }
  /// [end - begin, V] logits of the steps begin .. end. Throws Error(kUsage) for steps that there are not.
  tensor::Tensor logits(int64_t begin, int64_t end) const;

 private:
  class Recorder;

  void run(const InspectionRequest& request);
  size_t longest_text(const InspectionLimits& limits) const;

  const models::Model& model_;
  data::Vocabulary vocabulary_;
  bool continues_source_;
  std::vector<int32_t> source_;
  std::vector<int32_t> predicted_;
  std::vector<int32_t> input_;
  std::map<std::string, tensor::Tensor, std::less<>> values_;  // "path name"
  std::map<std::string, tensor::Tensor, std::less<>> weights_;
  std::vector<std::string> attention_paths_;
};

}  // namespace dragoman::decoding
