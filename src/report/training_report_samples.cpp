#include <fmt/format.h>

#include "report/html.h"
#include "report/page_texts.h"
#include "report/progress_line.h"
#include "report/training_report_parts.h"

namespace dragoman::report::report_parts {
namespace {

constexpr size_t kMaxEarlier = 30;  // translations folded under one sentence

// `term` is HTML. The direction of the text is that of its first letters.
std::string entry(const std::string& term, const std::string& text, std::string_view css_class = "") {
  const std::string attribute = css_class.empty() ? "" : fmt::format(R"( class="{}")", css_class);
  const std::string shown = text.empty() ? "<span class=\"same\">" + said("(empty)") + "</span>" : escape_html(text);
  return fmt::format("<dt>{}</dt><dd{} dir=\"auto\">{}</dd>", term, attribute, shown);
}

std::string step_name(const SampleSet& set) {
  return said("step {0}", {format_count(set.step)});
}

// The validations before the last, newest first, where the translation changed; long histories keep an even choice.
std::string earlier(const std::vector<SampleSet>& sets, size_t sentence) {
  std::vector<std::string> entries;
  for (size_t i = 0; i + 1 < sets.size(); ++i) {
    if (sentence >= sets[i].samples.size() ||
        sets[i].samples[sentence].source != sets.back().samples[sentence].source) {
      continue;
    }
    entries.push_back(entry(step_name(sets[i]), sets[i].samples[sentence].hypothesis));
  }
  if (entries.empty()) {
    return "";
  }
  std::string html = "<details><summary>" + said("earlier translations") + "</summary><dl>";
  const size_t every = (entries.size() + kMaxEarlier - 1) / kMaxEarlier;
  for (size_t back = 0; back < entries.size(); back += every) {
    html += entries[entries.size() - 1 - back];
  }
  return html + "</dl></details>";
}

}  // namespace

std::string samples(const std::vector<SampleSet>& sets) {
  if (sets.empty() || sets.back().samples.empty()) {
    return "";
  }
  const SampleSet& newest = sets.back();
  std::string html = "<section><h2>" + said("Sample translations") + "</h2>\n";
  for (size_t i = 0; i < newest.samples.size(); ++i) {
    const SampleTranslation& sample = newest.samples[i];
    html += "<article class=\"sample\"><dl>" + entry(said("source"), sample.source) +
            entry(said("reference"), sample.reference) + entry(step_name(newest), sample.hypothesis, "newest") +
            "</dl>" + earlier(sets, i) + "</article>\n";
  }
  return html + "</section>\n";
}

}  // namespace dragoman::report::report_parts
