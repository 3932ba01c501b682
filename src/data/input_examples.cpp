#include "data/input_examples.h"

#include <fmt/format.h>

namespace dragoman::data {

Examples::Window window_of_all(const Examples& examples, std::span<const uint32_t> indices, uint64_t epoch) {
  Examples::Window window;
  for (size_t position = 0; position < indices.size(); ++position) {
    window.pairs.push_back(examples.pair(indices[position], epoch));
    window.sizes.push_back({position, window.pairs.back().source_tokens(), window.pairs.back().target_tokens()});
  }
  return window;
}

InputExamples::InputExamples(std::vector<SentencePair> pairs, std::vector<std::string> places, int64_t max_length)
    : StoredPairs(max_length) {
  statistics_.read = pairs.size();
  for (size_t index = 0; index < pairs.size(); ++index) {
    add(std::move(pairs[index]), std::move(places[index]));
  }
}

std::string InputExamples::report() const {
  return fmt::format("text: {} inputs of {} tokens, {} labels to learn", size(), statistics_.source_tokens,
                     statistics_.target_tokens);
}

std::vector<std::pair<std::string, uint64_t>> InputExamples::facts() const {
  return {{"inputs", size()}, {"tokens", statistics_.source_tokens}, {"labels to learn", statistics_.target_tokens}};
}

}  // namespace dragoman::data
