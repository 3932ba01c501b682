// The translation of a text of any length: part by part, with patience. It goes on where it stopped.
import { isAbort, translate } from "/assets/api.js";
import { partsOf } from "/assets/text_parts.js";

export const kPartLength = 2000; // a slow model translates as much well within the server's time for an answer
const kSmallestPart = 200;
const kPause = 3; // seconds, where the server names none

// Ends after `seconds`, or when the network is back.
function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const end = (action) => () => {
      clearTimeout(timer);
      window.removeEventListener("online", goOn);
      action();
    };
    const goOn = end(resolve);
    const timer = setTimeout(goOn, 1000 * seconds);
    window.addEventListener("online", goOn);
    signal.addEventListener("abort", end(() => reject(new DOMException("cancelled", "AbortError"))), { once: true });
  });
}

export class LongText {
  /// @param limit  the most characters that the server takes at once
  constructor(text, limit) {
    this.parts = partsOf(text, Math.min(limit, kPartLength));
    this.done = [];
  }

  get translated() { return this.done.join(""); }
  get isDone() { return this.done.length === this.parts.length; }

  /// @param onProgress  called after each part
  /// @param onWait  called with the error before a part is tried again
  async translate(pair, signal, { onProgress, onWait }) {
    while (!this.isDone) {
      const part = this.parts[this.done.length];
      try {
        const answer = part.trim() ? await translate({ ...pair, text: part, alternatives: 0 }, signal) : { translatedText: part };
        this.done.push(answer.translatedText);
        onProgress(this);
      } catch (error) {
        if (isAbort(error) || !this.#canGoOn(error, part)) throw error;
        if (error.isPassing) {
          onWait(error);
          await pause(error.retryAfter ?? kPause, signal);
        }
      }
    }
  }

  // A part that took too long is halved.
  #canGoOn(error, part) {
    if (error.status !== 504 || part.length <= kSmallestPart) return Boolean(error.isPassing);
    this.parts.splice(this.done.length, 1, ...partsOf(part, Math.ceil(part.length / 2)));
    return true;
  }
}
