#include "report/training_report_parts.h"

namespace dragoman::report::report_parts {

std::string_view style_sheet() {
  return R"css(
:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --card: #ffffff; --ink: #1f2429; --soft: #5b636b; --line: #e4e0d8; --grid: #eeebe4;
  --c0: #2a5d8f; --c1: #b3501e; --c2: #2f7350; --warn-ground: #fdf3dc; --warn-ink: #6d4a00; --ground: #f3f1eb;
  --serif: Charter, "Bitstream Charter", "Iowan Old Style", "Palatino Linotype", Georgia,
    "Times New Roman", "Liberation Serif", "Noto Serif", "DejaVu Serif", serif;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181b; --card: #1c2024; --ink: #e7e4dd; --soft: #a3a9af; --line: #30353a; --grid: #282d32;
    --c0: #7db3e3; --c1: #eb9a68; --c2: #7fc49d; --warn-ground: #362c14; --warn-ink: #f0d49a; --ground: #23282d;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 var(--sans); }
main { max-width: 74rem; margin: 0 auto; padding: 1.6rem 1.5rem 4rem; }
h1, h2 { font-family: var(--serif); font-weight: 600; line-height: 1.2; text-wrap: balance; }
h1 { font-size: 2.3rem; margin: 0; letter-spacing: -0.01em; }
h2 { font-size: 1.45rem; margin: 3.2rem 0 1.1rem; }
h3 { font-size: 0.95rem; font-weight: 600; margin: 0 0 0.5rem; }
p { margin: 0.4rem 0; }
a { color: var(--c0); }
.subtitle { color: var(--soft); font-size: 1.05rem; margin-top: 0.5rem; }
.status { display: inline-block; border: 1px solid var(--line); border-radius: 99px; padding: 0.05rem 0.7rem;
  font-size: 0.85rem; color: var(--ink); background: var(--card); margin-right: 0.5rem; }
.note { color: var(--soft); font-size: 0.9rem; max-width: 44rem; }
.warning { background: var(--warn-ground); color: var(--warn-ink); border-radius: 8px; padding: 0.7rem 1rem;
  margin: 1rem 0 0; }
.headline { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 1.4rem 1rem;
  margin: 2.2rem 0 0; padding: 1.4rem 0; border-top: 1px solid var(--line); border-bottom: 1px solid var(--line); }
.headline div { display: flex; flex-direction: column; }
.headline dt { color: var(--soft); font-size: 0.85rem; }
.headline dd { margin: 0; font: 600 1.75rem/1.25 var(--serif); font-variant-numeric: tabular-nums lining-nums; }
.headline .detail { display: block; font: 0.85rem/1.4 var(--sans); color: var(--soft); }
.grid-of-charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1.25rem; }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 1rem 1.1rem 0.7rem; min-width: 0; }
figcaption { font-weight: 600; font-size: 0.95rem; margin-bottom: 0.5rem; display: flex; flex-wrap: wrap;
  gap: 0.1rem 1.1rem; align-items: baseline; }
figcaption .key { font-weight: 400; font-size: 0.85rem; color: var(--soft); white-space: nowrap; }
figcaption .key::before { content: ""; display: inline-block; width: 1.1em; height: 3px; border-radius: 2px;
  vertical-align: middle; margin-right: 0.4em; background: currentColor; }
figcaption .key.series-0::before { background: var(--c0); }
figcaption .key.series-1::before { background: var(--c1); }
figcaption .key.series-2::before { background: var(--c2); }
figure .more { color: var(--soft); font-size: 0.88rem; margin: 0.5rem 0 0.3rem; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 2px solid var(--c0); outline-offset: 2px; }
svg text { fill: var(--ink); font-family: var(--sans); }
.chart .tick, .chart .axis-name, .heat-map .axis-name { fill: var(--soft); font-size: 12px; }
.chart .tick, .chart .end { font-variant-numeric: tabular-nums; }
.chart .end { font-size: 12.5px; font-weight: 600; }
.chart .empty { fill: var(--soft); font-size: 14px; }
.chart .grid { stroke: var(--grid); stroke-width: 1; }
.chart .axis { stroke: var(--line); stroke-width: 1.2; }
.chart .line { fill: none; stroke-width: 2; stroke-linejoin: round; stroke-linecap: round; }
.chart .line.thin { stroke-width: 1.2; }
.chart .line.series-0 { stroke: var(--c0); } .chart .line.series-1 { stroke: var(--c1); }
.chart .line.series-2 { stroke: var(--c2); }
.chart text.series-0 { fill: var(--c0); } .chart text.series-1 { fill: var(--c1); }
.chart text.series-2 { fill: var(--c2); }
.chart .series-0 .dot { fill: var(--c0); } .chart .series-1 .dot { fill: var(--c1); }
.chart .series-2 .dot { fill: var(--c2); }
.chart .hit { fill: transparent; }
.chart .hit:hover { fill: var(--ink); fill-opacity: 0.22; }
.chart .best { fill: var(--card); stroke-width: 2; }
.chart .best.series-0 { stroke: var(--c0); } .chart .best.series-1 { stroke: var(--c1); }
.chart .best.series-2 { stroke: var(--c2); }
.heat-map .ground { fill: var(--ground); }
.heat-map .cell { fill: var(--c0); }
.heat-map .cell:hover { stroke: var(--ink); stroke-width: 1.5; }
.heat-map .broken { fill: var(--c1); }
.heat-map .piece { font-size: 12px; }
.sample { border-top: 1px solid var(--line); padding: 1.1rem 0 1rem; }
.sample:last-child { border-bottom: 1px solid var(--line); }
.sample dl, .sample ol { margin: 0; }
.sample dl { display: grid; grid-template-columns: 8rem 1fr; gap: 0.25rem 1rem; }
.sample dt, .sample .step { color: var(--soft); font-size: 0.88rem; line-height: 1.75; }
.sample dd { margin: 0; overflow-wrap: anywhere; font-family: var(--serif); font-size: 1.06rem; }
.sample .newest { color: var(--c0); }
.sample details { margin-top: 0.5rem; }
summary { cursor: pointer; color: var(--soft); font-size: 0.88rem; width: fit-content; border-radius: 4px; }
summary:focus-visible { outline: 2px solid var(--c0); outline-offset: 3px; }
.sample details dl { margin-top: 0.4rem; }
.sample .same { color: var(--soft); }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); gap: 1.8rem 2.5rem;
  align-items: start; }
table { width: 100%; border-collapse: collapse; font-size: 0.93rem; }
caption { text-align: left; font-weight: 600; padding-bottom: 0.4rem; }
th, td { text-align: left; vertical-align: top; padding: 0.32rem 0; border-top: 1px solid var(--line); }
th { font-weight: 400; color: var(--soft); padding-right: 1rem; }
td { overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.events td:first-child { white-space: nowrap; padding-right: 1.5rem; width: 1%; }
footer { margin-top: 3.5rem; color: var(--soft); font-size: 0.85rem; }
@media (max-width: 40rem) {
  main { padding: 1.8rem 1rem 3rem; }
  h1 { font-size: 1.75rem; }
  h2 { margin-top: 2.4rem; }
  .headline { grid-template-columns: repeat(2, 1fr); }
  .headline dd { font-size: 1.45rem; }
  figure { padding: 0.8rem 0.8rem 0.5rem; }
  .chart .tick, .chart .axis-name, .chart .end { font-size: 20.5px; } /* 11 px on a phone */
  .sample dl { grid-template-columns: 1fr; gap: 0; }
  .sample dd { margin-bottom: 0.4rem; }
}
@media print { figure, .sample { break-inside: avoid; } main { padding: 0; max-width: none; } }
)css";
}

}  // namespace dragoman::report::report_parts
