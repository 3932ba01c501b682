#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "report/attention_page_from_word.h"
#include "report/attention_page_token.h"
#include "report/html.h"

namespace dragoman::report {
namespace {

constexpr std::string_view kWordStart = "\u2581";  // SentencePiece's mark of a space

std::string without_mark(const std::string& piece) {
  return piece.starts_with(kWordStart) ? piece.substr(kWordStart.size()) : piece;
}

size_t find_word(const AttentionPageData& data) {
  std::vector<std::string> pieces;
  std::ranges::transform(data.source_pieces, std::back_inserter(pieces), without_mark);
  const auto found = std::ranges::find(pieces, data.from_word);
  base::check_usage(found != pieces.end(), "attention: no piece of the sentence spells '{}'; its pieces are {}",
                    data.from_word, fmt::join(pieces, ", "));
  return static_cast<size_t>(found - pieces.begin());
}

// Row `query` of each head's [S, S] matrix.
std::vector<std::vector<float>> rows_of(const std::vector<std::vector<float>>& heads, size_t query, size_t length) {
  std::vector<std::vector<float>> rows;
  for (const std::vector<float>& weights : heads) {
    const auto begin = weights.begin() + static_cast<std::ptrdiff_t>(query * length);
    rows.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(length));
  }
  return rows;
}

}  // namespace

std::string attention_from_word(const AttentionPageData& data) {
  const size_t query = find_word(data), length = data.source_pieces.size();
  const std::string word = escape_html(data.from_word);
  std::string html = fmt::format("<section class=\"from-word\"><h2>Where \u201c{}\u201d looks</h2>\n", word);
  for (size_t layer = 0; layer < data.encoder_self.size(); ++layer) {
    const std::string description = fmt::format("encoder layer {}, attention from '{}'", layer + 1, data.from_word);
    html += fmt::format("<figure><figcaption>Encoder layer {}, one column a head</figcaption>{}</figure>\n", layer + 1,
                        attention_from_token_svg({data.source_pieces, query,
                                                  rows_of(data.encoder_self[layer], query, length), description}));
  }
  return html + "</section>\n";
}

}  // namespace dragoman::report
