// Making elements. Text only ever becomes text: nothing here reads markup.

const kSvg = "http://www.w3.org/2000/svg";
const kMath = "http://www.w3.org/1998/Math/MathML";
const kLongestUndo = 50_000; // characters; typing longer texts for the reader takes browsers seconds

function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) {
      node.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
  }
  return node;
}

/// An HTML element. `on` holds listeners, `style` CSS properties (through the object model, which the policy allows).
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "on") {
      for (const [name, listener] of Object.entries(value)) node.addEventListener(name, listener);
    } else if (key === "style") {
      for (const [name, text] of Object.entries(value)) node.style.setProperty(name, text);
    } else if (key === "text") {
      node.textContent = value;
    } else {
      node.setAttribute(key, value === true ? "" : value);
    }
  }
  return append(node, children);
}

/// An SVG element; attributes as they are.
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS(kSvg, tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "on") {
      for (const [name, listener] of Object.entries(value)) node.addEventListener(name, listener);
    } else if (value !== null && value !== undefined) {
      node.setAttribute(key, value);
    }
  }
  return append(node, children);
}

/// A MathML element.
export function math(tag, ...children) {
  return append(document.createElementNS(kMath, tag), children);
}

export function replace(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

/// Puts a text in the place of the text of a field, so that undo brings the old one back. The focus stays where it is.
export function replaceText(field, text) {
  if (field.value === text) return;
  const focused = document.activeElement;
  field.focus({ preventScroll: true });
  field.select();
  const isTyped = text.length < kLongestUndo && (text ? document.execCommand("insertText", false, text) : document.execCommand("delete"));
  if (!isTyped || field.value !== text) field.value = text;
  if (focused !== field && focused !== document.body) focused?.focus({ preventScroll: true });
}

/// Changes the children of a node whose text stays the same, and keeps what is selected in it.
export function keepSelection(node, change) {
  const selection = document.getSelection();
  const isInside = selection.rangeCount && node.contains(selection.anchorNode) && node.contains(selection.focusNode);
  const offsetOf = (inner, offset) => {
    const range = document.createRange();
    range.setStart(node, 0);
    range.setEnd(inner, offset);
    return range.toString().length;
  };
  const places = isInside ? [offsetOf(selection.anchorNode, selection.anchorOffset), offsetOf(selection.focusNode, selection.focusOffset)] : null;
  change();
  if (places && places[0] !== places[1]) selection.setBaseAndExtent(...placeOf(node, places[0]), ...placeOf(node, places[1]));
}

// The text node and the offset in it that `offset` characters of `node` lead to.
function placeOf(node, offset) {
  const walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  let last = node;
  for (let text = walk.nextNode(); text; text = walk.nextNode()) {
    if (offset <= text.length) return [text, offset];
    offset -= text.length;
    last = text;
  }
  return [last, last === node ? 0 : last.length];
}

/// Copies a text; false if the browser did not let the page.
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { /* browsers have no clipboard for addresses without TLS other than this machine's */ }
  const focused = document.activeElement;
  const field = el("textarea", { class: "hidden", "aria-hidden": "true" });
  field.value = text;
  document.body.append(field);
  field.select();
  let isCopied = false;
  try {
    isCopied = document.execCommand("copy");
  } finally {
    field.remove();
    focused?.focus({ preventScroll: true });
  }
  return isCopied;
}

/// Saves a text as a file.
export function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain;charset=utf-8" }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

/// 12345 as "12 345", with narrow spaces that do not break.
export function groupedNumber(number) {
  return number.toLocaleString("en").replaceAll(",", "\u202f");
}

/// Says something to screen readers.
export function announce(text) {
  document.getElementById("announcer").textContent = text;
}

/// True when the reader asked for less motion.
export function isCalm() {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/// A drawn sign for a button, from path data of a 24 x 24 field.
export function icon(path) {
  return svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: path }));
}

export const kIcons = {
  sun: "M12 4V2M12 22v-2M4 12H2M22 12h-2M6.3 6.3 4.9 4.9M19.1 19.1l-1.4-1.4M17.7 6.3l1.4-1.4M4.9 19.1l1.4-1.4M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8Z",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5Z",
  swap: "M4 8h15M15 4l4 4-4 4M20 16H5M9 12l-4 4 4 4",
  first: "M6 5v14M19 5l-9 7 9 7V5Z",
  last: "M18 5v14M5 5l9 7-9 7V5Z",
  back: "M15 5l-7 7 7 7",
  forward: "M9 5l7 7-7 7",
  fastBack: "M12 5l-7 7 7 7M19 5l-7 7 7 7",
  fastForward: "M5 5l7 7-7 7M12 5l7 7-7 7",
  play: "M7 4.5v15l12-7.5-12-7.5Z",
  pause: "M8 5v14M16 5v14",
  whole: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
};
