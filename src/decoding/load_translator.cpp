#include "decoding/load_translator.h"

#include "base/error.h"
#include "decoding/load_model.h"

namespace dragoman::decoding {
namespace {

void check_same(const char* side, const data::Vocabulary& first, const data::Vocabulary& other,
                const std::filesystem::path& first_folder, const std::filesystem::path& folder) {
  base::check_data(first.sha256() == other.sha256(),
                   "{}: its {} vocabulary is not that of {}; only models trained with the same vocabularies can be "
                   "searched together",
                   folder.string(), side, first_folder.string());
}

// Refuses a model that reads no source text.
LoadedModel load_translation_model(const std::filesystem::path& folder, std::optional<kernels::Precision> precision) {
  LoadedModel loaded = load_model(folder, precision);
  base::check_usage(loaded.model->config().sizes().source_vocab_size > 0,
                    "{}: holds a {} model, which continues a text; use dragoman generate", folder.string(),
                    loaded.model->config().architecture());
  base::check_usage(loaded.model->config().sizes().target_vocab_size > 0,
                    "{}: holds an {} model, which writes no text; use dragoman embed", folder.string(),
                    loaded.model->config().architecture());
  return loaded;
}

// Sets the reranker, unless the folder name is empty.
void load_reranker(const std::filesystem::path& folder, std::optional<kernels::Precision> precision,
                   TranslatorSetup& setup) {
  if (folder.empty()) {
    return;
  }
  LoadedModel reverse = load_translation_model(folder, precision);
  base::check_usage(!reverse.languages.has_codes(),
                    "{}: translates between several languages; a reverse model has one pair", folder.string());
  setup.reverse_languages = std::move(reverse.languages);
  setup.reranker = std::make_shared<Reranker>(std::move(reverse.model), std::move(reverse.vocabularies.source),
                                              std::move(reverse.vocabularies.target));
}

}  // namespace

Translator load_translator(const std::filesystem::path& folder, std::optional<kernels::Precision> precision) {
  LoadedModel loaded = load_translation_model(folder, precision);
  return {std::move(loaded.model),
          loaded.vocabularies.source,
          loaded.vocabularies.target,
          {.defaults = loaded.defaults, .shortlist = std::move(loaded.shortlist), .languages = loaded.languages}};
}

std::unique_ptr<Translator> load_ensemble(std::span<const std::filesystem::path> folders,
                                          std::optional<kernels::Precision> precision,
                                          const std::filesystem::path& reverse, const ServiceThreads& threads) {
  base::check_usage(!folders.empty(), "ensemble: no model folder is given, one at least is needed");
  LoadedModel first = load_translation_model(folders.front(), precision);
  ParallelSearch::Models models = {first.model};
  for (const std::filesystem::path& folder : folders.subspan(1)) {
    const LoadedModel next = load_translation_model(folder, precision);
    check_same("source", first.vocabularies.source, next.vocabularies.source, folders.front(), folder);
    check_same("target", first.vocabularies.target, next.vocabularies.target, folders.front(), folder);
    models.push_back(next.model);
  }
  TranslatorSetup setup{.defaults = first.defaults,
                        .shortlist = std::move(first.shortlist),
                        .threads = threads,
                        .languages = std::move(first.languages)};
  load_reranker(reverse, precision, setup);
  return std::make_unique<Translator>(std::move(models), first.vocabularies.source, first.vocabularies.target,
                                      std::move(setup));
}

}  // namespace dragoman::decoding
