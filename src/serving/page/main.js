// The frame of the page: tabs, language, theme, and the pair of languages that all views share.
import { languages, setApiKey, settings } from "/assets/api.js";
import { CardView } from "/assets/card.js";
import { el, icon, kIcons, replace } from "/assets/dom.js";
import { InsideView } from "/assets/inside.js";
import { speak, t } from "/assets/strings.js";
import { TranslateView } from "/assets/translate.js";

const kViews = ["translate", "inside", "card"];

// What the reader chose last time, where the browser lets a page remember.
const memory = {
  get(key) { try { return localStorage.getItem(key); } catch { return null; } },
  set(key, value) { try { localStorage.setItem(key, value); } catch { /* not remembered, then */ } },
};

const byId = (id) => document.getElementById(id);
const pair = { source: "", target: "" };
let language = memory.get("language") ?? (navigator.language.startsWith("zh") ? "zh" : "en");
if (!["en", "zh"].includes(language)) language = "en";

function paintTheme(theme) {
  document.documentElement.dataset.theme = theme;
  replace(byId("theme"), icon(theme === "dark" ? kIcons.sun : kIcons.moon));
}
const preferred = window.matchMedia("(prefers-color-scheme: dark)");
paintTheme(memory.get("theme") ?? (preferred.matches ? "dark" : "light"));
speak(language);

const views = {
  translate: new TranslateView(byId("view-translate"), pair, (text) => { views.inside.input.value = text; views.inside.sentence = null; open("inside"); }),
  inside: new InsideView(byId("view-inside"), null),
  card: new CardView(byId("view-card"), pair),
};

function open(name, takeFocus = false) {
  for (const other of kViews) {
    const tab = byId(`tab-${other}`);
    tab.setAttribute("aria-selected", String(other === name));
    tab.tabIndex = other === name ? 0 : -1;
    byId(`view-${other}`).hidden = other !== name;
  }
  if (takeFocus) byId(`tab-${name}`).focus();
  if (location.hash.slice(1) !== name) history.replaceState(null, "", `#${name}`);
  document.title = `${t(`tab.${name}`)} · dragoman`;
  views.inside.player.stop();
  views[name].show({ ...pair });
}

function refresh() {
  byId("language").textContent = language === "zh" ? "English" : "中文";
  byId("language").lang = language === "zh" ? "en" : "zh";
  for (const view of Object.values(views)) view.refresh();
  document.title = `${t(`tab.${current()}`)} · dragoman`;
}

function current() {
  const name = location.hash.slice(1);
  return kViews.includes(name) ? name : "translate";
}

for (const name of kViews) byId(`tab-${name}`).addEventListener("click", () => open(name));
document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  open(kViews[(kViews.indexOf(current()) + step + kViews.length) % kViews.length], true);
});
byId("theme").addEventListener("click", () => {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  memory.set("theme", theme);
  paintTheme(theme);
  refresh();
});
preferred.addEventListener("change", () => {
  if (!memory.get("theme")) { paintTheme(preferred.matches ? "dark" : "light"); refresh(); }
});
byId("language").addEventListener("click", () => {
  language = language === "zh" ? "en" : "zh";
  memory.set("language", language);
  speak(language);
  refresh();
});
window.addEventListener("hashchange", () => open(current()));

// A field for the key, which the page forgets when it is closed.
function askForKey() {
  const field = el("input", { type: "password", id: "key", autocomplete: "off", "aria-label": t("key"), "data-t-label": "key", placeholder: "API key",
    on: { change: () => { setApiKey(field.value); views[current()].show({ ...pair }); } } });
  document.querySelector(".settings").prepend(field);
}

async function start() {
  try {
    if ((await settings()).keyRequired) askForKey();
    const list = await languages();
    views.translate.setLanguages(list);
    views.card.setLanguages(list);
  } catch (error) {
    views.translate.fail(error.message);
  }
  refresh();
  open(current());
}
start();
