// The view "Laboratory": five small experiments that need no model.
import { announce, el, replace } from "/assets/dom.js";
import { showDerivation } from "/assets/derivation.js";
import { Masks } from "/assets/lab_masks.js";
import { Norms } from "/assets/lab_norms.js";
import { Positions } from "/assets/lab_positions.js";
import { Regression } from "/assets/lab_regression.js";
import { Scaling } from "/assets/lab_scaling.js";
import { t } from "/assets/strings.js";

const kPanels = { regression: Regression, positions: Positions, scaling: Scaling, norms: Norms, masks: Masks };

export class LabView {
  constructor(root) {
    this.root = root;
    this.experiments = Object.fromEntries(Object.entries(kPanels).map(([name, Panel]) => [name, new Panel()]));
    this.name = "regression";
  }

  /// Shows the experiment that the address names: "#lab/norms".
  show() {
    const [view, name] = location.hash.slice(1).split("/");
    if (view === "lab" && name in kPanels) this.name = name;
    this.render();
  }

  open(name) {
    this.name = name;
    history.replaceState(null, "", `#lab/${name}`);
    this.render();
    announce(t(`lab.${name}`));
  }

  render() {
    const names = Object.keys(kPanels);
    const focused = this.root.querySelector(".lab-menu")?.contains(document.activeElement);
    replace(this.root, el("p", { class: "note lab-lead" }, t("lab.lead")),
      el("nav", { class: "lab-menu heads", "aria-label": t("lab.menu") }, names.map((name) => el("button", { "aria-pressed": String(name === this.name), on: { click: () => this.open(name) } }, t(`lab.${name}`)))),
      this.experiments[this.name].element(showDerivation));
    if (focused) this.root.querySelector(".lab-menu [aria-pressed=true]").focus({ preventScroll: true });
  }

  /// After the language or the theme changed.
  refresh() {
    if (!this.root.hidden) this.render();
  }
}
