#include "report/attention_page_from_word.h"

#include <fmt/format.h>

#include "report/attention_page_token.h"
#include "report/attention_page_word.h"
#include "report/page_texts.h"

namespace dragoman::report {

std::string attention_from_word(const AttentionPageData& data) {
  const WordPlace word = find_word(data);
  std::string html = "<section class=\"from-word\"><h2>" + said("Where “{0}” looks", {data.from_word}) + "</h2>\n";
  if (const auto link = strongest_link(data, word)) {
    html += "<p class=\"finding\">" +
            said("It looks most at “{0}”: {1}, layer {2}, head {3}. That head is the one shown below.",
                 {link->token, fmt::format("{:.2f}", link->weight), fmt::to_string(link->layer + 1),
                  fmt::to_string(link->head + 1)}) +
            "</p>\n";
  }
  for (size_t layer = 0; layer < data.encoder_self.size(); ++layer) {
    const std::string number = fmt::to_string(layer + 1);
    TokenAttention attention = attention_from(data, word, layer);
    attention.description = both("encoder layer {0}, attention from '{1}'", {number, data.from_word});
    html += "<figure><figcaption>" +
            said("Encoder layer {0}: a column is a head, the arcs are the mean of the heads", {number}) +
            "</figcaption>" + attention_from_token_svg(attention) + "</figure>\n";
  }
  return html + "</section>\n";
}

}  // namespace dragoman::report
