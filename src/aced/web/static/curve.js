// Estimated accuracy against the number of labels, with its interval; and another curve to compare with.

import { count, el, interval, percent, svg } from "./util.js";

const EDGE = { left: 46, right: 14, top: 10, bottom: 34 };

/** Round numbers between two ends, about `many` of them. */
export function ticks(low, high, many) {
  const rough = (high - low) / many || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const found = [];
  for (let n = Math.ceil(low / step - 1e-9) || 0; n * step <= high + 1e-9 * step; n++) found.push(n * step);
  return found;
}

export class Curve {
  constructor(box) {
    this.box = box;
    this.points = [];
    this.others = [];
    this.at = null;
    this.tip = el("div", { class: "tip", hidden: true });
    this.empty = el("p", { class: "empty" }, "The first estimate comes with the second round.");
    box.append(this.empty, this.tip);
    box.addEventListener("pointermove", (event) => this.#hover(event));
    box.addEventListener("pointerdown", (event) => this.#hover(event));
    box.addEventListener("pointerleave", () => this.#leave());
    new ResizeObserver(() => this.draw()).observe(box);
  }

  /** `others`, if there are any, are at the same numbers of labels. */
  show(points, others = []) {
    if (JSON.stringify([points, others]) === JSON.stringify([this.points, this.others])) return;
    this.points = points;
    this.others = others;
    this.draw();
  }

  draw() {
    const { points, others, box } = this;
    const both = [...points, ...others];
    const width = box.clientWidth;
    const height = box.clientHeight;
    this.empty.hidden = points.length > 0;
    this.drawing?.remove();
    if (!points.length || !width) return;
    const most = Math.max(...points.map((point) => point.labels)) * 1.02 || 1;
    // The scale begins below the lowest interval, so that noise does not look like a change.
    const low = Math.max(0, Math.floor(10 * Math.min(...both.map((p) => p.low)) - 0.2) / 10);
    const x = (labels) => EDGE.left + (labels / most) * (width - EDGE.left - EDGE.right);
    const y = (share) => EDGE.top + ((1 - share) / (1 - low || 1)) * (height - EDGE.top - EDGE.bottom);
    this.places = points.map((point) => x(point.labels));
    const last = points.at(-1);
    const said = `Estimated accuracy ${percent(last.estimate)} (${interval(last)}) at ${last.labels} labels`;
    const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": said });
    for (const share of ticks(low, 1, 5)) {
      drawing.append(
        svg("line", { class: "axis", x1: EDGE.left, x2: width - EDGE.right, y1: y(share), y2: y(share) }),
        svg("text", { class: "tick", x: EDGE.left - 8, y: y(share) + 4, "text-anchor": "end" }, percent(share)),
      );
    }
    for (const labels of ticks(0, most, Math.min(6, width / 90))) {
      const text = { class: "tick", x: x(labels), y: height - EDGE.bottom + 16, "text-anchor": "middle" };
      drawing.append(svg("text", text, count(labels)));
    }
    const name = { class: "tick", x: width - EDGE.right, y: height - 3, "text-anchor": "end" };
    drawing.append(svg("text", name, "labels"));
    const path = (list) => list.map(([a, b]) => `${a.toFixed(1)},${b.toFixed(1)}`).join("L");
    for (const [series, other] of [[others, " other"], [points, ""]]) {
      if (!series.length) continue;
      const above = series.map((p) => [x(p.labels), y(p.high)]);
      const below = series.map((p) => [x(p.labels), y(p.low)]).reverse();
      drawing.append(
        svg("path", { class: `band${other}`, d: `M${path([...above, ...below])}Z` }),
        svg("path", { class: `line${other}`, d: `M${path(series.map((p) => [x(p.labels), y(p.estimate)]))}` }),
      );
    }
    this.cross = svg("line", { class: "cross", y1: EDGE.top, y2: height - EDGE.bottom, visibility: "hidden" });
    drawing.append(this.cross);
    const radius = points.length > 60 ? 2 : 3.5;
    this.dots = points.map((p) =>
      svg("circle", { class: "point", cx: x(p.labels), cy: y(p.estimate), r: radius }),
    );
    drawing.append(...this.dots);
    box.prepend(drawing);
    this.drawing = drawing;
    this.y = y;
    if (this.at !== null) this.#point(Math.min(this.at, points.length - 1));
  }

  #hover(event) {
    if (!this.drawing) return;
    const x = event.clientX - this.box.getBoundingClientRect().left;
    let best = 0;
    this.places.forEach((place, i) => {
      if (Math.abs(place - x) < Math.abs(this.places[best] - x)) best = i;
    });
    this.#point(best);
  }

  #point(i) {
    const point = this.points[i];
    const other = this.others[i];
    this.dots.forEach((dot, k) => dot.classList.toggle("on", k === i));
    this.cross.setAttribute("x1", this.places[i]);
    this.cross.setAttribute("x2", this.places[i]);
    this.cross.setAttribute("visibility", "visible");
    this.tip.replaceChildren(
      el("b", {}, percent(point.estimate, 1)),
      ` (${interval(point)})`,
      ...(other ? [el("span", {}, `random: ${percent(other.estimate, 1)} (${interval(other)})`)] : []),
      el("span", { class: "quiet" }, `${count(point.labels)} labels`),
    );
    this.tip.hidden = false;
    place(this.tip, this.box, this.places[i], this.y(point.estimate));
    this.at = i;
  }

  #leave() {
    this.at = null;
    this.tip.hidden = true;
    this.cross?.setAttribute("visibility", "hidden");
    this.dots?.forEach((dot) => dot.classList.remove("on"));
  }
}

/** Puts a tip beside a point, on the side with more room. */
export function place(tip, box, x, y) {
  const left = x > box.clientWidth / 2 ? x - tip.offsetWidth - 14 : x + 14;
  const top = Math.min(Math.max(0, y - tip.offsetHeight / 2), box.clientHeight - tip.offsetHeight);
  tip.style.left = `${Math.max(0, Math.min(left, box.clientWidth - tip.offsetWidth))}px`;
  tip.style.top = `${Math.max(-20, top)}px`;
}
