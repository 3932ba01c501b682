#include <fmt/format.h>

#include "report/attention_page_parts.h"
#include "report/html.h"
#include "report/page_texts.h"

namespace dragoman::report::attention_page_parts {

std::string_view style_sheet() {
  return R"css(
:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --card: #ffffff; --ink: #1f2429; --soft: #5b636b; --line: #e4e0d8; --ground: #f3f1eb;
  --c0: #2a5d8f; --c1: #b3501e; --chosen: #e6eef6;
  --serif: Charter, "Bitstream Charter", "Iowan Old Style", "Palatino Linotype", Georgia,
    "Times New Roman", "Liberation Serif", "Noto Serif", "DejaVu Serif", serif;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181b; --card: #1c2024; --ink: #e7e4dd; --soft: #a3a9af; --line: #30353a; --ground: #23282d;
    --c0: #7db3e3; --c1: #eb9a68; --chosen: #253545;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 var(--sans); }
main { max-width: 76rem; margin: 0 auto; padding: 1.4rem 1.5rem 4rem; }
h1, h2 { font-family: var(--serif); font-weight: 600; line-height: 1.2; }
h1 { font-size: 2.2rem; margin: 0; letter-spacing: -0.01em; }
h2 { font-size: 1.4rem; margin: 0; }
.sentences { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1.2rem; margin: 1rem 0 0; }
.from-word { margin: 1.5rem 0; display: flex; flex-wrap: wrap; gap: 0 1.5rem; }
.from-word h2 { flex-basis: 100%; }
.from-word figure { margin: 0.5rem 0; flex: 1 1 20rem; max-width: 30rem; min-width: 0; overflow-x: auto; }
.from-word .finding { flex-basis: 100%; margin: 0.4rem 0; }
.from-word figcaption { color: var(--soft); font-size: 0.9rem; }
.sentences dt { color: var(--soft); font-size: 0.9rem; line-height: 1.8; }
.sentences dd { margin: 0; font-family: var(--serif); font-size: 1.12rem; overflow-wrap: anywhere; }
.kinds { display: flex; flex-wrap: wrap; gap: 0.4rem; margin: 2.2rem 0 0.6rem; }
button { font: inherit; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; }
button:focus-visible, .map:focus-visible { outline: 2px solid var(--c0); outline-offset: 2px; }
.kinds button { border: 1px solid var(--line); border-radius: 99px; padding: 0.3rem 1rem; background: var(--card); }
.kinds button[aria-pressed="true"] { background: var(--c0); border-color: var(--c0); color: var(--paper); }
.note { color: var(--soft); font-size: 0.92rem; margin: 0.3rem 0 1rem; }
.overview { overflow-x: auto; padding: 3px; }
.overview table { border-collapse: separate; border-spacing: 8px 8px; margin: 0 -8px; }
.overview th { font-weight: 400; font-size: 0.8rem; color: var(--soft); text-align: left; white-space: nowrap; }
.overview td { padding: 0; }
.overview button { display: block; border: 1px solid var(--line); border-radius: 5px; background: var(--card);
  padding: 3px; line-height: 0; }
.overview button[aria-pressed="true"] { border-color: var(--c0); box-shadow: 0 0 0 1.5px var(--c0); }
.overview canvas { width: 72px; height: 72px; image-rendering: pixelated; border-radius: 2px; }
.detail { display: grid; grid-template-columns: minmax(0, 3fr) minmax(17rem, 2fr); gap: 1.25rem; margin-top: 1.4rem; }
.detail header { grid-column: 1 / -1; display: flex; flex-wrap: wrap; justify-content: space-between;
  align-items: baseline; gap: 0.3rem 2rem; }
.readout { min-height: 1.6em; margin: 0; font-variant-numeric: tabular-nums; }
.readout b { color: var(--c0); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem 1.1rem;
  min-width: 0; }
.card h3 { font-size: 0.95rem; margin: 0 0 0.6rem; font-weight: 600; }
.map { overflow-x: auto; border-radius: 4px; }
.map svg { display: block; }
svg text { fill: var(--ink); font: 12px var(--sans); }
svg text.axis { fill: var(--soft); }
svg .ground { fill: var(--ground); }
svg .cell { fill: var(--c0); }
svg .cell.broken { fill: var(--c1); }
svg .frame { fill: none; stroke: var(--ink); stroke-width: 1.5; pointer-events: none; }
svg text.on { font-weight: 700; }
.legend { display: flex; align-items: center; gap: 0.5rem; color: var(--soft); font-size: 0.82rem; margin-top: 0.8rem; }
.legend canvas { width: 9rem; height: 0.7rem; border-radius: 2px; background: var(--ground); }
.links { position: relative; display: grid; grid-template-columns: max-content minmax(4rem, 1fr) max-content;
  max-width: 30rem; }
.links ul { list-style: none; margin: 0; padding: 0; z-index: 1; }
.links li { height: 26px; display: flex; }
.links ul:first-child li { justify-content: flex-end; }
.links li button { height: 24px; padding: 0 6px; border-radius: 4px; font-size: 0.88rem; line-height: 24px; position: relative;
  white-space: nowrap; max-width: 11rem; overflow: hidden; text-overflow: ellipsis; }
.links li button span { position: relative; }
.links li button::before { content: ""; position: absolute; inset: 0; background: var(--c0); opacity: var(--w, 0); }
.links li button[aria-pressed="true"] { box-shadow: inset 0 0 0 1.5px var(--c0); }
.links svg { width: 100%; height: 100%; display: block; overflow: visible; }
.links path { fill: none; stroke: var(--c0); }
.weight { color: var(--soft); font-size: 0.8rem; line-height: 24px; margin: 0 0.3rem; width: 2.2rem;
  font-variant-numeric: tabular-nums; }
.detail[hidden] { display: none; }
@media (max-width: 56rem) {
  main { padding: 1.8rem 1rem 3rem; }
  h1 { font-size: 1.75rem; }
  .detail { grid-template-columns: minmax(0, 1fr); }
  .sentences { grid-template-columns: 1fr; gap: 0; }
}
)css";
}

std::string body() {
  const auto label = [](std::string_view english) {
    return fmt::format("data-label=\"{0}\" aria-label=\"{0}\"", escape_html(english));
  };
  return "<noscript><p class=\"note\">" +
         said("This page draws its attention maps with a script inside it; please allow scripts for this file.") +
         "</p></noscript>\n<div class=\"kinds\" id=\"kinds\" role=\"group\" " + label("Kind of attention") +
         "></div>\n<p class=\"note\" id=\"note\"></p>\n<section class=\"overview\" id=\"overview\" " +
         label("All layers and heads") + "></section>\n<section class=\"detail\" " + label("The chosen head") +
         ">\n<header><h2 id=\"chosen\"></h2><p class=\"readout\" id=\"readout\" aria-live=\"polite\"></p></header>\n"
         "<div class=\"card\"><h3>" +
         said("Heat map") + "</h3>\n<div class=\"map\" id=\"map\" tabindex=\"0\" role=\"group\" " +
         label("Heat map. Arrow keys move from cell to cell; the weight is read out above.") +
         "></div>\n<div class=\"legend\" id=\"legend\" aria-hidden=\"true\"></div></div>\n<div class=\"card\"><h3>" +
         said("Who looks at whom") + "</h3>\n<div class=\"links\" id=\"links\"></div>\n<p class=\"note\">" +
         said("Point at a token, or move to it with the Tab key; a click keeps it.") + "</p></div>\n</section>\n";
}

}  // namespace dragoman::report::attention_page_parts
