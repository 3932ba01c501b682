// The clock of the story and its controls: play, pause, scrub, speed, scene by scene, and the keys for them.
import { el, icon, isCalm, kIcons, replace } from "/assets/dom.js";
import { sceneAt, stillOf } from "/assets/story_timeline.js";
import { t } from "/assets/strings.js";

const kSpeeds = [0.5, 1, 2, 4];
const kLongestFrame = 0.25; // seconds; a tab that was hidden does not jump

export class StoryPlayer {
  /// @param onTime(index, time): the picture to show;  @param onScene(index): another scene began;  @param titleOf(scene)
  constructor(onTime, onScene, titleOf) {
    Object.assign(this, { onTime, onScene, titleOf, time: 0, index: -1, timeline: null, frame: 0, speedOf: 1 });
    const button = (path, action) => el("button", { type: "button", class: "icon", on: { click: action } }, icon(path));
    this.back = button(kIcons.back, () => this.step(-1));
    this.toggle = button(kIcons.play, () => (this.isPlaying ? this.stop() : this.play()));
    this.next = button(kIcons.forward, () => this.step(1));
    this.scrub = el("input", { type: "range", class: "progress", min: 0, max: 1, step: 0.05, value: 0, on: { input: () => { this.stop(); this.go(Number(this.scrub.value)); } } });
    this.scenes = el("div", { class: "story-scenes", "aria-hidden": "true" });
    this.speed = el("select", { id: "story-speed", on: { change: () => { this.speedOf = Number(this.speed.value); } } });
    this.speedLabel = el("label", { for: "story-speed" });
    this.clock = el("span", { class: "number story-clock" });
    this.element = el("div", { class: "story-player", role: "group" }, this.back, this.toggle, this.next,
      el("div", { class: "story-track" }, this.scrub, this.scenes), this.clock, el("span", { class: "story-speed" }, this.speedLabel, this.speed));
  }

  get isPlaying() { return this.frame !== 0; }
  get scene() { return this.timeline.scenes[this.index]; }

  load(timeline, time = 0) {
    this.stop();
    Object.assign(this, { timeline, index: -1 });
    this.scrub.max = timeline.seconds;
    replace(this.scenes, timeline.scenes.map((scene) => el("span", { class: `scene-${scene.name}`, style: { "flex-grow": scene.seconds } })));
    this.go(isCalm() ? stillOf(timeline.scenes[sceneAt(timeline, time)]) : time);
  }

  /// Shows a time.
  go(time) {
    if (!this.timeline) return;
    this.time = Math.min(Math.max(time, 0), this.timeline.seconds);
    const index = sceneAt(this.timeline, this.time);
    const isNew = index !== this.index;
    this.index = index;
    if (isCalm()) this.time = stillOf(this.scene);
    this.onTime(index, this.time);
    if (isNew) this.onScene(index);
    this.scrub.value = this.time;
    const text = `${Math.floor(this.time)} / ${Math.round(this.timeline.seconds)} s`;
    if (this.clock.textContent !== text) {
      this.clock.textContent = text;
      this.scrub.setAttribute("aria-valuetext", `${text}, ${this.titleOf(this.scene)}`);
    }
  }

  /// To the scene before or after, as its still picture if nothing moves.
  step(direction) {
    if (!this.timeline) return;
    const wasPlaying = this.isPlaying, to = Math.min(Math.max(this.index + direction, 0), this.timeline.scenes.length - 1);
    this.go(wasPlaying ? this.timeline.scenes[to].begin : stillOf(this.timeline.scenes[to]));
  }

  play() {
    if (!this.timeline || this.isPlaying) return;
    if (isCalm()) return this.step(1);
    if (this.time >= this.timeline.seconds - 0.01) this.go(0);
    let before = performance.now();
    const tick = (now) => {
      this.frame = requestAnimationFrame(tick);
      const passed = Math.min(Math.max(now - before, 0) / 1000, kLongestFrame);
      before = now;
      this.go(this.time + passed * this.speedOf);
      if (this.time >= this.timeline.seconds) this.stop();
    };
    this.frame = requestAnimationFrame(tick);
    this.mark();
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.mark();
  }

  mark() {
    replace(this.toggle, icon(this.isPlaying ? kIcons.pause : isCalm() ? kIcons.fastForward : kIcons.play));
    this.toggle.classList.add("primary");
    const name = t(this.isPlaying ? "player.pause" : isCalm() ? "story.next" : "story.play");
    this.toggle.setAttribute("aria-label", name);
    this.toggle.title = name;
  }

  /// A key that was pressed beside any field. @return whether it was used
  key(event) {
    const actions = { ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1), " ": () => (this.isPlaying ? this.stop() : this.play()),
      Home: () => this.go(0), End: () => this.go(this.timeline.seconds) };
    const action = actions[event.key];
    if (!action || !this.timeline) return false;
    action();
    return true;
  }

  relabel() {
    this.element.setAttribute("aria-label", t("story.player"));
    this.scrub.setAttribute("aria-label", t("story.progress"));
    [[this.back, "story.back"], [this.next, "story.next"]].forEach(([node, name]) => { node.setAttribute("aria-label", t(name)); node.title = t(name); });
    this.speedLabel.textContent = t("player.speed");
    replace(this.speed, kSpeeds.map((speed) => el("option", { value: speed, selected: speed === this.speedOf }, `${speed} ×`)));
    this.mark();
  }
}
