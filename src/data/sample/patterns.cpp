#include "data/sample/patterns.h"

#include <algorithm>

#include "base/error.h"

namespace dragoman::data::sample {

namespace {

constexpr std::string_view kTiredness = "tired hungry thirsty weak sick sleepy exhausted injured";
constexpr std::string_view kReluctance = "tired frightened weak sick sleepy nervous lazy shy cautious exhausted";

constexpr CoreferencePattern kPatternTable[] = {
    {.name = "cross",
     .class_a = "animal",
     .class_b = "road",
     .weather = true,
     .english_auxiliary = "didn't",
     .english_base = "cross",
     .english_rest = "{B}",
     .german_verb = "überquerte",
     .german_rest = "{B.acc} nicht",
     .connectives = "because|since",
     .degrees = "too",
     .adjectives_a = kReluctance,
     .adjectives_b = "wide busy icy muddy slippery snowy bumpy flooded closed"},
    {.name = "cross-although",
     .class_a = "animal",
     .class_b = "road",
     .weather = true,
     .english_past = "crossed",
     .english_base = "cross",
     .english_rest = "{B}",
     .german_verb = "überquerte",
     .german_rest = "{B.acc}",
     .connectives = "although",
     .degrees = "very|-",
     .adjectives_a = kReluctance,
     .adjectives_b = "wide busy icy muddy slippery snowy bumpy flooded closed"},
    {.name = "swim",
     .class_a = "animal",
     .class_b = "water",
     .weather = true,
     .english_auxiliary = "didn't",
     .english_base = "swim across",
     .english_rest = "{B}",
     .german_verb = "durchschwamm",
     .german_rest = "{B.acc} nicht",
     .connectives = "because|since",
     .degrees = "too",
     .adjectives_a = kReluctance,
     .adjectives_b = "wide deep stormy polluted murky"},
    {.name = "climb",
     .class_a = "animal",
     .class_b = "climbable",
     .weather = true,
     .english_auxiliary = "didn't",
     .english_base = "climb",
     .english_rest = "{B}",
     .german_verb = "kletterte",
     .german_rest = "nicht auf {B.acc}",
     .connectives = "because|since",
     .degrees = "too",
     .adjectives_a = kReluctance,
     .adjectives_b = "high steep smooth icy rickety"},
    {.name = "fit",
     .class_a = "object",
     .class_b = "container",
     .english_auxiliary = "didn't",
     .english_base = "fit into",
     .english_rest = "{B}",
     .german_verb = "passte",
     .german_rest = "nicht in {B.acc}",
     .connectives = "because|since",
     .degrees = "too",
     .adjectives_a = "large bulky long thick wide",
     .adjectives_b = "small narrow full shallow cramped"},
    {.name = "eat",
     .class_a = "animal",
     .class_b = "fruit",
     .english_past = "ate",
     .english_base = "eat",
     .english_rest = "{B}",
     .german_verb = "fraß",
     .german_rest = "{B.acc}",
     .connectives = "because|since",
     .degrees = "so|very|-",
     .adjectives_a = "hungry greedy thirsty exhausted",
     .adjectives_b = "ripe sweet juicy fresh tasty"},
    {.name = "refuse",
     .class_a = "animal",
     .class_b = "dish",
     .english_auxiliary = "didn't",
     .english_base = "eat",
     .english_rest = "{B}",
     .german_verb = "fraß",
     .german_rest = "{B.acc} nicht",
     .connectives = "because|since",
     .degrees = "too",
     .adjectives_a = "tired frightened sick sleepy nervous shy cautious lazy",
     .adjectives_b = "salty sour bitter mouldy hot tough hard frozen"},
    {.name = "sleep",
     .class_a = "animal",
     .class_b = "place",
     .weather = true,
     .english_past = "slept in",
     .english_base = "sleep in",
     .english_rest = "{B}",
     .german_verb = "schlief",
     .german_rest = "in {B.dat}",
     .connectives = "because|since",
     .degrees = "so|very|-",
     .adjectives_a = kTiredness,
     .adjectives_b = "cosy empty shady heated spacious"},
    {.name = "leave-place",
     .class_a = "animal",
     .class_b = "place",
     .weather = true,
     .english_auxiliary = "didn't",
     .english_base = "stay in",
     .english_rest = "{B}",
     .german_verb = "blieb",
     .german_rest = "nicht in {B.dat}",
     .connectives = "because|since",
     .degrees = "too",
     .adjectives_a = "hungry thirsty frightened nervous shy",
     .adjectives_b = "draughty damp cramped smoky"},
    {.name = "pull",
     .class_a = "draught_animal",
     .class_b = "pulled_vehicle",
     .weather = true,
     .english_auxiliary = "couldn't",
     .english_base = "pull",
     .english_rest = "{B}",
     .german_verb = "konnte",
     .german_rest = "{B.acc} nicht ziehen",
     .connectives = "because|since",
     .degrees = "too",
     .adjectives_a = "tired weak sick exhausted injured",
     .adjectives_b = "heavy bulky loaded rusty"},
    {.name = "break",
     .class_a = "heavy_object",
     .class_b = "fragile_object",
     .english_past = "broke",
     .english_base = "break",
     .english_rest = "{B}",
     .german_verb = "zerbrach",
     .german_rest = "{B.acc}",
     .connectives = "because|since",
     .degrees = "so|very|-",
     .adjectives_a = "heavy hard bulky",
     .adjectives_b = "thin fragile delicate"},
    {.name = "cut",
     .class_a = "cuttable_food",
     .class_b = "tool",
     .person = true,
     .english_auxiliary = "couldn't",
     .english_base = "cut",
     .english_rest = "{A} with {B}",
     .german_verb = "konnte",
     .german_rest = "{A.acc} nicht mit {B.dat} schneiden",
     .connectives = "because|since",
     .degrees = "too",
     .adjectives_a = "tough thick hard frozen",
     .adjectives_b = "blunt rusty"},
    {.name = "put-on",
     .class_a = "standing_object",
     .class_b = "furniture",
     .person = true,
     .english_past = "put",
     .english_base = "put",
     .english_rest = "{A} on {B}",
     .german_verb = "stellte",
     .german_rest = "{A.acc} auf {B.acc}",
     .connectives = "but",
     .degrees = "too",
     .adjectives_a = "heavy bulky large",
     .adjectives_b = "rickety narrow low small"},
    {.name = "take-out",
     .class_a = "cuttable_food",
     .class_b = "closable",
     .person = true,
     .english_past = "took",
     .english_base = "take",
     .english_rest = "{A} out of {B}",
     .german_verb = "nahm",
     .german_rest = "{A.acc} aus {B.dat}",
     .connectives = "and",
     .clauses_a = "ate it=aß <ihn>|tasted it=probierte <ihn>|cooked it=kochte <ihn>",
     .clauses_b = "closed it=schloss <ihn>|locked it=verriegelte <ihn>|emptied it=leerte <ihn>"},
    {.name = "wait",
     .class_a = "animal",
     .class_b = "vehicle",
     .weather = true,
     .english_past = "waited beside",
     .english_base = "wait beside",
     .english_rest = "{B}",
     .german_verb = "wartete",
     .german_rest = "neben {B.dat}",
     .connectives = "because|since",
     .clauses_a = "nobody fed it=<ihn> niemand fütterte|nobody helped it=<ihm> niemand half|"
                  "it lacked courage=<ihm> der Mut fehlte|it lacked strength=<ihm> die Kraft fehlte",
     .clauses_b = "nobody repaired it=<ihn> niemand reparierte|nobody steered it=<ihn> niemand lenkte|"
                  "it lacked a driver=<ihm> ein Fahrer fehlte|it lacked a brake=<ihm> eine Bremse fehlte"},
    {.name = "watch",
     .class_a = "animal",
     .class_b = "vehicle",
     .english_past = "watched",
     .english_base = "watch",
     .english_rest = "{B}",
     .german_verb = "beobachtete",
     .german_rest = "{B.acc}",
     .connectives = "until",
     .clauses_a = "it fell asleep=<er> einschlief|it got hungry=<er> hungrig wurde|somebody fed it=<ihn> jemand "
                  "fütterte|it lacked patience=<ihm> die Geduld fehlte",
     .clauses_b = "it broke down=<er> kaputtging|it was repaired=<er> repariert war|somebody repaired it=<ihn> jemand "
                  "reparierte|it was loaded=<er> beladen war"},
    {.name = "leave-vehicle",
     .class_a = "animal",
     .class_b = "vehicle",
     .english_past = "left",
     .english_base = "leave",
     .english_rest = "{B}",
     .german_verb = "verließ",
     .german_rest = "{B.acc}",
     .connectives = "as soon as",
     .clauses_a = "it woke up=<er> aufwachte|it felt better=<er> sich erholte|somebody called it=<ihn> jemand rief|"
                  "it heard the thunder=<er> den Donner hörte",
     .clauses_b = "it stopped=<er> anhielt|it caught fire=<er> Feuer fing|it broke down=<er> kaputtging|"
                  "somebody repaired it=<ihn> jemand reparierte"},
};

constexpr Connective kConnectiveTable[] = {
    {"because", "weil"},
    {"since", "da"},
    {"although", "obwohl"},
    {"until", "bis"},
    {"as soon as", "sobald"},
    {"but", "aber", VerbPosition::kSecond, true},
    {"and", "und", VerbPosition::kCoordinate},
};

constexpr WordPair kDegreeTable[] = {{"too", "zu"}, {"so", "so"}, {"very", "sehr"}};
constexpr WordPair kWeatherTable[] = {{"it was raining", "es regnete"},
                                      {"it was snowing", "es schneite"},
                                      {"it was thundering", "es donnerte"},
                                      {"it was hailing", "es hagelte"}};
constexpr WordPair kPrepositionTable[] = {
    {"behind", "hinter"}, {"beside", "neben"}, {"in front of", "vor"}, {"near", "bei"}};
constexpr WordPair kNumeralTable[] = {{"two", "zwei"}, {"three", "drei"}, {"four", "vier"},      {"five", "fünf"},
                                      {"ten", "zehn"}, {"many", "viele"}, {"several", "mehrere"}};
constexpr WordPair kPluralVerbTable[] = {
    {"slept", "schliefen"}, {"hid", "versteckten sich"}, {"played", "spielten"}, {"waited", "warteten"}};
constexpr WordPair kTransitivePastTable[] = {
    {"saw", "sah"}, {"found", "fand"}, {"painted", "malte"}, {"photographed", "fotografierte"}, {"forgot", "vergaß"}};
constexpr WordPair kModalTable[] = {
    {"wants to", "will"}, {"must", "muss"}, {"can", "kann"}, {"would like to", "möchte"}};
constexpr WordPair kInfinitiveTable[] = {
    {"buy", "kaufen"}, {"sell", "verkaufen"}, {"draw", "zeichnen"}, {"show", "zeigen"}, {"look for", "suchen"}};

}  // namespace

const std::span<const CoreferencePattern> kCoreferencePatterns = kPatternTable;
const std::span<const Connective> kConnectives = kConnectiveTable;
const std::span<const WordPair> kDegrees = kDegreeTable;
const std::span<const WordPair> kWeather = kWeatherTable;
const std::span<const WordPair> kPrepositions = kPrepositionTable;
const std::span<const WordPair> kNumerals = kNumeralTable;
const std::span<const WordPair> kPluralVerbs = kPluralVerbTable;
const std::span<const WordPair> kTransitivePast = kTransitivePastTable;
const std::span<const WordPair> kModals = kModalTable;
const std::span<const WordPair> kInfinitives = kInfinitiveTable;

const Connective& connective_named(std::string_view english) {
  const auto found = std::ranges::find(kConnectives, english, &Connective::english);
  base::check_argument(found != kConnectives.end(), "sample corpus: unknown connective '{}'", english);
  return *found;
}

}  // namespace dragoman::data::sample
