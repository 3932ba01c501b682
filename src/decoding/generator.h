#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "data/vocabulary/vocabulary.h"
#include "decoding/generation_request.h"
#include "decoding/parallel_search.h"
#include "decoding/search_service.h"

namespace dragoman::decoding {

class GenerationJob;

/// Prompts in, continuations out. Holds a language model and its vocabulary. The model, not the options, says how many
/// texts a worker has under way: those whose keys and values fit into 1 GiB.
/// The continuation of a prompt depends on the prompt, the options and the number of the sample alone, not on what is
/// generated beside it.
/// Threads: any number at once.
class Generator {
 public:
  /// Throws: Error(kBadData) if the vocabulary has more pieces than the model; Error(kUsage) for a model that is no
  /// language model.
  Generator(std::shared_ptr<const models::Model> model, data::Vocabulary vocabulary, ServiceThreads threads = {});

  /// Continues prompts together; the results stand in their order.
  /// Throws: Error(kUsage) for options out of range. Without kReport also the error of a prompt: one that is too long,
  /// "prompt: 1,100 tokens, the model takes 1,024, the new ones counted; give a shorter prompt".
  std::vector<Continuation> generate(std::span<const GenerationRequest> requests, const GenerationOptions& options,
                                     OnError on_error = OnError::kThrow) const;

  using Done = std::function<void(Continuation continuation, std::exception_ptr error)>;
  /// Continues a prompt together with those under way. The first call starts the threads. `done` is called once, in a
  /// worker's thread; it must not throw or wait.
  void submit(const GenerationRequest& request, const GenerationOptions& options, Done done) const;

  /// Returns: the ids that the model reads for a prompt. An empty prompt is the token that begins or ends a text; where
  /// the vocabulary has none, a line end.
  /// Throws: Error(kUsage) for an empty prompt where there is no such token.
  std::vector<int32_t> prompt_ids(const std::string& prompt) const;

  const models::Model& model() const { return search_.models().first(); }
  const data::Vocabulary& vocabulary() const { return vocabulary_; }
  int64_t context() const { return search_.models().max_positions(); }

 private:
  class Submitted;
  SearchOptions search_of(const GenerationOptions& options) const;
  std::unique_ptr<GenerationJob> make_job(const GenerationRequest& request, const GenerationOptions& options) const;

  data::Vocabulary vocabulary_;
  ParallelSearch search_;
  ServiceThreads threads_;
  mutable std::once_flag service_started_;
  mutable std::unique_ptr<SearchService> service_;  // ends before what it searches with
};

}  // namespace dragoman::decoding
