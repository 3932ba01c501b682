#include "study/texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"
#include "data/text/text_file.h"
#include "evaluation/chrf.h"
#include "evaluation/text.h"

namespace dragoman::study {
namespace {

struct Hypothesis {
  size_t line = 0;
  std::string text;
};

// "12 ||| text ||| log_prob=-1 tokens=3 ||| -0.5"
Hypothesis hypothesis_of(const std::string& line) {
  constexpr std::string_view kBetween = " ||| ";
  const size_t number_end = line.find(kBetween);
  const size_t text_begin = number_end + kBetween.size();
  const size_t text_end = number_end == std::string::npos ? number_end : line.find(kBetween, text_begin);
  Hypothesis hypothesis;
  const auto read = std::from_chars(line.data(), line.data() + std::min(number_end, line.size()), hypothesis.line);
  base::check_data(text_end != std::string::npos && read.ptr == line.data() + number_end,
                   "study: \"{}\" is no hypothesis of the form \"line ||| text ||| ...\"", line);
  hypothesis.text = line.substr(text_begin, text_end - text_begin);
  return hypothesis;
}

// Of one sentence, to four digits.
double sentence_chrf(const evaluation::Chrf& chrf, const std::string& hypothesis, const std::string& known) {
  constexpr double kDigits = 1e4;
  const std::string text(evaluation::trim_right(hypothesis));
  const std::string reference(evaluation::trim_right(known));
  const evaluation::Lines references[] = {{&reference, 1}};
  return std::round(chrf.score(chrf.count({&text, 1}, references).row(0)) * kDigits) / kDigits;
}

}  // namespace

void write_lines(const std::filesystem::path& path, const Lines& lines) {
  base::FileWriter writer(path);
  for (const std::string& line : lines) {
    writer.add(line);
    writer.add("\n");
  }
  writer.commit();
}

Lines joined(std::span<const std::filesystem::path> files) {
  Lines all;
  for (const std::filesystem::path& file : files) {
    Lines lines = data::read_lines(file);
    std::ranges::move(lines, std::back_inserter(all));
  }
  return all;
}

Lines lower_cased(Lines lines) {
  for (std::string& line : lines) {
    line = evaluation::lower_case(line);
  }
  return lines;
}

Lines consecutive(const Lines& lines, int64_t count) {
  const auto together = static_cast<size_t>(count);
  Lines result;
  for (size_t begin = 0; begin + together <= lines.size(); begin += together) {
    result.push_back(fmt::format("{}", fmt::join(lines.begin() + static_cast<std::ptrdiff_t>(begin),
                                                 lines.begin() + static_cast<std::ptrdiff_t>(begin + together), " ")));
  }
  return result;
}

bool goes_in_circles(std::string_view line) {
  constexpr size_t kLongest = 20, kTimes = 4;
  const std::u32string text = base::decode_utf8(line);
  for (size_t period = 1; period <= kLongest; ++period) {
    size_t equal = 0;  // characters in a row that are those one period later
    for (size_t i = 0; i + period < text.size(); ++i) {
      equal = text[i] == text[i + period] ? equal + 1 : 0;
      if (equal == (kTimes - 1) * period) {
        return true;
      }
    }
  }
  return false;
}

Lines nearest(const Lines& hypotheses, const Lines& known) {
  const evaluation::Chrf chrf({});
  Lines best = known;
  std::vector<double> most(known.size(), -1.0);
  for (const std::string& line : hypotheses) {
    const Hypothesis hypothesis = hypothesis_of(line);
    base::check_data(hypothesis.line < known.size(), "study: there is a hypothesis of line {}, but {} known lines",
                     hypothesis.line + 1, known.size());
    if (goes_in_circles(hypothesis.text)) {
      continue;
    }
    const double score = sentence_chrf(chrf, hypothesis.text, known[hypothesis.line]);
    if (score > most[hypothesis.line]) {
      most[hypothesis.line] = score;
      best[hypothesis.line] = hypothesis.text;
    }
  }
  return best;
}

std::vector<decoding::PairScore> read_scores(const std::filesystem::path& file) {
  std::vector<decoding::PairScore> scores;
  for (const std::string& line : data::read_lines(file)) {
    const char *at = line.data(), *const end = at + line.size();
    bool has_all = true;
    const auto read = [&](auto& number) {
      const auto [after, error] = std::from_chars(at, end, number);
      has_all = has_all && error == std::errc();
      at = after;
    };
    const auto pass_tab = [&] {
      has_all = has_all && at != end && *at == '\t';
      at += has_all ? 1 : 0;
    };
    decoding::PairScore& score = scores.emplace_back();
    double per_token = 0.0;
    read(score.log_prob);
    pass_tab();
    read(per_token);
    pass_tab();
    read(score.tokens);
    base::check_data(has_all && at == end, "{}: line {} is \"{}\", must have three numbers", file.string(),
                     scores.size(), line);
  }
  return scores;
}

size_t lines_of_share(size_t lines, double share) {
  return static_cast<size_t>(std::llround(share * static_cast<double>(lines)));
}

std::vector<size_t> best_lines(const std::vector<double>& scores, double share) {
  std::vector<size_t> lines(scores.size());
  std::iota(lines.begin(), lines.end(), size_t{0});
  const auto value = [&](size_t i) { return std::isnan(scores[i]) ? -INFINITY : scores[i]; };
  std::ranges::stable_sort(lines, [&](size_t a, size_t b) { return value(a) > value(b); });
  lines.resize(lines_of_share(scores.size(), share));
  std::ranges::sort(lines);
  return lines;
}

}  // namespace dragoman::study
