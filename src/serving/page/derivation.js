// Sections of docs/derivations.md inside the page.
import { el, replace } from "/assets/dom.js";
import { derivationAddress } from "/assets/lab_parts.js";
import { t } from "/assets/strings.js";
import { tex } from "/assets/tex.js";

const slugOf = (title) => title.toLowerCase().replace(/[^\p{L}\p{N}\s-]/gu, "").trim().replace(/\s+/g, "-");

/// The lines of the section with this anchor: from its heading, or from an element with this id, to the next heading of
/// the same level. Null if there is none.
export function sectionOf(markdown, anchor) {
  const lines = markdown.split("\n");
  let inCode = false;
  const levels = lines.map((line) => {
    if (line.startsWith("```")) inCode = !inCode;
    return inCode ? 0 : (line.match(/^(#{1,6}) /)?.[1].length ?? 0);
  });
  let start = lines.findIndex((line) => new RegExp(`(id|name)="${anchor}"`).test(line));
  if (start >= 0) start = levels.findIndex((level, i) => i >= start && level > 0);
  if (start < 0) start = lines.findIndex((line, i) => levels[i] > 0 && slugOf(line.slice(levels[i])) === anchor);
  if (start < 0) return null;
  const end = levels.findIndex((level, i) => i > start && level > 0 && level <= levels[start]);
  return lines.slice(start, end < 0 ? undefined : end).filter((line) => !/^<a (id|name)=/.test(line));
}

// One text of several lines: a line end within Chinese is no space.
const joined = (lines) => lines.join("\n").replace(/(?<=[\p{Script=Han}，。；：、）])\n(?=[\p{Script=Han}（])/gu, "").replaceAll("\n", " ");

// `code`, $formula$, **strong**, *emphasis* and [text](address); an address within the docs stays text.
function inline(text) {
  const parts = text.split(/(`[^`]+`|\$`[^`]+`\$|\$[^$]+\$|\*\*[^*]+\*\*|\*[^*\s][^*]*\*|\[[^\]]+\]\([^)]+\))/);
  return parts.map((part, i) => {
    if (i % 2 === 0) return part;
    if (part.startsWith("`")) return el("code", {}, part.slice(1, -1));
    if (part.startsWith("$")) return tex(part.slice(1, -1).replace(/^`|`$/g, ""), false);
    if (part.startsWith("**")) return el("strong", {}, inline(part.slice(2, -2)));
    if (part.startsWith("*")) return el("em", {}, inline(part.slice(1, -1)));
    return part.match(/^\[([^\]]+)\]/)[1];
  });
}

function table(lines) {
  const cells = (line) => line.replace(/^\||\|\s*$/g, "").split(/(?<!\\)\|/).map((cell) => inline(cell.trim().replaceAll("\\|", "|")));
  const [head, , ...rows] = lines;
  return el("div", { class: "scroll", tabindex: 0 }, el("table", { class: "ranking" }, el("tr", {}, cells(head).map((cell) => el("th", { scope: "col" }, cell))),
    rows.map((row) => el("tr", {}, cells(row).map((cell) => el("td", {}, cell))))));
}

/// The elements of lines of Markdown: headings, paragraphs, lists, tables, code and formulas.
export function blocksOf(lines) {
  const blocks = [];
  for (let i = 0; i < lines.length;) {
    const until = (isEnd) => { const begin = i++; while (i < lines.length && !isEnd(lines[i])) ++i; return lines.slice(begin, i); };
    const line = lines[i];
    if (!line.trim()) ++i;
    else if (/^#{1,6} /.test(line)) { blocks.push(el("h3", {}, inline(line.replace(/^#+ /, "")))); ++i; }
    else if (line.startsWith("```")) {
      const body = until((next) => next.startsWith("```")).slice(1).join("\n");
      ++i;
      blocks.push(line.startsWith("```math") ? tex(body) : el("pre", { class: "scroll", tabindex: 0 }, el("code", {}, body)));
    } else if (line.trim().startsWith("$$")) {
      let body = line.trim().slice(2);
      while (!body.trimEnd().endsWith("$$") && ++i < lines.length) body += `\n${lines[i]}`;
      ++i;
      blocks.push(el("div", { class: "scroll formula-line", tabindex: 0 }, tex(body.trimEnd().replace(/\$\$$/, ""))));
    } else if (line.startsWith("|")) blocks.push(table(until((next) => !next.startsWith("|"))));
    else if (/^\s*([-*]|\d+\.) /.test(line)) {
      const items = until((next) => !next.trim()).join("\n").split(/\n(?=\s*(?:[-*]|\d+\.) )/);
      blocks.push(el(/^\s*\d/.test(line) ? "ol" : "ul", {}, items.map((item) => el("li", {}, inline(joined(item.replace(/^\s*([-*]|\d+\.) /, "").split("\n")))))));
    } else blocks.push(el("p", {}, inline(joined(until((next) => !next.trim() || /^(\||```|\$\$|#{1,6} )/.test(next))))));
  }
  return blocks;
}

/// Shows the derivation with this anchor in `place`, or hides it again.
export async function showDerivation(anchor, place, link) {
  if (place.childElementCount) {
    link.textContent = t("lab.derivation");
    return replace(place);
  }
  const address = derivationAddress(anchor);
  try {
    const answer = await fetch(address);
    const section = answer.ok ? sectionOf(await answer.text(), anchor) : null;
    if (!section) throw new Error(t("lab.noDerivation", { address }));
    link.textContent = t("lab.hideDerivation");
    replace(place, blocksOf(section));
  } catch (error) {
    replace(place, el("p", { class: "error", role: "alert" }, error.message));
  }
}
