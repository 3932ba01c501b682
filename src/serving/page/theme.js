// Light or dark. A classic script in the head: it runs before anything is drawn, so no light page flashes in the dark.
// The page asks for a theme with the event "choosetheme" (detail: "light" or "dark"), and hears "themechange".
(() => {
  const kThemes = ["light", "dark"];
  const root = document.documentElement;
  const sheet = document.getElementById("dark");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch { /* not remembered */ }

  function paint() {
    const theme = kThemes.includes(chosen) ? chosen : system.matches ? "dark" : "light";
    if (root.dataset.theme === theme) return;
    root.dataset.theme = theme;
    sheet.media = theme === "dark" ? "screen" : "not all";
    root.dispatchEvent(new Event("themechange"));
  }
  root.addEventListener("choosetheme", (event) => {
    chosen = event.detail;
    try { localStorage.setItem("theme", chosen); } catch { /* for this page alone, then */ }
    paint();
  });
  system.addEventListener("change", paint);
  paint();
})();
