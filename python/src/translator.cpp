#include "decoding/translator.h"

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include "arrays.h"
#include "bindings.h"
#include "callback.h"
#include "convert.h"
#include "decoding/inspection/attention_capture.h"
#include "decoding/load_translator.h"
#include "decoding/scorer.h"
#include "decoding/search/banned_phrases.h"
#include "interrupt.h"
#include "kernels/cuda/device_name.h"
#include "models/model_device.h"
#include "report/attention_page.h"
#include "serving/story_page.h"
#include "submitted.h"
#include "tensor/device_scope.h"

namespace dragoman::python {
namespace {

using decoding::Translation;
using decoding::TranslationRequest;
using Texts = std::vector<std::string>;

// What one line asks for. Lists with one entry a line may be empty.
struct Asked {
  Texts texts;
  Texts prefixes;
  std::vector<Texts> phrases;
  models::LanguagePair languages;
};

// The codes of source and target, empty for the only one of the model.
using Languages = std::pair<std::string, std::string>;

models::LanguagePair pair_of(const Languages& languages) {
  return {languages.first, languages.second};
}

// Texts translated together at most: as many as `dragoman translate` sorts by length.
constexpr size_t kTogether = 4096;

// The requests [begin, end).
std::vector<TranslationRequest> requests_of(const decoding::Translator& translator, const Asked& asked, size_t begin,
                                            size_t end, const std::stop_token& cancel) {
  std::vector<TranslationRequest> requests(end - begin);
  for (size_t i = begin; i < end; ++i) {
    TranslationRequest& request = requests[i - begin];
    request.text = asked.texts[i];
    request.cancel = cancel;
    if (!asked.prefixes.empty()) {
      request.prefix = asked.prefixes.at(i);
    }
    if (!asked.phrases.empty()) {
      request.phrases = asked.phrases.at(i);
    }
    request.languages = translator.choose_languages(asked.languages, request.prefix).tokens;
  }
  return requests;
}

class TranslatorCore {
 public:
  explicit TranslatorCore(std::unique_ptr<decoding::Translator> translator) : translator_(std::move(translator)) {}

  std::vector<Translation> translate(const Asked& asked, const nb::dict& options, const Texts& banned) const {
    std::vector<Translation> translations;
    translate_in_groups(asked, search_of(options, banned, true),
                        [&](Translation& each) { translations.push_back(std::move(each)); });
    return translations;
  }

  // The texts alone, without scores.
  Texts translate_texts(const Asked& asked, const nb::dict& options) const {
    Texts texts;
    translate_in_groups(asked, search_of(options, {}, false),
                        [&](Translation& each) { texts.push_back(std::move(each.text)); });
    return texts;
  }

  Submitted submit(const std::string& text, const nb::dict& options, const std::string& prefix,
                   const Languages& languages, nb::object on_token, nb::object on_done) const {
    const decoding::SearchOptions search = search_of(options, {}, true);
    Submitted submitted;
    TranslationRequest request{.text = text, .prefix = prefix, .cancel = submitted.token()};
    request.languages = translator_->choose_languages(pair_of(languages), prefix).tokens;
    const auto calls = std::make_shared<Calls>(std::move(on_token), std::move(on_done));
    if (calls->hears_parts()) {
      request.on_token = [calls](const decoding::StreamedToken& token) {
        return calls->part(token.position, token.id, token.piece, token.text);
      };
    }
    const nb::gil_scoped_release released;
    translator_->submit(request, search, [calls](Translation translation, const std::exception_ptr& error) {
      calls->finish(translation, error);
    });
    return submitted;
  }

  nb::object score(const Texts& sources, const Texts& targets, const nb::dict& options,
                   const Languages& languages) const {
    decoding::ScoreOptions score;
    lay_options_over("score", options, score);
    std::vector<decoding::PairScore> scores;
    {
      const nb::gil_scoped_release released;
      const decoding::PairEncoding encoding{{source_vocabulary(), target_vocabulary()},
                                            translator_->choose_languages(pair_of(languages)).tokens};
      scores = decoding::score_pairs(translator_->model(), encoding, sources, targets, score);
    }
    nb::list rows;
    for (const decoding::PairScore& each : scores) {
      rows.append(nb::make_tuple(each.log_prob, each.tokens));
    }
    return rows;
  }

  // An HTML page with all attention weights of a text and its translation.
  std::string attention_page(const std::string& text, const nb::dict& options, const Languages& languages) const {
    const decoding::SearchOptions search = search_of(options, {}, true);
    return run_interruptibly([&](const std::stop_token& cancel) {
      const decoding::LanguageTokens tokens = translator_->choose_languages(pair_of(languages)).tokens;
      const TranslationRequest request{.text = text, .languages = tokens, .cancel = cancel};
      const Translation translation = translator_->translate_requests({&request, 1}, search).front();
      return report::attention_page(decoding::capture_attention(*translator_, text, translation, tokens));
    });
  }

  // An HTML page with the story of a text and its translation.
  std::string story_page(const std::string& text, const nb::dict& options, const Languages& languages) const {
    const decoding::SearchOptions search = search_of(options, {}, true);
    return run_interruptibly([&](const std::stop_token& cancel) {
      decoding::InspectionRequest request{.text = text, .options = search, .cancel = cancel};
      request.languages = translator_->choose_languages(pair_of(languages)).tokens;
      return serving::story_page(*translator_, request);
    });
  }

  const data::Vocabulary& source_vocabulary() const { return translator_->source_vocabulary(); }
  const data::Vocabulary& target_vocabulary() const { return translator_->target_vocabulary(); }
  std::string device() const { return models::device_of(translator_->model()).name(); }
  std::string config() const { return translator_->model().config().to_json(); }
  // The codes of what the model reads and of what it writes; empty where its folder does not say.
  std::pair<Texts, Texts> languages() const {
    const models::ModelLanguages& all = translator_->languages();
    return {models::codes_of(all.sources), models::codes_of(all.targets)};
  }

 private:
  template <typename Take>
  void translate_in_groups(const Asked& asked, const decoding::SearchOptions& search, Take take) const {
    run_interruptibly([&](const std::stop_token& cancel) {
      for (size_t begin = 0; begin < asked.texts.size() && !cancel.stop_requested(); begin += kTogether) {
        const size_t end = std::min(asked.texts.size(), begin + kTogether);
        for (Translation& each :
             translator_->translate_requests(requests_of(*translator_, asked, begin, end, cancel), search)) {
          take(each);
        }
      }
    });
  }

  decoding::SearchOptions search_of(const nb::dict& options, const Texts& banned, bool scores) const {
    decoding::SearchOptions search = translator_->search_defaults();
    search.output.scores = scores;
    lay_options_over("translate", options, search, search.execution);
    translator_->check(search);
    if (!banned.empty()) {
      search.rules.banned = std::make_shared<decoding::BannedPhrases>(target_vocabulary(), banned);
    }
    return search;
  }

  WithoutGil<decoding::Translator> translator_;
};

std::unique_ptr<TranslatorCore> load(const std::vector<std::filesystem::path>& folders, const std::string& precision,
                                     const std::filesystem::path& reverse, int workers, int threads_per_worker,
                                     const std::string& device) {
  const auto chosen = base::from_name<std::optional<kernels::Precision>>(precision);
  const nb::gil_scoped_release released;
  const tensor::DeviceScope scope(kernels::cuda::open_named_device(device, "device"));
  return std::make_unique<TranslatorCore>(
      decoding::load_ensemble(folders, chosen, reverse, {workers, threads_per_worker}));
}

nb::object alignment_of(const Translation& translation) {
  const decoding::Alignment& alignment = translation.alignment;
  if (alignment.source_length == 0) {
    return nb::none();
  }
  return nb::cast(array_of(
      alignment.weights, {static_cast<size_t>(alignment.target_length), static_cast<size_t>(alignment.source_length)}));
}

std::string repr_of(const Translation& translation) {
  return fmt::format("Translation(text={}, score={:.4f}, tokens={})", nb::repr(nb::cast(translation.text)).c_str(),
                     translation.score, translation.pieces.size());
}

// What a pickled translation is made of.
using TranslationState =
    std::tuple<std::string, Texts, std::vector<int32_t>, std::vector<float>, double, double, int, Texts, int64_t,
               int64_t, std::vector<float>, std::vector<int32_t>, std::vector<Translation>, std::string>;

TranslationState state_of(const Translation& t) {
  return {t.text,
          t.pieces,
          t.ids,
          t.token_scores,
          t.score,
          t.normalised_score,
          static_cast<int>(t.finish_reason),
          t.source_pieces,
          t.alignment.target_length,
          t.alignment.source_length,
          t.alignment.weights,
          t.alignment.source_of_target,
          t.alternatives,
          t.warning};
}

void set_state(Translation& self, const TranslationState& state) {
  Translation t;
  int reason = 0;
  std::tie(t.text, t.pieces, t.ids, t.token_scores, t.score, t.normalised_score, reason, t.source_pieces,
           t.alignment.target_length, t.alignment.source_length, t.alignment.weights, t.alignment.source_of_target,
           t.alternatives, t.warning) = state;
  t.finish_reason = static_cast<decoding::FinishReason>(reason);
  new (&self) Translation(std::move(t));
}

}  // namespace

void bind_translator(nb::module_& module) {
  nb::class_<Translation>(module, "Translation", "A translation of one line, with what the search knows of it.")
      .def_ro("text", &Translation::text, "The translation: one line.")
      .def_ro("tokens", &Translation::pieces, "Its sub-words, without the end; U+2581 stands for a space.")
      .def_ro("ids", &Translation::ids, "The ids of the sub-words.")
      .def_ro("token_scores", &Translation::token_scores,
              "Log-probability in nats of each token, and of the end if the model wrote it.")
      .def_ro("score", &Translation::score, "The sum of the token scores.")
      .def_ro("normalised_score", &Translation::normalised_score, "The score that ranks: score / length penalty.")
      .def_ro("source_tokens", &Translation::source_pieces, "What the model read, the end included.")
      .def_ro("alternatives", &Translation::alternatives, "The next best translations, n_best - 1 at most.")
      .def_ro("warning", &Translation::warning, "Empty, or what had to be done with the line.")
      .def_prop_ro(
          "finish_reason", [](const Translation& self) { return std::string(decoding::name_of(self.finish_reason)); },
          "Why it ends: end_of_sentence, length_limit, phrases_missing, cancelled or deadline.")
      .def_prop_ro("alignment", &alignment_of,
                   nb::sig("def alignment(self) -> numpy.typing.NDArray[numpy.float32] | None"),
                   "Attention weights [tokens, source_tokens] float32, or None unless alignment=True was asked for.")
      .def("__getstate__", &state_of)
      .def("__setstate__", &set_state)
      .def("__repr__", &repr_of)
      .def("__str__", [](const Translation& self) { return self.text; });

  nb::class_<TranslatorCore>(module, "TranslatorCore")
      .def_static("load", &load, nb::arg("folders"), nb::arg("precision"), nb::arg("reverse"), nb::arg("workers"),
                  nb::arg("threads_per_worker"), nb::arg("device"))
      .def(
          "translate",
          [](const TranslatorCore& self, Texts texts, const nb::dict& options, Texts prefixes,
             std::vector<Texts> phrases, const Texts& banned, const Languages& languages) {
            return self.translate({std::move(texts), std::move(prefixes), std::move(phrases), pair_of(languages)},
                                  options, banned);
          },
          nb::arg("texts"), nb::arg("options"), nb::arg("prefixes"), nb::arg("phrases"), nb::arg("banned"),
          nb::arg("languages"))
      .def(
          "translate_texts",
          [](const TranslatorCore& self, Texts texts, const nb::dict& options, const Languages& languages) {
            return self.translate_texts({std::move(texts), {}, {}, pair_of(languages)}, options);
          },
          nb::arg("texts"), nb::arg("options"), nb::arg("languages"))
      .def("submit", &TranslatorCore::submit, nb::arg("text"), nb::arg("options"), nb::arg("prefix"),
           nb::arg("languages"), nb::arg("on_token").none(), nb::arg("on_done"))
      .def("score", &TranslatorCore::score, nb::arg("sources"), nb::arg("targets"), nb::arg("options"),
           nb::arg("languages"),
           nb::sig("def score(self, sources: collections.abc.Sequence[str], targets: collections.abc.Sequence[str], "
                   "options: dict, languages: tuple[str, str]) -> list[tuple[float, int]]"))
      .def("attention_page", &TranslatorCore::attention_page, nb::arg("text"), nb::arg("options"), nb::arg("languages"))
      .def_prop_ro("source_languages", [](const TranslatorCore& self) { return self.languages().first; })
      .def_prop_ro("target_languages", [](const TranslatorCore& self) { return self.languages().second; })
      .def("story_page", &TranslatorCore::story_page, nb::arg("text"), nb::arg("options"), nb::arg("languages"))
      .def_prop_ro("device", &TranslatorCore::device)
      .def_prop_ro("config", &TranslatorCore::config);

  module.def(
      "search_option_rows",
      [] {
        nb::list rows;
        append_option_rows(rows, decoding::SearchOptions());
        append_option_rows(rows, decoding::ExecutionOptions());
        return rows;
      },
      nb::sig("def search_option_rows() -> list[tuple[str, str, str, list[str], str]]"));
}

}  // namespace dragoman::python
