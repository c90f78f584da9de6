// Shows one item: a text, an image that can be zoomed and dragged, or a row of values.

import { el } from "./util.js";

const LARGEST = 12;
const TINY = 40; // images up to this many pixels keep their pixels sharp when enlarged
const ENLARGED = 520;

const BLANK = /^[\s\p{C}]*$/u; // spaces, and characters that show nothing

const images = new Map(); // by row: the element, "loading", "ready" or "broken", how often it was tried
const listeners = new Set();

/** Calls `listener(row)` when an image has come or failed. */
export const whenImages = (listener) => listeners.add(listener);

/** Keeps the pixels of a tiny image sharp; returns its longest side. */
function sharpen(image) {
  const longest = Math.max(image.naturalWidth, image.naturalHeight);
  image.classList.toggle("tiny", longest <= TINY);
  return longest;
}

/** Starts loading an item's image; the element itself is kept, so showing it takes no time. */
export function preload(item, tries = 1) {
  if (!item.image || images.has(item.row)) return;
  const found = { image: null, state: "loading", tries };
  const settle = (state) => {
    found.state = state;
    if (images.get(item.row) === found) for (const listener of listeners) listener(item.row);
  };
  const image = el("img", { alt: `Image ${item.id}`, draggable: "false" });
  image.decoding = "sync";
  image.src = item.image;
  image.addEventListener("load", () => {
    const most = Math.max(ENLARGED, sharpen(image));
    const ratio = image.naturalWidth / image.naturalHeight;
    // The element is as large as the image, so that there is no ground beside it.
    image.style.setProperty("--ratio", ratio);
    image.style.setProperty("--most", `${most * Math.min(1, ratio)}px`);
    image.classList.add("ground");
    settle("ready");
  });
  image.addEventListener("error", () => settle("broken"));
  found.image = image;
  images.set(item.row, found);
}

/** Loads an image that failed once more. */
export function retry(item) {
  const tries = images.get(item.row)?.tries ?? 0;
  images.delete(item.row);
  preload(item, tries + 1);
}

/** Whether nobody can see what is to be labelled: the image has failed, and has not come since. */
export function unseen(item) {
  const found = item?.image && images.get(item.row);
  return Boolean(found) && (found.state === "broken" || (found.state === "loading" && found.tries > 1));
}

/** Whether an item has nothing to show: a blank text, or a row without a value. */
function empty(item) {
  const values = item.kind === "row" ? Object.values(item.content ?? {}) : [item.content];
  return values.every((value) => BLANK.test(String(value ?? "")));
}

function nothing() {
  const words = "There is nothing in it that could be read. Label it if that says enough, or skip it.";
  return el("div", { class: "message blank" }, el("h1", {}, "This item is empty"), el("p", {}, words));
}

/** What is shown in place of an image that failed. `again()` tries it once more. */
function trouble(again) {
  const words = "Its file may be missing or damaged, or the server may be away. Try again, or skip the item.";
  return el(
    "div",
    { class: "message broken" },
    el("h1", {}, "The image cannot be shown"),
    el("p", {}, words),
    el("button", { id: "retry", class: "tool", type: "button", onclick: again }, "Try again"),
  );
}

/** Forgets images of items that are no longer held. */
export function release(rows) {
  for (const row of images.keys()) if (!rows.has(row)) images.delete(row);
}

/** The element that shows an item; `again()` is called if somebody asks for a failed image again. */
export function content(item, again) {
  if (item.kind === "image") {
    preload(item);
    // It failed while nobody looked, perhaps because the server was away.
    if (images.get(item.row).state === "broken" && images.get(item.row).tries === 1) retry(item);
    const { image, state } = images.get(item.row);
    return state === "broken" ? trouble(again) : el("div", { class: "zoom" }, image);
  }
  if (empty(item) && !item.shown) return nothing();
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
  return el("span", { class: "what", dir: "auto" }, empty(item) ? "(empty)" : text);
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
