// The frame of the page: tabs, language, theme, and the model that all views share: a pair of languages or a name.
import { languages, setApiKey, settings } from "/assets/api.js";
import { CardView } from "/assets/card.js";
import { el } from "/assets/dom.js";
import { startFrame } from "/assets/frame.js";
import { InsideView } from "/assets/inside.js";
import { LabView } from "/assets/lab.js";
import { ReadView } from "/assets/read.js";
import { said, speak, t } from "/assets/strings.js";
import { TranslateView } from "/assets/translate.js";
import { WatchView } from "/assets/watch.js";
import { WriteView } from "/assets/write.js";

// What the server can show: models that translate, language models, encoders; or, with `dragoman watch`, a training run.
const kOfRun = ["watch", "lab"];
const viewsOf = (translates, writes, reads) => [translates && "translate", writes && "write", reads && "read", "inside", "card", "lab"].filter(Boolean);
let shown = viewsOf(true, false, false);
const kPause = 10_000; // milliseconds until a server that refused is asked again

// What the reader chose last time, where the browser lets a page remember.
const memory = {
  get(key) { try { return localStorage.getItem(key); } catch { return null; } },
  set(key, value) { try { localStorage.setItem(key, value); } catch { /* not remembered, then */ } },
};

const byId = (id) => document.getElementById(id);
const pair = { source: "", target: "" };
const wished = memory.get("language") ?? (navigator.language.startsWith("zh") ? "zh" : "en");
const frame = startFrame(["en", "zh"].includes(wished) ? wished : "en", {
  onLanguage: (language) => { memory.set("language", language); refresh(); },
  onTheme: () => { for (const view of Object.values(views)) (view.repaint ?? view.refresh).call(view); },
});

const views = {
  translate: new TranslateView(byId("view-translate"), pair, {
    onInside: (text) => { views.inside.look(text); open("inside"); },
    onMissing: () => start(),
  }),
  write: new WriteView(byId("view-write"), {
    onInside: (text, settings) => { views.inside.look(text, settings); open("inside"); },
  }),
  read: new ReadView(byId("view-read"), {
    onInside: (text) => { views.inside.look(text); open("inside"); },
  }),
  inside: new InsideView(byId("view-inside"), null),
  card: new CardView(byId("view-card"), pair),
  lab: new LabView(byId("view-lab")),
  watch: new WatchView(byId("view-watch")),
};

function open(name, takeFocus = false) {
  for (const other of shown) {
    const tab = byId(`tab-${other}`);
    tab.setAttribute("aria-selected", String(other === name));
    tab.tabIndex = other === name ? 0 : -1;
    byId(`view-${other}`).hidden = other !== name;
  }
  if (takeFocus) byId(`tab-${name}`).focus();
  if (current() !== name) history.replaceState(null, "", `#${name}`);
  document.title = `${t(`tab.${name}`)} · dragoman`;
  views.inside.player.stop();
  if (["translate", "write", "read"].includes(name)) kind = name;
  views[name].show(subject());
}

// The model that the other views show: that of the view in which a person translated, wrote or read last.
let kind = "translate";
function subject() {
  return kind === "translate" ? { ...pair } : views[kind].subject();
}

function refresh() {
  for (const view of Object.values(views)) view.refresh();
  document.title = `${t(`tab.${current()}`)} · dragoman`;
}

// The view that the address names. What follows it is the view's own: "#inside/encoder/2/head/1", "#lab/norms"; "#compare"
// is a place in the view inside.
function current() {
  const [name] = location.hash.slice(1).split("/");
  if (name === "compare" && shown.includes("translate")) return "inside";
  return shown.includes(name) ? name : shown[0];
}

for (const name of Object.keys(views)) byId(`tab-${name}`).addEventListener("click", () => open(name));
document.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  open(shown[(shown.indexOf(current()) + step + shown.length) % shown.length], true);
});
window.addEventListener("hashchange", () => open(current()));

// A field for the key, which the page forgets when it is closed.
function askForKey() {
  if (byId("key")) return;
  const field = el("input", { type: "password", id: "key", autocomplete: "off", ...said(null, { label: "key", placeholder: "key" }),
    on: { change: () => { setApiKey(field.value); views[current()].show(subject()); } } });
  document.querySelector(".settings").prepend(field);
}

// Shows the tabs of the views that this server has.
function showTabs(names) {
  shown = names;
  for (const name of Object.keys(views)) byId(`tab-${name}`).hidden = !names.includes(name);
}

// Asks for what the server has, until it says so: the translate view asks again when it needs the languages.
let isStarting = false;
async function start() {
  if (isStarting) return;
  isStarting = true;
  try {
    const { keyRequired, charLimit, watch, language: translates, languageModels = [], encoders = [] } = await settings();
    if (watch) {
      showTabs(kOfRun);
      document.querySelector(".foot").hidden = true; // a run has no interface for programs
      refresh();
      return open(current());
    }
    if (keyRequired) askForKey();
    if (translates) {
      const list = await languages();
      views.translate.setLanguages(list, charLimit);
      views.card.setLanguages(list);
    } else {
      kind = languageModels.length ? "write" : "read";
      byId("heading").dataset.t = `heading.${kind}`;
      speak(frame.language);
    }
    views.write.setModels(languageModels);
    views.read.setModels(encoders);
    showTabs(viewsOf(translates, languageModels.length > 0, encoders.length > 0));
  } catch (error) {
    views.translate.fail(error);
    if (!error.isPassing) setTimeout(start, kPause);
  } finally {
    isStarting = false;
  }
  refresh();
  open(current());
}
start();
