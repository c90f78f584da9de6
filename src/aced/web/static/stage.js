// Shows one item: a text, an image that can be zoomed and dragged, or a row of values.

import { el } from "./util.js";

const LARGEST = 12;
const TINY = 40; // images up to this many pixels keep their pixels sharp when enlarged
const ENLARGED = 520;

const images = new Map();

/** Keeps the pixels of a tiny image sharp; returns its longest side. */
function sharpen(image) {
  const longest = Math.max(image.naturalWidth, image.naturalHeight);
  image.classList.toggle("tiny", longest <= TINY);
  return longest;
}

/** Starts loading an item's image; the element itself is kept, so showing it takes no time. */
export function preload(item) {
  if (!item.image || images.has(item.row)) return;
  const image = el("img", { alt: `Image ${item.id}`, draggable: "false" });
  image.decoding = "sync";
  image.src = item.image;
  image.addEventListener("load", () => {
    const longest = sharpen(image);
    image.style.maxWidth = image.style.maxHeight = `${Math.max(ENLARGED, longest)}px`;
  });
  image.addEventListener("error", () => image.classList.add("broken"));
  images.set(item.row, image);
}

/** Forgets images of items that are no longer held. */
export function release(rows) {
  for (const row of images.keys()) if (!rows.has(row)) images.delete(row);
}

export function content(item) {
  if (item.kind === "image") {
    preload(item);
    return el("div", { class: "zoom" }, images.get(item.row));
  }
  if (item.kind === "row") return table({ ...item.content, ...item.shown });
  const text = String(item.content ?? "");
  const size = text.length < 160 ? "short" : text.length < 700 ? "medium" : "long";
  const node = el("p", { class: `text ${size}`, dir: "auto" });
  node.textContent = text;
  return item.shown ? el("div", { class: "beside" }, node, table(item.shown)) : node;
}

/** An item in a list: a small image, or the beginning of what it says. */
export function thumbnail(item) {
  if (item.image) {
    const image = el("img", { class: "ground", src: item.image, alt: `Image ${item.id}`, loading: "lazy" });
    image.addEventListener("load", () => sharpen(image));
    return el("span", { class: "what" }, image);
  }
  const cells = Object.entries(item.kind === "row" ? (item.content ?? {}) : {});
  const text = cells.map(([name, value]) => `${name}: ${value ?? "–"}`).join("\n") || String(item.content ?? "");
  return el("span", { class: "what", dir: "auto" }, text);
}

export function table(values) {
  const rows = Object.entries(values ?? {}).map(([name, value]) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, name),
      el("td", { dir: "auto" }, value === null ? "–" : String(value)),
    ),
  );
  return el("table", { class: "values" }, el("tbody", {}, ...rows));
}

/** Zoom and drag of the image on the stage: wheel, click, pinch, and the keys + - 0. */
export class Zoom {
  constructor(stage) {
    this.stage = stage;
    this.fingers = new Map();
    this.reset();
    stage.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    stage.addEventListener("pointerdown", (event) => this.#down(event));
    stage.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel"])
      stage.addEventListener(end, (event) => this.#up(event));
  }

  get box() {
    return this.stage.querySelector(".zoom");
  }

  reset() {
    this.scale = 1;
    this.x = this.y = 0;
    this.#apply();
  }

  /** By a factor, about a point of the screen (default: the middle). */
  by(factor, clientX = null, clientY = null) {
    if (!this.box) return;
    const area = this.stage.getBoundingClientRect();
    const px = clientX === null ? 0 : clientX - area.left - area.width / 2;
    const py = clientY === null ? 0 : clientY - area.top - area.height / 2;
    const scale = Math.min(LARGEST, Math.max(1, this.scale * factor));
    const ratio = scale / this.scale;
    this.x = px - (px - this.x) * ratio;
    this.y = py - (py - this.y) * ratio;
    this.scale = scale;
    this.#apply();
  }

  #apply() {
    const { box } = this;
    if (!box) return;
    const area = this.stage.getBoundingClientRect();
    const reach = (length) => (length * (this.scale - 1)) / 2;
    this.x = Math.max(-reach(area.width), Math.min(reach(area.width), this.x));
    this.y = Math.max(-reach(area.height), Math.min(reach(area.height), this.y));
    box.style.transform =
      this.scale === 1 ? "" : `translate(${this.x}px, ${this.y}px) scale(${this.scale})`;
    box.classList.toggle("zoomed", this.scale > 1);
  }

  #wheel(event) {
    if (!this.box) return;
    event.preventDefault();
    this.by(Math.exp(-event.deltaY / 400), event.clientX, event.clientY);
  }

  #down(event) {
    if (!this.box || event.button !== 0) return;
    this.fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.stage.setPointerCapture(event.pointerId);
    this.moved = this.fingers.size > 1;
  }

  #move(event) {
    const finger = this.fingers.get(event.pointerId);
    if (!finger) return;
    const before = this.#spread();
    const dx = event.clientX - finger.x;
    const dy = event.clientY - finger.y;
    if (!this.moved && Math.hypot(dx, dy) < 4) return;
    this.moved = true;
    Object.assign(finger, { x: event.clientX, y: event.clientY });
    if (this.fingers.size === 2) {
      const after = this.#spread();
      if (before) this.by(after.length / before.length, after.x, after.y);
    } else if (this.scale > 1) {
      this.x += dx;
      this.y += dy;
      this.#apply();
    }
  }

  #spread() {
    if (this.fingers.size !== 2) return null;
    const [a, b] = this.fingers.values();
    return { length: Math.hypot(a.x - b.x, a.y - b.y) || 1, x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  }

  #up(event) {
    const finger = this.fingers.get(event.pointerId);
    this.fingers.delete(event.pointerId);
    if (!finger || this.moved || event.type === "pointercancel") return;
    if (this.scale > 1) this.reset();
    else this.by(2.5, event.clientX, event.clientY);
  }
}
