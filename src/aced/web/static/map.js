// The pool in two dimensions: every item a grey dot, drawn rows by label, larger with λ.

import { place } from "./curve.js";
import { el, get } from "./util.js";

const MARGIN = 12;
const REACH = 18;
const [X, Y, ROUND, CODE, LAM, ROW] = [0, 1, 2, 3, 4, 5];

const radius = (lam) => 2.5 + 1.6 * Math.min(3, Math.sqrt(Math.max(0, lam ?? 1)));

export class Scatter {
  constructor(box) {
    this.box = box;
    this.data = null;
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
    const colours = [colour("--first-mark"), colour("--second-mark")];
    pen.globalAlpha = 0.85;
    pen.lineWidth = 1;
    data.drawn.forEach((row, i) => {
      const [px, py] = this.places[i];
      const r = radius(row[LAM]);
      pen.beginPath();
      // The second class is square, for eyes that do not tell the colours apart.
      if (row[CODE] === 1) pen.rect(px - 0.88 * r, py - 0.88 * r, 1.76 * r, 1.76 * r);
      else pen.arc(px, py, r, 0, 7);
      if (row[CODE] < 0) {
        pen.strokeStyle = colour("--quiet");
        pen.stroke();
      } else {
        pen.fillStyle = colours[row[CODE]];
        pen.fill();
        pen.strokeStyle = colour("--card");
        pen.stroke();
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
    const label = drawn[CODE] < 0 ? "not labelled yet" : this.data.classes[drawn[CODE]];
    const lam = drawn[LAM] === null || drawn[LAM] === undefined ? "" : ` · weight ${drawn[LAM].toFixed(1)} ×`;
    const facts = [el("b", {}, label), el("span", { class: "quiet" }, `Round ${drawn[ROUND]}${lam}`)];
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
  if (item.image) return el("img", { src: item.image, alt: `Image ${item.id}`, onload: loaded });
  return el("p", { dir: "auto" }, brief(item));
}

export function brief(item) {
  const { content } = item;
  if (content === null || content === undefined) return item.id;
  if (typeof content !== "object") return String(content).slice(0, 400);
  return Object.entries(content)
    .map(([name, value]) => `${name}: ${value}`)
    .join(", ")
    .slice(0, 400);
}
