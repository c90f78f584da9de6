// What both pages share: making elements, talking to the server, writing numbers.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** An element; children that are strings become text, never markup. */
export const el = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);

export const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

/** Sets text only where it differs, so that nothing flickers and nothing is announced twice. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Keeps one child for each thing across updates, so that focus and scroll stay where they are. */
export function keep(parent, things, keyOf, make, update) {
  const old = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  things.forEach((thing, place) => {
    const key = String(keyOf(thing));
    let child = old.get(key);
    old.delete(key);
    if (!child) {
      child = make(thing);
      child.dataset.key = key;
    }
    update?.(child, thing);
    if (parent.children[place] !== child) parent.insertBefore(child, parent.children[place] ?? null);
  });
  for (const child of old.values()) child.remove();
}

// -- the server -------------------------------------------------------------------------

/** The server cannot be reached or cannot answer now: worth another try. */
export class Away extends Error {}

/** The server understood and said no, in one sentence. */
export class Refused extends Error {
  constructor(status, sentence, body = null) {
    super(sentence);
    Object.assign(this, { status, body });
  }
}

const PATIENCE = 20_000;

async function call(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { ...options, signal: AbortSignal.timeout(PATIENCE) });
  } catch (error) {
    throw new Away(error.message);
  }
  let body = null;
  try {
    body = await response.json();
  } catch {
    if (response.ok) throw new Away("the answer broke off");
  }
  if (response.ok) return body;
  const sentence = body?.error ?? `The server answered ${response.status}.`;
  if (response.status === 429 || response.status >= 500) throw new Away(sentence);
  throw new Refused(response.status, sentence, body);
}

export const get = (path) => call(path, { headers: { Accept: "application/json" } });

export const post = (path, body) =>
  call(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Aced": "1" },
    body: JSON.stringify(body),
  });

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** A random id; randomUUID is missing on plain http beyond this machine. */
export function fresh() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Milliseconds before try number n: doubling from half a second to fifteen, with some randomness. */
export const backoff = (n) => Math.min(15_000, 500 * 2 ** n) * (0.75 + Math.random() / 2);

// -- numbers ----------------------------------------------------------------------------

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export const count = (n) => whole.format(n ?? 0);

export const percent = (share, digits = 0) =>
  share === null || share === undefined ? "–" : `${(100 * share).toFixed(digits)}\u00a0%`;

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 10 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
}

/** How long ago, from seconds since 1970 or a date as text. */
export function ago(when) {
  if (when === null || when === undefined) return "never";
  const then = typeof when === "number" ? when * 1000 : Date.parse(when);
  if (!Number.isFinite(then)) return "never";
  const seconds = (Date.now() - then) / 1000;
  if (seconds < 60) return "just now";
  if (seconds < 86_400) return `${duration(seconds)} ago`;
  const days = Math.floor(seconds / 86_400);
  return days === 1 ? "yesterday" : `${days} days ago`;
}

export const interval = (found) =>
  `${Math.round(100 * found.low)}–${Math.round(100 * found.high)}\u00a0%`;

/**
 * What a project has done so far, on both pages. The goal is where more labels gain little: a rounded
 * number that the server keeps steady. Until it is known, all items are.
 */
export function showProgress(progress, waiting = 0) {
  const labelled = (progress.labelled ?? 0) + waiting;
  const goal = progress.goal ?? progress.total;
  const share = goal ? Math.min(1, labelled / goal) : 0;
  const of = `${goal < progress.total ? "about " : ""}${count(goal)}`;
  const bar = byId("progress");
  bar.firstElementChild.style.transform = `scaleX(${share})`;
  bar.setAttribute("aria-valuenow", Math.round(100 * share));
  bar.setAttribute("aria-valuetext", `${count(labelled)} of ${of} labelled`);
  say(byId("labelled"), count(labelled));
  say(byId("goal"), of);
  say(byId("today"), count((progress.today ?? 0) + waiting));
  const accuracy = progress.accuracy;
  say(byId("accuracy"), accuracy ? percent(accuracy.estimate) : "–");
  say(byId("interval"), accuracy ? interval(accuracy) : "no estimate yet");
}

/** The time until more labels gain little; empty while unknown. */
export function timeLeft(progress) {
  if (progress.stop?.reached) return "You can stop";
  if (progress.labels_left === 0) return "Enough labels";
  const { seconds_left: seconds } = progress;
  return seconds === null || seconds === undefined ? "" : `${duration(seconds)} left`;
}
