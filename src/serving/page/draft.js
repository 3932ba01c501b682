// What a person has typed in this tab. It survives a reload, and ends with the tab.
const kKey = "draft", kWriting = "writing", kReading = "reading";

function read(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key)) ?? {};
  } catch {
    return {};
  }
}

function keep(key, value) {
  try {
    sessionStorage.setItem(key, JSON.stringify(value));
  } catch { /* not remembered, then */ }
}

/// {source, target, text}; empty where there is none or the browser does not let a page remember.
export function readDraft() {
  const { source, target, text } = read(kKey);
  return { source: String(source ?? ""), target: String(target ?? ""), text: String(text ?? "") };
}

export function keepDraft({ source, target }, text) {
  keep(kKey, { source, target, text });
}

/// What the view "Write" keeps: {prompt, settings, result, hash}; empty where there is none.
export const readWriting = () => read(kWriting);
export const keepWriting = (writing) => keep(kWriting, writing);

/// What the view "Read" keeps: {model, task, text, second}; empty where there is none.
export const readReading = () => read(kReading);
export const keepReading = (reading) => keep(kReading, reading);
