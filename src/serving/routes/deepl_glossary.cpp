#include "serving/routes/deepl_glossary.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/ascii.h"
#include "base/sha256.h"
#include "serving/routes/deepl_access.h"

namespace dragoman::serving {
namespace {

constexpr size_t kMostIds = 5;  // as DeepL

// Returns the ids of both fields.
std::vector<std::string> asked_ids(const RequestFields& fields) {
  if (is_given(fields, "glossary_id")) {
    if (is_given(fields, "glossary_ids")) {
      bad_request("Parameters 'glossary_id' and 'glossary_ids' cannot be used together.");
    }
    return {fields.text("glossary_id")};
  }
  std::vector<std::string> ids;
  for (const std::string& id : fields.listed_texts("glossary_ids")) {
    ids.emplace_back(base::trim(id, " "));
  }
  if (ids.size() > kMostIds) {
    bad_request(fmt::format("Too many glossaries: {}, at most {} are allowed.", ids.size(), kMostIds));
  }
  return ids;
}

}  // namespace

std::string glossary_owner(const ServingContext& context, const Request& request) {
  return context.keys.get() == nullptr ? std::string() : base::sha256_hex(deepl_key(request));
}

std::vector<models::LanguagePair> glossary_pairs(const ServedModels& models) {
  std::vector<models::LanguagePair> pairs;
  std::set<std::pair<std::string, std::string>> seen;
  const auto add = [&](const std::string& source, const std::string& target) {
    if (source != target && seen.emplace(source, target).second) {
      pairs.push_back({source, target});
    }
  };
  for (const ServedModel& model : models.all()) {
    for (const models::ModelLanguage& source : model.languages.sources) {
      for (const models::ModelLanguage& target : model.languages.targets) {
        add(glossary_language(source.code), glossary_language(target.code));
      }
    }
  }
  return pairs;
}

std::shared_ptr<const decoding::TermTable> asked_terms(const RequestFields& fields, const ServingContext& context,
                                                       const std::string& owner) {
  const std::vector<std::string> ids = asked_ids(fields);
  if (ids.empty()) {
    return nullptr;
  }
  if (!is_given(fields, "source_lang")) {
    bad_request("Use of a glossary requires the source_lang parameter to be specified");
  }
  if (context.glossaries == nullptr) {
    throw HttpError(status::kNotFound, kNoGlossaries);
  }
  const models::LanguagePair pair{glossary_language(fields.text("source_lang")),
                                  glossary_language(fields.text("target_lang"))};
  std::vector<std::shared_ptr<const Glossary>> glossaries;
  std::vector<const GlossaryDictionary*> dictionaries;
  for (const std::string& id : ids) {
    glossaries.push_back(context.glossaries->find(owner, id));
    if (glossaries.back() == nullptr) {
      throw HttpError(status::kNotFound, "Glossary not found");
    }
    dictionaries.push_back(glossaries.back()->find(pair));
    if (dictionaries.back() == nullptr) {
      throw HttpError(status::kNotFound, "Dictionary not found", {},
                      fmt::format("The glossary has no dictionary from {} to {}", pair.source, pair.target));
    }
  }
  return dictionaries.size() == 1 ? dictionaries.front()->terms : terms_of(dictionaries);
}

}  // namespace dragoman::serving
