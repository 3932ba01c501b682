// A text that grows piece by piece. Each piece says how likely it was and what else could have stood in its place: when
// it is pointed at, tapped, or moved to with the keys.
import { percent } from "/assets/colour.js";
import { el, replace } from "/assets/dom.js";
import { said, t } from "/assets/strings.js";

const kBytes = "bytes:"; // before the bytes of a piece that is a part of a character

/// A piece as it is written alone: its spaces and line ends can be seen.
export function visible(piece) {
  if (piece.startsWith(`${kBytes}\\x`)) return piece.slice(kBytes.length);
  return piece.replaceAll(" ", "␣").replaceAll("\n", "⏎").replaceAll("\t", "⇥");
}

/// The text of pieces; those that are parts of characters are joined to them.
export function joined(pieces) {
  const bytes = pieces.flatMap((piece) => (piece.startsWith(`${kBytes}\\x`) ? piece.match(/[0-9a-f]{2}(?=\\|$)/g).map((pair) => Number.parseInt(pair, 16)) : [...new TextEncoder().encode(piece)]));
  return new TextDecoder().decode(new Uint8Array(bytes));
}

// The likeliest pieces at the place of a token, the best first: [{piece, share}].
function alternativesOf({ alternatives }) {
  return Object.entries(alternatives).map(([piece, logProb]) => ({ piece, share: Math.exp(logProb) })).sort((a, b) => b.share - a.share);
}

const doubtOf = ({ logProb }) => (1 - Math.exp(logProb)).toFixed(2);

export class WrittenText {
  constructor() {
    this.element = el("div", { class: "output written", id: "written", role: "group", ...said(null, { label: "write.text" }), on: { keydown: (event) => this.key(event) } });
    this.panel = el("section", { class: "card alternatives-of", hidden: true, ...said(null, { label: "write.alternatives" }) });
    this.clear();
  }

  clear() {
    Object.assign(this, { text: "", characters: [], tokens: [], spans: [], chosen: -1 });
    replace(this.element);
    this.panel.hidden = true;
  }

  begin(prompt) {
    this.clear();
    replace(this.element, el("span", { class: "prompt-text" }, prompt));
  }

  /// Adds text and the tokens that begin in the text so far. A token stands between its `begin` and that of the next
  /// one, in characters; where no character begins in it, it belongs to the token before it.
  add(text, logprobs) {
    this.text += text;
    this.characters.push(...text);
    const tokens = (logprobs?.tokens ?? []).map((piece, i) => ({
      piece, logProb: logprobs.token_logprobs[i], alternatives: logprobs.top_logprobs?.[i] ?? {}, begin: logprobs.text_offset[i],
    }));
    this.place(tokens);
  }

  restore(text, tokens) {
    this.text = text;
    this.characters = [...text];
    this.place(tokens);
  }

  place(tokens) {
    for (const token of tokens) {
      this.tokens.push(token);
      const last = this.spans.at(-1);
      if (last && last.token.begin >= token.begin) {
        this.giveWay(last, token);
        continue;
      }
      if (last) last.node.textContent = this.characters.slice(last.token.begin, token.begin).join("");
      const index = this.spans.length;
      const node = el("span", { class: "piece", role: "button", tabindex: index ? -1 : 0, "aria-label": visible(token.piece), style: { "--doubt": doubtOf(token) },
        on: { pointerenter: () => this.choose(index), focus: () => this.choose(index), click: () => this.choose(index) } });
      this.spans.push({ node, token, others: [] });
      this.element.append(node);
    }
    const last = this.spans.at(-1);
    if (last) last.node.textContent = this.characters.slice(last.token.begin).join("");
  }

  // No character begins in the last token: it belongs to the one before, and this one takes its place.
  giveWay(last, token) {
    const before = this.spans.at(-2) ?? last;
    before.others.push(last.token);
    last.token = token;
    last.node.setAttribute("aria-label", visible(token.piece));
    last.node.style.setProperty("--doubt", doubtOf(token));
  }

  key(event) {
    const at = this.spans.findIndex(({ node }) => node === event.target);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: this.spans.length - 1 }[event.key];
    if (at < 0 || to === undefined || !this.spans[to]) return;
    event.preventDefault();
    this.spans[to].node.focus();
  }

  choose(index) {
    const before = this.spans[this.chosen];
    if (before) {
      before.node.classList.remove("on");
      before.node.tabIndex = -1;
    } else if (this.spans[0]) this.spans[0].node.tabIndex = -1;
    this.chosen = index;
    const { node } = this.spans[index];
    node.classList.add("on");
    node.tabIndex = 0;
    this.paintPanel();
  }

  // The alternatives of the chosen piece; of a character that took several pieces, those of each.
  paintPanel() {
    const span = this.spans[this.chosen];
    if (!span) return;
    this.panel.hidden = false;
    const tokens = [span.token, ...span.others];
    replace(this.panel, el("h2", said("write.alternatives")), tokens.map((token) => this.bars(token)), el("p", { class: "note", ...said("write.alternativesNote") }));
    const [best] = alternativesOf(span.token);
    span.node.setAttribute("aria-label", t("write.pieceLabel", { piece: visible(span.token.piece), share: percent(Math.exp(span.token.logProb)), best: visible(best?.piece ?? ""), bestShare: percent(best?.share ?? 0) }));
  }

  bars(token) {
    return el("div", { class: "bars shares" }, alternativesOf(token).map(({ piece, share }) => {
      const isChosen = piece === token.piece ? " chosen" : "";
      return [el("span", { class: `piece${isChosen}` }, visible(piece)),
        el("span", { class: "track" }, el("span", { class: `fill${isChosen}`, style: { width: `${(100 * share).toFixed(2)}%` } })),
        el("span", { class: "number" }, percent(share))];
    }));
  }

  /// After the language changed.
  relabel() {
    if (!this.panel.hidden) this.paintPanel();
  }
}
