#include "data/examples.h"

namespace dragoman::data {

std::vector<std::pair<std::string, uint64_t>> Examples::facts() const {
  const CorpusStatistics& corpus = statistics();
  return {{"pairs read", corpus.read},
          {"pairs kept", corpus.kept},
          {"source tokens", corpus.source_tokens},
          {"target tokens", corpus.target_tokens}};
}

}  // namespace dragoman::data
