#include "data/sample/pronoun_twins.h"

namespace dragoman::data {
namespace {

bool are_twins(const PronounRow& first, const PronounRow& second) {
  return second.line == first.line + 1 && second.pattern == first.pattern &&
         second.antecedent_english == first.rival_english && second.rival_english == first.antecedent_english;
}

}  // namespace

std::vector<PronounTwins> pronoun_twins(std::span<const PronounRow> rows) {
  std::vector<PronounTwins> twins;
  for (size_t i = 1; i < rows.size(); ++i) {
    const bool is_taken = !twins.empty() && twins.back().second.line == rows[i - 1].line;
    if (!is_taken && are_twins(rows[i - 1], rows[i])) {
      twins.push_back({rows[i - 1], rows[i]});
    }
  }
  return twins;
}

}  // namespace dragoman::data
