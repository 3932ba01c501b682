#include "serving/routes/glossary_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/error.h"
#include "serving/routes/deepl_access.h"
#include "serving/routes/deepl_glossary.h"

namespace dragoman::serving {
namespace {

using nlohmann::json;

constexpr ErrorShape kDeeplShape = ErrorShape::kDeepl;

// One request about glossaries.
struct Call {
  const Request& request;
  ServingContext& context;
  GlossaryStore& store;
  std::string owner;

  std::string id() const { return path_segment(request, 2); }
};

[[noreturn]] void not_found(const char* what = "Glossary") {
  throw HttpError(status::kNotFound, fmt::format("{} not found", what));
}

[[noreturn]] void missing(std::string_view name) {
  bad_request(fmt::format("Missing or invalid argument: {}", name));
}

std::shared_ptr<const Glossary> glossary_of(const Call& call) {
  auto glossary = call.store.find(call.owner, call.id());
  if (glossary == nullptr) {
    not_found();
  }
  return glossary;
}

// Returns a glossary that version 2 can show: one with a single dictionary.
std::shared_ptr<const Glossary> single_glossary_of(const Call& call) {
  auto glossary = glossary_of(call);
  if (glossary->dictionaries.size() != 1) {
    not_found();
  }
  return glossary;
}

// Returns the fields of a query. A body of GET and DELETE has no meaning (RFC 9110, section 9.3).
RequestFields query_of(const Call& call) {
  return RequestFields(
      {.method = call.request.method, .path = call.request.path, .query = call.request.query, .headers = {}});
}

models::LanguagePair pair_of(const std::string& source, const std::string& target, const ServedModels& models) {
  if (source.empty() || target.empty()) {
    missing(source.empty() ? "source_lang" : "target_lang");
  }
  models::LanguagePair pair{glossary_language(source), glossary_language(target)};
  const std::vector<models::LanguagePair> pairs = glossary_pairs(models);
  if (std::ranges::find(pairs, pair) == pairs.end()) {
    bad_request("Unsupported glossary source and target language pair");
  }
  return pair;
}

models::LanguagePair pair_in_query(const Call& call) {
  const RequestFields fields = query_of(call);
  return pair_of(fields.text("source_lang"), fields.text("target_lang"), *call.context.models.get());
}

// Reads a dictionary. `text` returns a field of it.
template <typename Text>
GlossaryDictionary dictionary_of(const Text& text, const ServedModels& models) {
  GlossaryDictionary dictionary{.pair = pair_of(text("source_lang"), text("target_lang"), models), .entries = {}};
  const std::string name = text("entries_format");
  const auto format = entries_format_from(name.empty() ? "tsv" : name);
  if (!format) {
    bad_request("Unsupported entries format specified");
  }
  dictionary.entries = parse_glossary_entries(text("entries"), *format, dictionary.pair);
  dictionary.terms = terms_of({&dictionary});
  return dictionary;
}

GlossaryDictionary dictionary_of(const RequestFields& fields, const ServedModels& models) {
  return dictionary_of([&](const char* name) { return fields.text(name); }, models);
}

// Reads the array `dictionaries` of a request. Empty if the field is missing.
std::vector<GlossaryDictionary> dictionaries_of(const RequestFields& fields, const ServedModels& models) {
  const json& all = fields["dictionaries"];
  std::vector<GlossaryDictionary> dictionaries;
  if (!all.is_array() && !all.is_null()) {
    missing("dictionaries");
  }
  for (const json& one : all) {
    if (!one.is_object()) {
      missing("dictionaries");
    }
    dictionaries.push_back(dictionary_of(
        [&](const char* name) {
          const auto found = one.find(name);
          if (found != one.end() && !found->is_string() && !found->is_null()) {
            missing(name);
          }
          return found != one.end() && found->is_string() ? found->get<std::string>() : std::string();
        },
        models));
    if (std::ranges::count(dictionaries, dictionaries.back().pair, &GlossaryDictionary::pair) > 1) {
      bad_request("A glossary has one dictionary for each language pair");
    }
  }
  return dictionaries;
}

std::string checked_name(const std::string& name) {
  if (name.empty() || name.size() > kMostGlossaryTextBytes) {
    missing("name");
  }
  return name;
}

json info_of(const GlossaryDictionary& dictionary) {
  return {{"source_lang", dictionary.pair.source},
          {"target_lang", dictionary.pair.target},
          {"entry_count", dictionary.entries.size()}};
}

json info_2(const Glossary& glossary) {
  json info = info_of(glossary.dictionaries.front());
  info["glossary_id"] = glossary.id;
  info["name"] = glossary.name;
  info["ready"] = true;
  info["creation_time"] = glossary.creation_time;
  return info;
}

json info_3(const Glossary& glossary) {
  json dictionaries = json::array();
  for (const GlossaryDictionary& dictionary : glossary.dictionaries) {
    dictionaries.push_back(info_of(dictionary));
  }
  return {{"glossary_id", glossary.id},
          {"name", glossary.name},
          {"dictionaries", std::move(dictionaries)},
          {"creation_time", glossary.creation_time}};
}

// Sets the dictionary of its pair.
void put(Glossary& glossary, GlossaryDictionary dictionary) {
  const auto found = std::ranges::find(glossary.dictionaries, dictionary.pair, &GlossaryDictionary::pair);
  if (found == glossary.dictionaries.end()) {
    glossary.dictionaries.push_back(std::move(dictionary));
  } else {
    *found = std::move(dictionary);
  }
}

Reply no_content() {
  return {.status = status::kNoContent, .content_type = ""};
}

Reply create_2(const Call& call) {
  const RequestFields fields(call.request);
  const std::string name = checked_name(fields.text("name"));
  GlossaryDictionary dictionary = dictionary_of(fields, *call.context.models.get());
  const auto made = call.store.create({.name = name, .owner = call.owner, .dictionaries = {std::move(dictionary)}});
  return json_reply(info_2(*made), status::kCreated);
}

Reply create_3(const Call& call) {
  const RequestFields fields(call.request);
  const std::string name = checked_name(fields.text("name"));
  std::vector<GlossaryDictionary> dictionaries = dictionaries_of(fields, *call.context.models.get());
  if (dictionaries.empty()) {
    bad_request("Glossary dictionaries must be provided");
  }
  const auto made = call.store.create({.name = name, .owner = call.owner, .dictionaries = std::move(dictionaries)});
  return json_reply(info_3(*made), status::kCreated);
}

Reply list_2(const Call& call) {
  json glossaries = json::array();
  for (const auto& glossary : call.store.list(call.owner)) {
    if (glossary->dictionaries.size() == 1) {
      glossaries.push_back(info_2(*glossary));
    }
  }
  return json_reply({{"glossaries", std::move(glossaries)}});
}

Reply list_3(const Call& call) {
  json glossaries = json::array();
  for (const auto& glossary : call.store.list(call.owner)) {
    glossaries.push_back(info_3(*glossary));
  }
  return json_reply({{"glossaries", std::move(glossaries)}});
}

Reply get_2(const Call& call) {
  return json_reply(info_2(*single_glossary_of(call)));
}

Reply get_3(const Call& call) {
  return json_reply(info_3(*glossary_of(call)));
}

Reply entries_2(const Call& call) {
  const std::string accepted = base::ascii_lower_case(call.request.header("Accept"));
  const bool takes_tsv = accepted.empty() || accepted.find("*/*") != std::string::npos ||
                         accepted.find("text/*") != std::string::npos ||
                         accepted.find("text/tab-separated-values") != std::string::npos;
  if (!takes_tsv) {
    throw HttpError(status::kUnsupportedMediaType, "No supported media type specified in Accept header");
  }
  return {.content_type = "text/tab-separated-values; charset=UTF-8",
          .body = tsv_of(single_glossary_of(call)->dictionaries.front().entries)};
}

Reply entries_3(const Call& call) {
  const auto glossary = glossary_of(call);
  const GlossaryDictionary* const dictionary = glossary->find(pair_in_query(call));
  if (dictionary == nullptr) {
    not_found("Dictionary");
  }
  return json_reply({{"dictionaries",
                      {{{"source_lang", dictionary->pair.source},
                        {"target_lang", dictionary->pair.target},
                        {"entries", tsv_of(dictionary->entries)},
                        {"entries_format", "tsv"}}}}});
}

Reply remove_glossary(const Call& call) {
  if (!call.store.remove(call.owner, call.id())) {
    not_found();
  }
  return no_content();
}

// Renames a glossary, and adds entries to one of its dictionaries, or a dictionary.
Reply patch(const Call& call) {
  const RequestFields fields(call.request);
  const std::string name = fields["name"].is_null() ? std::string() : checked_name(fields.text("name"));
  std::vector<GlossaryDictionary> dictionaries = dictionaries_of(fields, *call.context.models.get());
  if (dictionaries.size() > 1) {
    bad_request("Not implemented yet: only dictionaries of length 0 or 1 is currently supported");
  }
  const auto changed = call.store.update(call.owner, call.id(), [&](Glossary& glossary) {
    glossary.name = name.empty() ? glossary.name : name;
    for (GlossaryDictionary& dictionary : dictionaries) {
      if (const GlossaryDictionary* const old = glossary.find(dictionary.pair); old != nullptr) {
        dictionary.entries = merged_entries(old->entries, dictionary.entries);
      }
      put(glossary, std::move(dictionary));
    }
  });
  if (changed == nullptr) {
    not_found();
  }
  return json_reply(info_3(*changed));
}

Reply put_dictionary(const Call& call) {
  GlossaryDictionary dictionary = dictionary_of(RequestFields(call.request), *call.context.models.get());
  const models::LanguagePair pair = dictionary.pair;
  const auto changed =
      call.store.update(call.owner, call.id(), [&](Glossary& glossary) { put(glossary, std::move(dictionary)); });
  if (changed == nullptr) {
    not_found();
  }
  return json_reply(info_of(*changed->find(pair)));
}

Reply remove_dictionary(const Call& call) {
  const models::LanguagePair pair = pair_in_query(call);
  const auto changed = call.store.update(call.owner, call.id(), [&](Glossary& glossary) {
    if (std::erase_if(glossary.dictionaries, [&](const GlossaryDictionary& one) { return one.pair == pair; }) == 0) {
      not_found("Dictionary");
    }
  });
  if (changed == nullptr) {
    not_found();
  }
  return no_content();
}

// Answers for a server without a folder for glossaries.
Reply without_store(const Request& request) {
  if (request.method != "POST" && path_segment(request, 2).empty()) {
    return json_reply({{"glossaries", json::array()}});
  }
  throw HttpError(request.method == "POST" ? status::kBadRequest : status::kNotFound, kNoGlossaries);
}

// Calls `answer`. If the store cannot write, says why, and tells the client to try again later.
Reply answer_stored(Reply (*answer)(const Call&), const Call& call,
                    const std::function<void(const std::string&)>& say) {
  try {
    return answer(call);
  } catch (const base::Error& error) {
    say(fmt::format("glossaries: {}", error.what()));
    throw HttpError(status::kUnavailable,
                    "The glossaries of this server cannot be read or written now; try again later");
  }
}

}  // namespace

void add_glossary_routes(Router& router, ServingContext& context, WorkQueue& queue,
                         std::function<void(const std::string&)> say) {
  const auto add = [&](const char* method, const char* path, Reply (*answer)(const Call&)) {
    router.add_later(method, path, kDeeplShape,
                     [&context, &queue, say, answer](const std::shared_ptr<HttpExchange>& exchange) {
                       admit_deepl(context, exchange->request(), 0);
                       if (context.glossaries == nullptr) {
                         return exchange->reply(traced(without_store(exchange->request())));
                       }
                       queue.submit(exchange->cancelled(), [&context, say, answer, exchange] {
                         answer_errors(exchange, kDeeplShape, [&] {
                           const Call call{exchange->request(), context, *context.glossaries,
                                           glossary_owner(context, exchange->request())};
                           exchange->reply(traced(answer_stored(answer, call, say)));
                         });
                       });
                     });
  };
  router.add("GET", "/v2/glossary-language-pairs", kDeeplShape, [&context](const Request& request) {
    admit_deepl(context, request, 0);
    json pairs = json::array();
    for (const models::LanguagePair& pair :
         context.glossaries == nullptr ? std::vector<models::LanguagePair>() : glossary_pairs(*context.models.get())) {
      pairs.push_back({{"source_lang", pair.source}, {"target_lang", pair.target}});
    }
    return traced(json_reply({{"supported_languages", std::move(pairs)}}));
  });
  add("POST", "/v2/glossaries", create_2);
  add("GET", "/v2/glossaries", list_2);
  add("GET", "/v2/glossaries/{glossary_id}", get_2);
  add("GET", "/v2/glossaries/{glossary_id}/entries", entries_2);
  add("DELETE", "/v2/glossaries/{glossary_id}", remove_glossary);
  add("POST", "/v3/glossaries", create_3);
  add("GET", "/v3/glossaries", list_3);
  add("GET", "/v3/glossaries/{glossary_id}", get_3);
  add("PATCH", "/v3/glossaries/{glossary_id}", patch);
  add("DELETE", "/v3/glossaries/{glossary_id}", remove_glossary);
  add("GET", "/v3/glossaries/{glossary_id}/entries", entries_3);
  add("PUT", "/v3/glossaries/{glossary_id}/dictionaries", put_dictionary);
  add("DELETE", "/v3/glossaries/{glossary_id}/dictionaries", remove_dictionary);
}

}  // namespace dragoman::serving
