#include "models/languages.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"

namespace dragoman::models {
namespace {

using nlohmann::json;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_letter_or_digit(char c) {
  return is_letter(c) || (c >= '0' && c <= '9');
}

// ISO 639-1, all of it.
constexpr std::string_view kTwoLetterCodes =
    " aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en "
    "eo "
    "es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka "
    "kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng "
    "nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su "
    "sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu ";

// "CN" or "Hant", in the usual spelling, so that "tok" of "train.de-tok" is none.
bool is_script_or_country(std::string_view part) {
  constexpr size_t kCountry = 2, kScript = 4;
  return (part.size() == kCountry || part.size() == kScript) && std::ranges::all_of(part, is_letter) &&
         part.front() >= 'A' && part.front() <= 'Z';
}

bool is_pair(const json& tree) {
  const auto is_code = [&](const char* key) {
    return tree.contains(key) && tree[key].is_string() && is_language_code(tree[key].get_ref<const std::string&>());
  };
  return is_code("source") && is_code("target");
}

bool is_list(const json& tree, const char* key) {
  if (!tree.contains(key) || !tree[key].is_object() || tree[key].empty()) {
    return false;
  }
  for (const auto& [code, own] : tree[key].items()) {
    if (!is_language_code(code) || !own.is_string() || own.get_ref<const std::string&>().empty()) {
      return false;
    }
  }
  return true;
}

// @param object  of is_list
std::vector<ModelLanguage> list_of(const json& object) {
  std::vector<ModelLanguage> languages;
  for (const auto& [code, own] : object.items()) {
    languages.push_back({code, own.get<std::string>()});
  }
  return languages;
}

}  // namespace

bool is_language_code(std::string_view code) {
  const std::string_view language = code.substr(0, code.find('-'));
  if (language.size() < 2 || language.size() > 3 || !std::ranges::all_of(language, is_letter)) {
    return false;
  }
  for (std::string_view rest = code.substr(language.size()); !rest.empty();) {
    rest.remove_prefix(1);
    const std::string_view part = rest.substr(0, rest.find('-'));
    constexpr size_t kLongestPart = 8;
    if (part.empty() || part.size() > kLongestPart || !std::ranges::all_of(part, is_letter_or_digit)) {
      return false;
    }
    rest.remove_prefix(part.size());
  }
  return true;
}

std::string language_of_file(const std::filesystem::path& file) {
  const std::string last = file.extension().string();
  const bool is_packed = last == ".gz" || last == ".xz" || last == ".zst";
  const std::string extension = is_packed ? file.stem().extension().string() : last;
  const std::string code = extension.empty() ? "" : extension.substr(1);
  const std::string language = code.substr(0, code.find('-'));
  constexpr size_t kTwoLetters = 2;
  const bool is_known =
      language.size() == kTwoLetters && kTwoLetterCodes.find(" " + language + " ") != std::string_view::npos;
  return is_known && (code == language || is_script_or_country(code.substr(kTwoLetters + 1))) ? code : std::string();
}

std::optional<LanguagePair> languages_of_files(const std::filesystem::path& source,
                                               const std::filesystem::path& target) {
  LanguagePair pair{language_of_file(source), language_of_file(target)};
  const bool are_known = !pair.source.empty() && !pair.target.empty() && pair.source != pair.target;
  return are_known ? std::optional(std::move(pair)) : std::nullopt;
}

std::vector<LanguagePair> pairs_of_files(std::span<const std::filesystem::path> sources,
                                         std::span<const std::filesystem::path> targets) {
  const auto language = [](const std::string& code) { return code.substr(0, code.find('-')); };
  std::vector<LanguagePair> pairs;
  for (size_t i = 0; i < std::min(sources.size(), targets.size()); ++i) {
    const auto pair = languages_of_files(sources[i], targets[i]);
    const bool is_new =
        pair && std::ranges::none_of(pairs, [&](const LanguagePair& each) {
          return language(each.source) == language(pair->source) && language(each.target) == language(pair->target);
        });
    if (is_new) {
      pairs.push_back(*pair);
    }
  }
  return pairs;
}

std::string languages_json(const LanguagePair& pair) {
  return base::dump_json({{"source", pair.source}, {"target", pair.target}}) + "\n";
}

std::string languages_json(const ModelLanguages& languages) {
  if (languages.targets.empty()) {
    return "";
  }
  const auto tree = [](const std::vector<ModelLanguage>& list) {
    json object = json::object();
    for (const ModelLanguage& language : list) {
      object[language.code] = language.own;
    }
    return object;
  };
  return languages.has_codes()
             ? base::dump_json({{"sources", tree(languages.sources)}, {"targets", tree(languages.targets)}}) + "\n"
             : languages_json(languages.only_pair());
}

ModelLanguages languages_from_json(std::string_view text, std::string_view file_name) {
  const json tree = base::parse_json(text, file_name);
  base::check_data(
      tree.is_object() && tree.size() == 2 && (is_pair(tree) || (is_list(tree, "sources") && is_list(tree, "targets"))),
      "{}: must be {{\"source\": CODE, \"target\": CODE}} with codes like en or pt-BR, or "
      "{{\"sources\": {{CODE: OWN, ...}}, \"targets\": {{...}}}} with the codes of the model beside them; "
      "correct it",
      file_name);
  if (is_pair(tree)) {
    return {{{tree["source"].get<std::string>()}}, {{tree["target"].get<std::string>()}}};
  }
  return {list_of(tree["sources"]), list_of(tree["targets"])};
}

std::vector<std::string> codes_of(const std::vector<ModelLanguage>& languages) {
  std::vector<std::string> codes;
  std::ranges::transform(languages, std::back_inserter(codes), &ModelLanguage::code);
  return codes;
}

const ModelLanguage* find_language(std::string_view asked, const std::vector<ModelLanguage>& languages) {
  const auto own = std::ranges::find(languages, asked, &ModelLanguage::own);
  if (!asked.empty() && own != languages.end()) {
    return &*own;
  }
  const std::string code = match_language(asked, codes_of(languages));
  const auto found = std::ranges::find(languages, code, &ModelLanguage::code);
  return found == languages.end() ? nullptr : &*found;
}

ModelLanguages languages_between(const std::vector<std::string>& own) {
  std::vector<ModelLanguage> languages;
  const std::vector<std::string> codes = common_languages(own);
  for (size_t i = 0; i < own.size(); ++i) {
    if (is_language_code(codes[i])) {  // other pieces that a folder adds are none
      languages.push_back({codes[i], own[i]});
    }
  }
  std::ranges::sort(languages, {}, &ModelLanguage::code);
  return {languages, languages};
}

}  // namespace dragoman::models
