// Checks the formulas of Markdown pages: node scripts/check_formulas.mjs KATEX.mjs PAGE...   (scripts/check_formulas.sh calls it)
// KaTeX must take each formula, and each must be written so that GitHub shows it:
//   - $...$ begins after a blank or at the start of a line or cell, and ends before anything but a letter or digit
//   - $$ stands alone on its line, before and after the formula, with empty lines around
//   - nothing that Markdown reads first: no backslash before punctuation, no *, no _ but after a letter or digit
// A translated page (docs/zh) has the same numbered formulas as its original.
import { existsSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [library, ...pages] = process.argv.slice(2);
const katex = (await import(pathToFileURL(library))).default;
let formulas = 0;
let wrong = 0;

function complain(page, line, text) {
  wrong += 1;
  console.log(`${page}:${line}: ${text}`);
}

function check(page, line, formula, displayMode) {
  formulas += 1;
  try {
    katex.renderToString(formula, { displayMode, strict: "error", throwOnError: true });
  } catch (error) {
    complain(page, line, error.message);
  }
  const eaten = formula.match(/\\[!-/:-@[-`{-~]/) || formula.match(/\*/) || formula.match(/(^|[^A-Za-z0-9])_/);
  if (eaten !== null) {
    complain(page, line, `Markdown reads "${eaten[0]}" in: ${formula.trim()}`);
  }
}

function checkInline(page, line, text) {
  const parts = text.replace(/`[^`]*`/g, (code) => "c".repeat(code.length)).split("$");
  if (parts.length % 2 === 0) {
    complain(page, line, "a $ without its other");
    return;
  }
  for (let i = 1; i < parts.length; i += 2) {
    if (!/(^|[\s|])$/.test(parts[i - 1]) || /^[\p{L}\p{N}]/u.test(parts[i + 1]) || parts[i] !== parts[i].trim()) {
      complain(page, line, `GitHub needs a blank before, and no letter after: $${parts[i]}$`);
    }
    check(page, line, parts[i], false);
  }
}

function checkPage(page) {
  const lines = readFileSync(page, "utf8").split("\n");
  let code = false;
  for (let n = 0; n < lines.length; ++n) {
    if (/^\s*```/.test(lines[n])) {
      code = !code;
    } else if (!code && lines[n].trim() === "$$") {
      const end = lines.indexOf("$$", n + 1);
      const alone = lines[n - 1] === "" && end > n && (lines[end + 1] ?? "") === "";
      if (!alone) {
        complain(page, n + 1, "$$ needs an empty line before, its other, and an empty line behind");
        return;
      }
      check(page, n + 2, lines.slice(n + 1, end).join("\n"), true);
      n = end;
    } else if (!code) {
      checkInline(page, n + 1, lines[n]);
    }
  }
}

function taggedFormulas(page) {
  const found = new Map();
  for (const [, formula] of readFileSync(page, "utf8").matchAll(/^\$\$\n([^$]*)\n\$\$$/gm)) {
    const tag = formula.match(/\\tag\{(\w+)\}/);
    if (tag !== null) {
      found.set(tag[1], formula);
    }
  }
  return found;
}

// A page of docs/zh has the numbered formulas of the page of the same name in docs.
function checkTranslation(page) {
  const original = page.replace(/(^|\/)zh\/([^/]*)$/, "$1$2");
  if (original === page || !existsSync(original)) {
    return;
  }
  const here = taggedFormulas(page);
  for (const [tag, formula] of taggedFormulas(original)) {
    if (here.get(tag) !== formula) {
      complain(page, 1, `formula (${tag}) is not that of ${original}`);
    }
  }
}

pages.forEach(checkPage);
pages.forEach(checkTranslation);
console.log(`formulas: ${formulas} checked, ${wrong} wrong`);
process.exit(wrong === 0 ? 0 : 1);
