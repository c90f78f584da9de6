// The pool in two dimensions: every item a grey dot, drawn rows by label, larger with λ. The legend
// shows and hides classes.

import { place } from "./curve.js";
import { COLOURS, colourOf, mark, outline } from "./marks.js";
import { count, el, get, keep } from "./util.js";

const MARGIN = 12;
const REACH = 18;
const [X, Y, ROUND, CODE, LAM, ROW] = [0, 1, 2, 3, 4, 5];

const radius = (lam) => 2.5 + 1.6 * Math.min(3, Math.sqrt(Math.max(0, lam ?? 1)));

export class Scatter {
  constructor(box, legend) {
    Object.assign(this, { box, legend });
    this.data = null;
    this.hidden = new Set(); // codes whose marks the legend has put away
    this.items = new Map();
    this.canvas = el("canvas", { role: "img", "aria-label": "Map of the items" });
    this.tip = el("div", { class: "tip", hidden: true });
    box.append(this.canvas, this.tip);
    this.canvas.addEventListener("pointermove", (event) => this.#hover(event));
    this.canvas.addEventListener("pointerdown", (event) => this.#hover(event));
    this.canvas.addEventListener("pointerleave", () => this.#leave());
    new ResizeObserver(() => this.draw()).observe(box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  show(data) {
    this.data = data;
    this.canvas.setAttribute("aria-label", `Map of the items; ${data.drawn.length} were drawn so far`);
    this.#explain();
    this.draw();
  }

  /** One entry for each class, which is a button that hides its marks, and one for what has no label. */
  #explain() {
    const { data } = this;
    const numbers = new Map();
    for (const row of data.drawn) numbers.set(row[CODE], (numbers.get(row[CODE]) ?? 0) + 1);
    const entries = [...data.classes, { code: -1, name: "drawn, no label yet" }, { code: null, name: "rest of the pool" }];
    const many = data.classes.length;
    keep(
      this.legend,
      entries,
      (one) => `${one.code} ${one.name}`,
      (one) => {
        const sign = one.code === null || one.code < 0 ? el("span", { class: `dot ${one.code === null ? "" : "none"}` }) : mark(one.code);
        if (one.code === null) return el("li", { class: "plainly" }, sign, one.name);
        const button = el("button", { class: "entry", type: "button", "aria-pressed": "true" }, sign, el("span", { class: "name" }, one.name), el("span", { class: "number" }));
        button.addEventListener("click", () => this.#toggle(one.code, button));
        return el("li", {}, button);
      },
      (node, one) => {
        const number = node.querySelector(".number");
        if (number) number.textContent = count(numbers.get(one.code));
      },
    );
    this.legend.classList.toggle("long", many > 6);
  }

  #toggle(code, button) {
    const off = !this.hidden.delete(code);
    if (off) this.hidden.add(code);
    button.setAttribute("aria-pressed", String(!off));
    this.#leave();
    this.draw();
  }

  draw() {
    const { data, canvas, box } = this;
    const width = box.clientWidth;
    const height = box.clientHeight;
    if (!data || !width) return;
    const sharp = devicePixelRatio || 1;
    canvas.width = Math.round(width * sharp);
    canvas.height = Math.round(height * sharp);
    const pen = canvas.getContext("2d");
    pen.scale(sharp, sharp);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const [x, y] = this.#scales(width, height);
    pen.fillStyle = colour("--pool");
    pen.globalAlpha = 0.55;
    for (const point of data.pool) {
      pen.beginPath();
      pen.arc(x(point[X]), y(point[Y]), 1.6, 0, 7);
      pen.fill();
    }
    this.places = data.drawn.map((row) => [x(row[X]), y(row[Y])]);
    const colours = Array.from({ length: COLOURS }, (_, i) => colour(`--c${i}`));
    const [quiet, card] = [colour("--quiet"), colour("--card")];
    pen.globalAlpha = 0.85;
    pen.lineWidth = 1;
    data.drawn.forEach((row, i) => {
      if (this.hidden.has(row[CODE])) return;
      const [px, py] = this.places[i];
      const r = radius(row[LAM]);
      if (row[CODE] < 0) {
        pen.beginPath();
        pen.arc(px, py, r, 0, 7);
        pen.strokeStyle = quiet;
        pen.stroke();
      } else {
        const shape = outline(row[CODE], px, py, r);
        pen.fillStyle = colours[colourOf(row[CODE])];
        pen.fill(shape);
        pen.strokeStyle = card;
        pen.stroke(shape);
      }
    });
    if (this.at !== undefined && this.places[this.at]) {
      const [px, py] = this.places[this.at];
      pen.globalAlpha = 1;
      pen.strokeStyle = colour("--ink");
      pen.lineWidth = 2;
      pen.beginPath();
      pen.arc(px, py, radius(data.drawn[this.at][LAM]) + 4, 0, 7);
      pen.stroke();
    }
  }

  #scales(width, height) {
    const points = [...this.data.pool, ...this.data.drawn];
    const scale = (axis, length, turned) => {
      const values = points.map((point) => point[axis]);
      const low = values.reduce((a, b) => Math.min(a, b), Infinity);
      const span = values.reduce((a, b) => Math.max(a, b), -Infinity) - low || 1;
      const along = (value) => MARGIN + ((value - low) / span) * (length - 2 * MARGIN);
      return turned ? (value) => length - along(value) : along;
    };
    return [scale(X, width, false), scale(Y, height, true)];
  }

  #hover(event) {
    if (!this.places) return;
    const area = this.canvas.getBoundingClientRect();
    const px = event.clientX - area.left;
    const py = event.clientY - area.top;
    let best = -1;
    let near = REACH;
    this.places.forEach(([x, y], i) => {
      if (this.hidden.has(this.data.drawn[i][CODE])) return;
      const far = Math.hypot(x - px, y - py);
      if (far < near) [best, near] = [i, far];
    });
    if (best < 0) this.#leave();
    else if (best !== this.at) this.#tell(best);
  }

  async #tell(i) {
    this.at = i;
    this.draw();
    const drawn = this.data.drawn[i];
    const label = drawn[CODE] < 0 ? "not labelled yet" : this.data.names[drawn[CODE]];
    const sign = drawn[CODE] < 0 ? null : mark(drawn[CODE]);
    const lam = drawn[LAM] === null || drawn[LAM] === undefined ? "" : ` · weight ${drawn[LAM].toFixed(1)} ×`;
    const facts = [el("b", {}, sign, " ", label), el("span", { class: "quiet" }, `Round ${drawn[ROUND]}${lam}`)];
    this.#open(facts, i);
    const item = await this.#item(drawn[ROW]);
    if (this.at === i && item) this.#open([...facts, preview(item, () => this.#open(null, i))], i);
  }

  #open(content, i) {
    if (this.at !== i) return;
    if (content) this.tip.replaceChildren(...content);
    this.tip.hidden = false;
    place(this.tip, this.box, ...this.places[i]);
  }

  async #item(row) {
    if (row === undefined) return null;
    if (!this.items.has(row)) {
      try {
        this.items.set(row, await get(`/api/item/${row}`));
      } catch {
        return null;
      }
    }
    return this.items.get(row);
  }

  #leave() {
    if (this.at === undefined) return;
    this.at = undefined;
    this.tip.hidden = true;
    this.draw();
  }
}

/** A small preview of an item: its image, or its first words. */
export function preview(item, loaded = () => {}) {
  if (item.image) return el("img", { class: "ground", src: item.image, alt: `Image ${item.id}`, onload: loaded });
  return el("p", { dir: "auto" }, brief(item));
}

export function brief(item) {
  const { content } = item;
  if (content === null || content === undefined) return item.id;
  if (typeof content !== "object") return String(content).trim() ? String(content).slice(0, 400) : `${item.id} (empty)`;
  return Object.entries(content)
    .map(([name, value]) => `${name}: ${value}`)
    .join(", ")
    .slice(0, 400);
}
