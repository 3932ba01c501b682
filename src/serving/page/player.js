// Forward, back, play and pause through the stages, in steps of three sizes; arrow keys and space do the same.
import { el, icon, kIcons, replace } from "/assets/dom.js";
import { kDetail, neighbour } from "/assets/stages.js";
import { t } from "/assets/strings.js";

const kSpeeds = { slow: 3200, normal: 1600, fast: 500 };

/// @param getStages(): all stages;  @param onGo(index)
export function makePlayer(getStages, onGo) {
  let index = 0, timer = null;
  const button = (path, action) => el("button", { class: "icon", on: { click: action } }, icon(path));
  const go = (direction, level) => { stop(); onGo(neighbour(getStages(), index, direction, level)); };
  const detailLevel = () => kDetail[detail.value];
  const first = button(kIcons.first, () => { stop(); onGo(0); });
  const fastBack = button(kIcons.fastBack, () => go(-1, kDetail.word));
  const back = button(kIcons.back, () => go(-1, detailLevel()));
  const play = button(kIcons.play, () => (timer ? stop() : start()));
  const forward = button(kIcons.forward, () => go(1, detailLevel()));
  const fastForward = button(kIcons.fastForward, () => go(1, kDetail.word));
  const last = button(kIcons.last, () => { stop(); onGo(getStages().length - 1); });
  const slider = el("input", { type: "range", min: 0, value: 0, class: "progress", on: { input: () => { stop(); onGo(Number(slider.value)); } } });
  const place = el("p", { class: "place number" });
  const detail = el("select", { id: "detail" }), speed = el("select", { id: "speed" });
  const detailLabel = el("label", { for: "detail" }), speedLabel = el("label", { for: "speed" });
  const element = el("div", { class: "player card", role: "group" },
    el("div", { class: "buttons" }, first, fastBack, back, play, forward, fastForward, last),
    el("div", { class: "choices" }, detailLabel, detail, speedLabel, speed), place, slider);

  function tick() {
    const next = neighbour(getStages(), index, 1, detailLevel());
    if (next === index) return stop();
    onGo(next);
    timer = setTimeout(tick, kSpeeds[speed.value]);
  }
  function start() {
    if (neighbour(getStages(), index, 1, detailLevel()) === index) onGo(0);
    timer = setTimeout(tick, 300);
    mark();
  }
  function stop() {
    clearTimeout(timer);
    timer = null;
    mark();
  }
  function mark() {
    replace(play, icon(timer ? kIcons.pause : kIcons.play));
    play.setAttribute("aria-label", t(timer ? "player.pause" : "player.play"));
    play.classList.toggle("primary", true);
  }
  document.addEventListener("keydown", (event) => {
    const isBusy = event.target.closest("input, select, textarea, [role=tab], canvas, .scroll") || event.ctrlKey || event.metaKey || event.altKey;
    if (isBusy || !element.isConnected || element.closest("[hidden]")) return;
    if (event.key === "ArrowRight") go(1, detailLevel());
    else if (event.key === "ArrowLeft") go(-1, detailLevel());
    else if (event.key === " " && !event.target.closest("button, [role=button]")) { event.preventDefault(); timer ? stop() : start(); }
  });

  return {
    element,
    stop,
    update(now, text) {
      index = now;
      slider.max = getStages().length - 1;
      slider.value = now;
      slider.setAttribute("aria-valuetext", text);
      place.textContent = `${now + 1} / ${getStages().length} · ${text}`;
      first.disabled = fastBack.disabled = back.disabled = now === 0;
      last.disabled = fastForward.disabled = forward.disabled = now === getStages().length - 1;
    },
    relabel() {
      element.setAttribute("aria-label", t("player.label"));
      slider.setAttribute("aria-label", t("player.progress"));
      [[first, "first"], [fastBack, "fastBack"], [back, "back"], [forward, "forward"], [fastForward, "fastForward"], [last, "last"]]
        .forEach(([node, name]) => { node.setAttribute("aria-label", t(`player.${name}`)); node.title = t(`player.${name}`); });
      const keep = [detail.value || "all", speed.value || "normal"];
      replace(detail, Object.keys(kDetail).reverse().map((name) => el("option", { value: name, selected: name === keep[0] }, t(`detail.${name}`))));
      replace(speed, Object.keys(kSpeeds).map((name) => el("option", { value: name, selected: name === keep[1] }, t(`speed.${name}`))));
      detailLabel.textContent = t("player.detail");
      speedLabel.textContent = t("player.speed");
      mark();
    },
  };
}
