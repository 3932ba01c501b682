#include "cli/language_flags.h"

namespace dragoman::cli {

void add_language_flags(CLI::App& command, models::LanguagePair& languages) {
  command
      .add_option("--source-language", languages.source,
                  "Language of the source, for a model of several: a code like en, zh-Hant or eng_Latn")
      ->type_name("CODE");
  command.add_option("--target-language", languages.target, "Language to translate into, likewise")->type_name("CODE");
}

}  // namespace dragoman::cli
