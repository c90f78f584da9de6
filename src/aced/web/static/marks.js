// A mark for each class: a colour and a shape, so that colour is never the only sign. Nine colours and
// nine shapes make 81 different marks; after that they repeat, and only the name tells classes apart.

import { svg } from "./util.js";

export const COLOURS = 9;

// Paths around (0, 0), about one unit in each direction. The first two are as old as the pages.
const SHAPES = [
  "M-1 0A1 1 0 1 1 1 0A1 1 0 1 1-1 0Z", // circle
  "M-.88-.88H.88V.88H-.88Z", // square
  "M0-1.15L1.1.85H-1.1Z", // triangle
  "M0-1.2L1.1 0L0 1.2L-1.1 0Z", // diamond
  "M-.38-1.1H.38V-.38H1.1V.38H.38V1.1H-.38V.38H-1.1V-.38H-.38Z", // plus
  "M0-1.25L.33-.42L1.19-.39L.53.17L.74 1.01L0 .53L-.74 1.01L-.53.17L-1.19-.39L-.33-.42Z", // star
  "M0 1.15L1.1-.85H-1.1Z", // triangle upside down
  "M-1.05-.52L-.52-1.05L0-.53L.52-1.05L1.05-.52L.53 0L1.05.52L.52 1.05L0 .53L-.52 1.05L-1.05.52L-.53 0Z", // ×
  "M-1-1H1L-1 1H1Z", // hourglass
];

export const colourOf = (code) => code % COLOURS;
const shapeOf = (code) => (code + Math.floor(code / COLOURS)) % SHAPES.length;

/** The class whose variable --own is this class's colour. */
export const tint = (code) => `c${colourOf(code)}`;

/** A class's mark as a small drawing; the name beside it says the same. */
export const mark = (code) =>
  svg(
    "svg",
    { class: `mark ${tint(code)}`, viewBox: "-1.3 -1.3 2.6 2.6", "aria-hidden": "true" },
    svg("path", { d: SHAPES[shapeOf(code)] }),
  );

const paths = new Map();

/** A class's shape around a point of a canvas, of about this radius. */
export function outline(code, x, y, radius) {
  const shape = shapeOf(code);
  if (!paths.has(shape)) paths.set(shape, new Path2D(SHAPES[shape]));
  const moved = new Path2D();
  moved.addPath(paths.get(shape), new DOMMatrix([radius, 0, 0, radius, x, y]));
  return moved;
}
