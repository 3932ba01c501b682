// The translation of a file that is too long for the text box: in parts, while the page can be used for other texts.
import { isAbort } from "/assets/api.js";
import { announce, download, el } from "/assets/dom.js";
import { PageError } from "/assets/errors.js";
import { LongText } from "/assets/long_text.js";
import { said, t } from "/assets/strings.js";

/// The text of a file: UTF-8, or UTF-16 with a byte order mark. Throws a PageError for any other file.
export async function textOfFile(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const mark = bytes.length > 1 ? 256 * bytes[0] + bytes[1] : 0;
  const encoding = { [0xfffe]: "utf-16le", [0xfeff]: "utf-16be" }[mark] ?? "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new PageError("error.notUtf8", { name: file.name });
  }
}

export class FileJob {
  /// Begins at once. `element` shows how far it is; `onEnd` is called when the person closes it.
  constructor({ name, text, pair, limit, onEnd }) {
    Object.assign(this, { name, pair: { ...pair }, onEnd, long: new LongText(text, limit) });
    this.status = el("p", { class: "note", role: "status" });
    this.bar = el("progress", said(null, { label: "file.progressLabel" }));
    this.again = el("button", { ...said("error.again"), on: { click: () => this.run() } });
    this.save = el("button", { class: "primary", ...said("translate.download"), on: { click: () => this.saveText() } });
    this.close = el("button", { ...said("file.close"), on: { click: () => this.end() } });
    this.element = el("section", { class: "card job" }, el("h2", {}, name), this.bar, this.status, el("div", { class: "bar" }, this.save, this.again, this.close));
    this.run();
  }

  async run() {
    this.failure = null;
    this.abort = new AbortController();
    this.relabel();
    try {
      await this.long.translate(this.pair, this.abort.signal, {
        onProgress: () => { this.failure = null; this.relabel(); },
        onWait: (error) => { this.failure = error; this.relabel(); },
      });
      announce(t("file.done", { name: this.name }));
    } catch (error) {
      if (isAbort(error)) return;
      this.failure = error;
      this.stopped = true;
    }
    this.relabel();
    this.stopped = false;
  }

  /// After a part, and after the language changed.
  relabel() {
    const { done, parts, isDone } = this.long;
    this.bar.max = parts.length;
    this.bar.value = done.length;
    const place = t(isDone ? "file.done" : "file.progress", { name: this.name, done: done.length, all: parts.length });
    this.status.textContent = [this.failure?.message, place].filter(Boolean).join(" ");
    this.status.classList.toggle("error", Boolean(this.failure));
    this.again.hidden = !this.stopped;
    this.save.disabled = !isDone;
  }

  saveText() {
    download(`${this.name.replace(/\.txt$/i, "")}.${this.pair.target}.txt`, this.long.translated);
  }

  end() {
    this.abort.abort();
    this.element.remove();
    this.onEnd();
  }
}
