#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decoding/scorer.h"

namespace dragoman::study {

using Lines = std::vector<std::string>;

/// Writes lines to a file atomically, each with LF at its end. Throws: Error(kCannotWrite).
void write_lines(const std::filesystem::path& path, const Lines& lines);

/// Returns the lines of several files. Throws: Error(kBadData) as data::read_lines.
Lines joined(std::span<const std::filesystem::path> files);

/// Returns the lines in lower case. @see evaluation::lower_case
Lines lower_cased(Lines lines);

/// Returns every `count` consecutive lines as one line, with spaces between. Lines at the end that are too few are left
/// out. Requires: count >= 1.
Lines consecutive(const Lines& lines, int64_t count);

/// Returns true if a text of 1 to 20 characters stands four times in a row: "lummmmm". A model that learns from a few
/// of such lines writes many.
bool goes_in_circles(std::string_view line);

/// Returns, for each known translation, the hypothesis with the highest sentence chrF against it (sequence-level
/// interpolation, Kim and Rush 2016, arXiv 1606.07947, section 3.3). Scores that agree in four digits are equal, and
/// the first hypothesis wins. Hypotheses that go in circles are left out; without a hypothesis the known line is taken.
/// @param hypotheses  in the format of Moses: "line ||| text ||| ...", line from 0
/// Throws: Error(kBadData) if a line has another form or no known translation.
Lines nearest(const Lines& hypotheses, const Lines& known);

/// Returns what `dragoman score` has written of each pair: log-probability, the same a token, tokens, with tabs
/// between. Throws: Error(kBadData), "scores.txt: line 3 is \"-1.5\", must have three numbers".
std::vector<decoding::PairScore> read_scores(const std::filesystem::path& file);

/// Returns how many of `lines` lines a share is, rounded.
size_t lines_of_share(size_t lines, double share);

/// Returns the numbers of the `share` of lines with the highest scores, in the order of the text. Of equal scores the
/// first lines are kept. NaN counts as lowest.
std::vector<size_t> best_lines(const std::vector<double>& scores, double share);

}  // namespace dragoman::study
