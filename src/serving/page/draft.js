// What a person has typed in this tab. It survives a reload, and ends with the tab.
const kKey = "draft";

/// {source, target, text}; empty where there is none or the browser does not let a page remember.
export function readDraft() {
  try {
    const { source, target, text } = JSON.parse(sessionStorage.getItem(kKey)) ?? {};
    return { source: String(source ?? ""), target: String(target ?? ""), text: String(text ?? "") };
  } catch {
    return { source: "", target: "", text: "" };
  }
}

export function keepDraft({ source, target }, text) {
  try {
    sessionStorage.setItem(kKey, JSON.stringify({ source, target, text }));
  } catch { /* not remembered, then */ }
}
