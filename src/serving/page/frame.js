// What the frame of each page has: the language that it speaks, the theme, and the buttons for both.
import { icon, kIcons, replace } from "/assets/dom.js";
import { speak } from "/assets/strings.js";

/// Speaks `language`, "en" or "zh", and makes the buttons #language and #theme work. theme.js has given the page its theme.
/// @param onLanguage(language): another one was chosen, and is spoken;  @param onTheme(): the theme is another one
/// @return {language}, the one that is spoken
export function startFrame(language, { onLanguage, onTheme }) {
  const frame = { language }, root = document.documentElement;
  const languageButton = document.getElementById("language"), themeButton = document.getElementById("theme");
  const isDark = () => root.dataset.theme === "dark";
  const paintTheme = () => replace(themeButton, icon(isDark() ? kIcons.sun : kIcons.moon));
  const say = () => {
    speak(frame.language);
    const other = frame.language === "zh" ? "en" : "zh";
    languageButton.textContent = other === "en" ? "English" : "中文";
    languageButton.lang = other;
  };
  languageButton.addEventListener("click", () => {
    frame.language = languageButton.lang;
    say();
    onLanguage(frame.language);
  });
  themeButton.addEventListener("click", () => root.dispatchEvent(new CustomEvent("choosetheme", { detail: isDark() ? "light" : "dark" })));
  root.addEventListener("themechange", () => { paintTheme(); onTheme(); });
  paintTheme();
  say();
  return frame;
}
