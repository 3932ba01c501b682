#pragma once

#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/vocabulary/vocabulary.h"
#include "decoding/parallel_search.h"
#include "decoding/request_encoder.h"
#include "decoding/reranker.h"
#include "decoding/search_service.h"
#include "decoding/translation.h"

namespace dragoman::decoding {

/// What a translator may have beside its models and vocabularies.
struct TranslatorSetup {
  SearchOptions defaults = {};  ///< how this model is searched if a caller does not say otherwise
  /// Of these vocabularies, for options that ask for a shortlist; null = none.
  std::shared_ptr<const Shortlist> shortlist = nullptr;
  /// Sorts the hypotheses of a beam search, where options.ranking.reverse_weight is above 0; null = none. Streams then
  /// tell all of a part when it is finished.
  std::shared_ptr<const Reranker> reranker = nullptr;
  ServiceThreads threads = {};  ///< of `submit`
  models::ModelLanguages languages = {};
  models::ModelLanguages reverse_languages = {};  ///< of the model of the reranker
};

/// Text in, text out. Holds a model and its vocabularies, or several models as one.
/// Threads: any number at once.
class Translator {
 public:
  /// `model` should be packed for inference (see make_inference_model); it is faster and gives each sentence the same
  /// bits in any batch. Throws Error(kBadData) when a vocabulary's size is not the model's.
  Translator(std::shared_ptr<const models::Model> model, data::Vocabulary source, data::Vocabulary target,
             TranslatorSetup setup = {});
  /// The same with several models that read and write the same pieces: a token's probability is the mean of theirs
  /// (see EnsembleSteps). Alignments are the first one's.
  Translator(ParallelSearch::Models models, data::Vocabulary source, data::Vocabulary target,
             TranslatorSetup setup = {});

  /// Whether translations can have alignments: the model, or the first of several, has attention to the source.
  bool has_alignments() const { return !search_.models().first().cross_attention_paths().empty(); }

  /// Translates lines; the results stand in the order given, one a line. A blank line gives an empty translation.
  /// Lines too long for the model are cut into parts (see split_long_text) that are translated apart and joined by a
  /// space; `warning` says so, scores are summed, and alignments stand in blocks.
  /// Any bytes are accepted: invalid UTF-8 becomes U+FFFD. The result for a line never depends on the other lines.
  std::vector<Translation> translate(std::span<const std::string> lines, const SearchOptions& options) const;

  /// The same for lines that ask for more than their text: prefixes, phrases, streams, deadlines.
  /// Throws Error(kUsage) for a prefix too long for the model, and what a callback throws.
  /// @param on_error  kReport: a line that fails for another reason than a wrong request (a callback that throws, a
  /// worker without memory) has no translation but its `error`, and the others are translated
  std::vector<Translation> translate_requests(std::span<const TranslationRequest> requests,
                                              const SearchOptions& options, OnError on_error = OnError::kThrow) const;

  /// The same for one line that joins those under way: lines submitted by any threads are translated together, to the
  /// same bytes as alone. The first call starts the threads that the translator was made with; the thread options of a
  /// line are not read. The threads end with the translator, once all is answered.
  /// @return the translation, or the error of this line alone. Wrong options are thrown at once, as Error(kUsage).
  std::future<Translation> submit(const TranslationRequest& request, const SearchOptions& options) const;
  /// Called once for each submitted line, with its translation and null, or with an empty translation and the error.
  using Done = std::function<void(Translation translation, std::exception_ptr error)>;
  /// The same without a future: `done` is called once, in a worker's thread, or in the caller's for a blank line. It
  /// must not throw, wait, translate with this translator, or hold the last reference to it.
  void submit(const TranslationRequest& request, const SearchOptions& options, Done done) const;

  /// Throws Error(kUsage) for options that `translate` would refuse: what can be seen before there is any text.
  void check(const SearchOptions& options) const { search_.models().check(options); }

  const models::Model& model() const { return search_.models().first(); }
  /// Returns: the models, as searches share them.
  const SearchModels& models() const { return search_.models(); }
  /// What sentences are searched with. Null where the folder has no shortlist.
  const Shortlist* shortlist() const { return search_.models().shortlist().get(); }
  /// Of the model's folder: what `dragoman tune` chose, else the defaults of SearchOptions.
  const SearchOptions& search_defaults() const { return setup_.defaults; }
  /// Of the model's folder; empty where it does not say them.
  const models::ModelLanguages& languages() const { return setup_.languages; }
  /// Of the folder of the reverse model; empty where there is none or it does not say them.
  const models::ModelLanguages& reverse_languages() const { return setup_.reverse_languages; }
  /// Returns what a request needs to say of its languages. Throws: as decoding::choose_languages.
  [[nodiscard]] ChosenLanguages choose_languages(const models::LanguagePair& asked) const {
    return decoding::choose_languages(setup_.languages, asked, {source_, target_});
  }
  /// The same for lines whose translations begin with `prefix`. Those may bring the codes of the model themselves, the
  /// source before the text and the target as the prefix: without `asked` they say nothing more.
  [[nodiscard]] ChosenLanguages choose_languages(const models::LanguagePair& asked, std::string_view prefix) const {
    const bool are_in_lines = !prefix.empty() && asked == models::LanguagePair() && setup_.languages.has_codes();
    return are_in_lines ? ChosenLanguages() : choose_languages(asked);
  }
  const data::Vocabulary& source_vocabulary() const { return source_; }
  const data::Vocabulary& target_vocabulary() const { return target_; }
  /// Of the idle workers together; tests read it.
  tensor::ArenaCounters arena_counters() const { return search_.models().arena_counters(); }

 private:
  class Submitted;

  EncodedLine encode(const TranslationRequest& request, const SearchOptions& options) const;
  bool reranks(const SearchOptions& options) const { return setup_.reranker != nullptr && Reranker::applies(options); }
  SearchOptions searched_with(const SearchOptions& options) const;
  std::vector<Translation> build_parts(const EncodedLine& line, std::span<const SearchResult> results) const;
  void rerank(std::span<const EncodedLine> lines, std::span<std::vector<Translation>> parts,
              const SearchOptions& options, int workers) const;
  bool rerank_together(std::span<const EncodedLine> lines, std::span<std::vector<Translation>> parts,
                       const SearchOptions& options, OnError on_error) const;
  Translation finish(const EncodedLine& line, std::vector<Translation> parts) const;
  Translation build(std::span<const int32_t> source, const SearchResult& result) const;
  Translation build_candidate(const Hypothesis& hypothesis) const;

  data::Vocabulary source_;
  data::Vocabulary target_;
  ParallelSearch search_;
  TranslatorSetup setup_;
  mutable std::once_flag service_started_;
  mutable std::unique_ptr<SearchService> service_;  // ends before what it searches with
};

}  // namespace dragoman::decoding
