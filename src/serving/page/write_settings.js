// The settings of the view "Write": their fields, their rules, and the address that holds them.
import { el } from "/assets/dom.js";
import { PageError } from "/assets/errors.js";
import { said, t } from "/assets/strings.js";

const kLongestLink = 2000; // characters of a prompt in an address

// Under the names of /v1/completions. A field without a value is optional.
const kSettings = [
  { name: "temperature", type: "range", min: 0, max: 2, step: 0.05, value: 0.8 },
  { name: "top_p", type: "range", min: 0.05, max: 1, step: 0.05, value: 0.95 },
  { name: "top_k", type: "number", min: 0, max: 1_000_000, step: 1, value: 0 },
  { name: "max_tokens", type: "number", min: 1, max: 100_000, step: 1, value: 200 },
  { name: "seed", type: "number", min: 0, max: Number.MAX_SAFE_INTEGER, step: 1 },
];

export class SettingFields {
  /// @param onChange  called when a person changes one
  constructor(onChange) {
    this.inputs = new Map();
    this.elements = kSettings.map((setting) => this.field(setting, onChange));
  }

  field({ name, type, min, max, step, value }, onChange) {
    const id = `write-${name}`, shown = type === "range" ? el("output", { class: "number", for: id }) : null;
    const paint = () => { if (shown) shown.textContent = Number(input.value).toFixed(2); };
    const input = el("input", { type, id, min, max, step, value, autocomplete: "off", ...said(null, { title: `write.hint.${name}`, ...(value === undefined ? { placeholder: "write.anySeed" } : {}) }),
      on: { input: () => { paint(); onChange(); } } });
    this.inputs.set(name, { input, paint });
    paint();
    return el("div", { class: `setting ${type}` }, el("label", { for: id, ...said(`write.${name}`) }), input, shown);
  }

  /// What stands in the fields, as texts.
  typed() {
    return Object.fromEntries([...this.inputs].map(([name, { input }]) => [name, input.value]));
  }

  /// Puts values into the fields that `values` names.
  fill(values) {
    for (const [name, { input, paint }] of this.inputs) {
      if (values[name] === undefined) continue;
      input.value = values[name];
      paint();
    }
  }
}

/// {temperature, top_p, top_k, max_tokens, seed: a number or null}. Throws a PageError for a field that breaks its rule.
export function readSettings(fields) {
  return Object.fromEntries(kSettings.map(({ name, min, max, value }) => {
    const { input } = fields.inputs.get(name), isEmpty = input.value === "" && !input.validity.badInput;
    if (isEmpty && value === undefined) return [name, null];
    if (isEmpty || !input.validity.valid) throw new PageError("error.setting", { name: t(`write.${name}`), min, max });
    return [name, Number(input.value)];
  }));
}

/// The address of a text: what it was made from. The prompt is left out where it is long.
export function linkOf({ prompt, ...settings }) {
  return `#write/${new URLSearchParams({ ...settings, ...(prompt.length <= kLongestLink ? { prompt } : {}) })}`;
}

/// What an address asks for, or null: {prompt, model, temperature, ...}, as texts.
export function settingsOfLink(hash) {
  if (!hash.startsWith("#write/")) return null;
  return Object.fromEntries(new URLSearchParams(hash.slice("#write/".length)));
}
