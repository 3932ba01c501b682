// The story of one text in a page that is a file (src/serving/story_page.h).
import { el } from "/assets/dom.js";
import { startFrame } from "/assets/frame.js";
import { keptRequest } from "/assets/kept_replies.js";
import { Sentence } from "/assets/sentence.js";
import { Story } from "/assets/story.js";

const story = new Story({ onPlace: () => {} });
const error = el("p", { class: "error", role: "alert" });
document.getElementById("view").append(error, story.element);
startFrame(navigator.language.startsWith("zh") ? "zh" : "en", { onLanguage: () => story.refresh(), onTheme: () => story.refresh() });
story.refresh();
try {
  const sentence = await Sentence.load(keptRequest);
  await story.load(sentence, sentence.followed);
} catch (failure) {
  error.textContent = failure.message;
  throw failure;
}
