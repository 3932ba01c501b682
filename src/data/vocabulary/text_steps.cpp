#include "data/vocabulary/text_steps.h"

#include <algorithm>
#include <span>

#include "data/vocabulary/unicode_form.h"

namespace dragoman::data {
namespace {

UnicodeForm form_of(NormalizerStep::Kind kind) {
  return kind == NormalizerStep::Kind::kNfc    ? UnicodeForm::kNfc
         : kind == NormalizerStep::Kind::kNfd  ? UnicodeForm::kNfd
         : kind == NormalizerStep::Kind::kNfkc ? UnicodeForm::kNfkc
                                               : UnicodeForm::kNfkd;
}

void split_from(std::span<const SplitStep> steps, std::string_view text, bool is_first, const UseWord& use);

// Cuts `text` where `end_of(text, at)` says, and hands the parts to the other steps.
template <typename EndOf>
void cut(std::span<const SplitStep> others, std::string_view text, bool is_first, const UseWord& use, EndOf&& end_of) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = end_of(text, at);
    split_from(others, text.substr(at, end - at), is_first && at == 0, use);
    at = end;
  }
}

void split_at_marks(const SplitStep& step, std::span<const SplitStep> others, std::string_view text, bool is_first,
                    const UseWord& use) {
  std::string marked = replaced(text, " ", step.mark);
  const bool wanted =
      step.prefix == SplitStep::Prefix::kAlways || (step.prefix == SplitStep::Prefix::kFirst && is_first);
  if (wanted && !marked.starts_with(step.mark)) {
    marked.insert(0, step.mark);
  }
  if (!step.cuts_at_marks) {
    split_from(others, marked, is_first, use);
    return;
  }
  cut(others, marked, is_first, use, [&](std::string_view all, size_t at) {
    return std::min(all.find(step.mark, at + (all.substr(at).starts_with(step.mark) ? step.mark.size() : 1)),
                    all.size());
  });
}

// The next place behind `at` where a mark follows another character.
size_t mark_run_end(std::string_view text, size_t at, std::string_view mark) {
  size_t end = at;
  do {
    while (text.substr(end).starts_with(mark)) {
      end += mark.size();
    }
    end = std::min(text.find(mark, end), text.size());
  } while (end == at);
  return end;
}

void split_from(std::span<const SplitStep> steps, std::string_view text, bool is_first, const UseWord& use) {
  if (steps.empty()) {
    use(text);
    return;
  }
  const SplitStep& step = steps.front();
  const std::span<const SplitStep> others = steps.subspan(1);
  switch (step.kind) {
    case SplitStep::Kind::kPrefixSpace:
      split_from(others, text.starts_with(' ') ? std::string(text) : " " + std::string(text), is_first, use);
      return;
    case SplitStep::Kind::kPattern:
      cut(others, text, is_first, use,
          [&](std::string_view all, size_t at) { return word_end(step.pattern, all, at); });
      return;
    case SplitStep::Kind::kDigits:
      cut(others, text, is_first, use,
          [&](std::string_view all, size_t at) { return digits_end(step.individual_digits, all, at); });
      return;
    case SplitStep::Kind::kMarkRuns:
      cut(others, text, is_first, use,
          [&](std::string_view all, size_t at) { return mark_run_end(all, at, step.mark); });
      return;
    case SplitStep::Kind::kBert:
      for (BertWord word = next_bert_word(text, 0); word.begin < word.end; word = next_bert_word(text, word.end)) {
        split_from(others, text.substr(word.begin, word.end - word.begin), is_first && word.begin == 0, use);
      }
      return;
    case SplitStep::Kind::kMetaspace:
      split_at_marks(step, others, text, is_first, use);
      return;
  }
}

}  // namespace

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  size_t begin = 0;
  for (size_t at = text.find(from); at != std::string_view::npos; at = text.find(from, begin)) {
    result.append(text.substr(begin, at - begin)).append(to);
    begin = at + from.size();
  }
  return result.append(text.substr(begin));
}

std::string normalized(std::string_view text, const std::vector<NormalizerStep>& steps) {
  std::string result(text);
  for (const NormalizerStep& step : steps) {
    if (step.kind == NormalizerStep::Kind::kReplace) {
      result = replaced(result, step.pattern, step.content);
    } else if (step.kind == NormalizerStep::Kind::kBert) {
      result = bert_cleaned(result, step.bert);
    } else if (step.kind != NormalizerStep::Kind::kPrepend) {
      result = in_form(result, form_of(step.kind));
    } else if (!result.empty()) {
      result.insert(0, step.content);
    }
  }
  return result;
}

void split_words(std::string_view text, bool is_first, const std::vector<SplitStep>& steps, const UseWord& use) {
  split_from(steps, text, is_first, use);
}

}  // namespace dragoman::data
