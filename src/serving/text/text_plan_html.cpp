#include <algorithm>
#include <optional>
#include <span>

#include "serving/text/html_text.h"
#include "serving/text/tag_words.h"
#include "serving/text/text_plan.h"

namespace dragoman::serving {
namespace {

using Kind = HtmlToken::Kind;
using Tokens = std::vector<HtmlToken>;

// Limits for placing tags. Usual paragraphs are far below them.
constexpr size_t kMostTags = 200;
constexpr size_t kLongestLine = 5000;

// Tokens [begin, end) between two breaks.
struct Run {
  size_t begin;
  size_t end;
};

// How the text of a run is read.
struct PlanOptions {
  Sentences sentences;
  ReferencePlace references;
};

// Returns for each start tag its end tag and the reverse, and for every other token the token. Returns nothing if the
// tags of the run are not well nested or too many.
std::optional<std::vector<size_t>> partners(const Tokens& tokens, const Run& run) {
  std::vector<size_t> partner(run.end);
  std::vector<size_t> open;
  size_t tags = 0;
  for (size_t i = run.begin; i < run.end; ++i) {
    partner[i] = i;
    tags += tokens[i].kind == Kind::kText ? 0 : 1;
    if (tokens[i].kind == Kind::kStart) {
      open.push_back(i);
    } else if (tokens[i].kind == Kind::kEnd) {
      if (open.empty() || tokens[open.back()].name != tokens[i].name) {
        return std::nullopt;
      }
      partner[i] = open.back();
      partner[open.back()] = i;
      open.pop_back();
    }
  }
  return open.empty() && tags <= kMostTags ? std::optional(std::move(partner)) : std::nullopt;
}

bool has_no_words(const Tokens& tokens, size_t begin, size_t end) {
  return std::ranges::all_of(std::span(tokens).subspan(begin, end - begin),
                             [](const HtmlToken& token) { return token.kind != Kind::kText || is_blank(token.bytes); });
}

// Returns the run without the tokens around its words: blanks, points, elements without words, and the tags of elements
// around the whole rest.
Run narrowed(const Tokens& tokens, const std::vector<size_t>& partner, Run run) {
  while (run.begin < run.end) {
    const size_t front_end = partner[run.begin] + 1;
    const size_t back_begin = partner[run.end - 1];
    if (has_no_words(tokens, run.begin, front_end)) {
      run.begin = front_end;
    } else if (has_no_words(tokens, back_begin, run.end)) {
      run.end = back_begin;
    } else if (front_end == run.end && back_begin == run.begin && run.end - run.begin > 1) {
      ++run.begin;
      --run.end;
    } else {
      break;
    }
  }
  return run;
}

void add_as_it_is(TextPlan& plan, const Tokens& tokens, const Run& run) {
  for (size_t i = run.begin; i < run.end; ++i) {
    plan.pieces.push_back({.text = std::string(tokens[i].bytes)});
  }
}

// Returns the index of the first tag that belongs behind a sentence end with `before` characters before it. Returns
// nothing if an element reaches across the end.
std::optional<size_t> tags_before(const std::vector<InlineTag>& tags, size_t before) {
  size_t depth = 0, place = 0;
  for (; place < tags.size(); ++place) {
    const InlineTag& tag = tags[place];
    const bool is_left = tag.at < before || (tag.at == before && !tag.after_space);
    if (!is_left) {
      break;
    }
    depth += tag.kind == InlineTag::Kind::kStart ? 1 : 0;
    depth -= tag.kind == InlineTag::Kind::kEnd ? 1 : 0;
  }
  return depth == 0 ? std::optional(place) : std::nullopt;
}

// A line of HTML: its words, its tags, and its bytes from the first character to the last one.
struct HtmlLine {
  PlainWords words;
  std::vector<InlineTag> tags;
  std::string_view html;
};

// Appends the words of a text. Behind what is kept, a mark that closes follows the word before it, for the model.
void add_words(HtmlLine& line, const HtmlToken& token, size_t offset, ReferencePlace place) {
  constexpr std::string_view kClosing = ".,;:!?)";
  if (!line.tags.empty() && line.tags.back().at == count_without_spaces(line.words.text())) {
    line.tags.back().before_space = is_blank(token.bytes.substr(0, 1));
    if (line.tags.back().has_text && kClosing.find(token.bytes.front()) != std::string_view::npos) {
      line.words.remove_last_space();
    }
  }
  line.words.append(token.bytes, offset, place);
}

// Returns the line without the blanks at its end. The offsets of its words are those of `html`.
HtmlLine line_of(const Tokens& tokens, const Run& run, ReferencePlace place) {
  const char* const begin = tokens[run.begin].bytes.data();
  const std::string_view last = tokens[run.end - 1].bytes;
  HtmlLine line;
  line.html = {begin, static_cast<size_t>(last.data() + last.size() - begin)};
  for (size_t i = run.begin; i < run.end; ++i) {
    const HtmlToken& token = tokens[i];
    if (token.kind == Kind::kText) {
      add_words(line, token, static_cast<size_t>(token.bytes.data() - begin), place);
      continue;
    }
    const auto kind = token.kind == Kind::kStart ? InlineTag::Kind::kStart
                      : token.kind == Kind::kEnd ? InlineTag::Kind::kEnd
                                                 : InlineTag::Kind::kPoint;
    const std::string& text = line.words.text();
    line.tags.push_back({.kind = kind,
                         .bytes = std::string(token.bytes),
                         .at = count_without_spaces(text),
                         .after_space = text.empty() || text.ends_with(' '),
                         .has_text = token.kind == Kind::kKept});
  }
  line.words.remove_last_space();
  return line;
}

// Adds the part [begin, end) of the words as a line to translate. `tags` are those inside it.
void add_sentence(TextPlan& plan, const HtmlLine& line, size_t begin, size_t end, std::vector<InlineTag> tags,
                  std::string_view html) {
  plan.pieces.push_back({.is_line = true,
                         .text = line.words.text().substr(begin, end - begin),
                         .tags = std::move(tags),
                         .original = std::string(html)});
}

// Adds a line, cut into its sentences.
// @param html_begin  the first byte of its markup
void add_html_sentences(TextPlan& plan, HtmlLine line, size_t html_begin, Sentences sentences) {
  const std::string& text = line.words.text();
  size_t begin = 0;  // of the words
  for (const size_t end : sentences == Sentences::kApart ? sentence_ends(text, plan.language) : std::vector<size_t>()) {
    const size_t before = count_without_spaces(text.substr(begin, end - begin));
    const auto place = tags_before(line.tags, before);
    if (!place) {
      continue;
    }
    const auto first = line.tags.begin() + static_cast<ptrdiff_t>(*place);
    const size_t html_end = line.words.begin_of(end);
    add_sentence(plan, line, begin, end, {line.tags.begin(), first},
                 line.html.substr(html_begin, html_end - html_begin));
    begin = std::min(text.find_first_not_of(' ', end), text.size());
    html_begin = begin == end ? html_end : line.words.end_of(begin - 1);
    plan.pieces.push_back({.text = std::string(line.html.substr(html_end, html_begin - html_end)), .is_gap = true});
    line.tags.erase(line.tags.begin(), first);
    for (InlineTag& tag : line.tags) {
      tag.at -= before;
    }
  }
  add_sentence(plan, line, begin, text.size(), std::move(line.tags), line.html.substr(html_begin));
}

// Adds the words of a run as one line with its inner tags. The blanks around the line are separate pieces.
void add_line(TextPlan& plan, const Tokens& tokens, const Run& run, const PlanOptions& options) {
  HtmlLine line = line_of(tokens, run, options.references);
  if (!has_words(line.words.text())) {
    return add_as_it_is(plan, tokens, run);
  }
  const std::string_view all = line.html;
  const size_t begin = all.find_first_not_of(kHtmlBlanks);
  const size_t end = all.find_last_not_of(kHtmlBlanks) + 1;
  plan.pieces.push_back({.text = std::string(all.substr(0, begin))});
  line.html = all.substr(0, end);
  add_html_sentences(plan, std::move(line), begin, options.sentences);
  plan.pieces.push_back({.text = std::string(all.substr(end))});
}

void add_run(TextPlan& plan, const Tokens& tokens, const Run& run, const PlanOptions& options) {
  const auto partner = partners(tokens, run);
  size_t bytes = 0;
  for (size_t i = run.begin; i < run.end; ++i) {
    bytes += tokens[i].kind == Kind::kText ? tokens[i].bytes.size() : 0;
  }
  if (!partner || (run.end - run.begin > 1 && bytes > kLongestLine)) {
    for (size_t i = run.begin; i < run.end; ++i) {
      tokens[i].kind == Kind::kText ? add_line(plan, tokens, {i, i + 1}, options)
                                    : add_as_it_is(plan, tokens, {i, i + 1});
    }
    return;
  }
  const Run inside = narrowed(tokens, *partner, run);
  add_as_it_is(plan, tokens, {run.begin, inside.begin});
  if (inside.begin < inside.end) {
    add_line(plan, tokens, inside, options);
  }
  add_as_it_is(plan, tokens, {inside.end, run.end});
}

}  // namespace

TextPlan plan_html(std::string_view html, const MarkupOptions& options, Sentences sentences,
                   std::string_view language) {
  TextPlan plan{.pieces = {}, .is_html = true, .original = std::string(html), .language = std::string(language)};
  const Tokens tokens = html_tokens(html, options);
  const PlanOptions how{sentences, options.is_xml ? ReferencePlace::kXml : ReferencePlace::kHtmlText};
  size_t begin = 0;
  for (size_t i = 0; i <= tokens.size(); ++i) {
    if (i < tokens.size() && tokens[i].kind != Kind::kBreak) {
      continue;
    }
    if (begin < i) {
      add_run(plan, tokens, {begin, i}, how);
    }
    if (i < tokens.size()) {
      add_as_it_is(plan, tokens, {i, i + 1});
    }
    begin = i + 1;
  }
  return plan;
}

}  // namespace dragoman::serving
