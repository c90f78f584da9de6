// The annotator's page. A key shows the next item at once; the answer is sent in the background.

import { Outbox } from "./outbox.js";
import { Zoom, content, preload, release } from "./stage.js";
import { Away, Refused, backoff, byId, count, el, get, pause, say, showProgress, timeLeft } from "./util.js";
import { explain } from "./why.js";

const AHEAD = 3;
const LONGEST = 300; // seconds counted for one item at most
const REMEMBERED = 200;

const stage = byId("stage");
const zoom = new Zoom(stage);
const buttons = ["first", "second", "skip", "unsure"].map(byId);

let me = null;
let outbox = null;
let progress = null;
let designing = false;
let items = []; // items we hold; the first is shown
let shown = null; // what the stage shows: an item, or the name of a state
let history = []; // answers of this visit, whose items are known here if they are undone
let blocked = false; // an undo is on its way and only the server knows the item
let moves = 0; // counts answers and undos, given and delivered: a list of items from before is stale
let lost = false; // the last request for items failed

// -- time spent on an item, not counting while the page is hidden -------------------------

const watch = {
  spent: 0,
  since: 0,
  start() {
    this.spent = 0;
    this.since = document.hidden ? null : performance.now();
  },
  stop() {
    if (this.since !== null) this.spent += performance.now() - this.since;
    this.since = null;
  },
  go() {
    if (this.since === null) this.since = performance.now();
  },
  read() {
    this.stop();
    return Math.min(LONGEST, Math.round(this.spent) / 1000);
  },
};

// -- showing ------------------------------------------------------------------------------

const STATES = {
  loading: ["Loading…", ""],
  designing: ["The next round is being planned", "It appears here by itself, usually within seconds."],
  done: ["All done, thank you", "There is nothing left for you here right now. New items appear by themselves."],
  away: ["The server cannot be reached", "Your answers are kept in this browser and sent as soon as it is back."],
  unknown: ["You need an access link", "Open the one that you were given, or that aced serve printed."],
  shut: ["You may no longer label here", "Answers not sent yet are kept in this browser."],
};

function message(state) {
  const [title, detail] = STATES[state];
  const said = state === "shut" ? (outbox?.shut ?? "") : "";
  const why = said && `${said[0].toUpperCase()}${said.slice(1)}. `;
  return el("div", { class: `message ${state}` }, el("h1", {}, title), el("p", {}, why + detail));
}

function stateNow() {
  if (outbox?.shut) return "shut";
  if (!me || outbox.ops.length) return outbox?.failures ? "away" : "loading";
  return designing ? "designing" : "done";
}

function show() {
  const next = outbox?.shut ? "shut" : items[0] ?? stateNow();
  if (next === shown) return;
  const isItem = typeof next === "object";
  if (!isItem || next.row !== shown?.row) {
    byId("item").replaceChildren(isItem ? content(next) : message(next));
    stage.dataset.kind = isItem ? next.kind : "message";
    stage.scrollTop = 0;
    zoom.reset();
    if (isItem) watch.start();
  }
  shown = next;
  for (const button of [...buttons, byId("why-open")]) button.disabled = !isItem;
  release(new Set([...items.map((item) => item.row), ...history.slice(-3).map((past) => past.item.row)]));
  explain(items[0], me?.classes);
}

function report() {
  const { state, ops, slow } = outbox;
  const saved = byId("saved");
  const text = { saved: lost ? "Offline" : "Saved", offline: `Offline, ${count(ops.length)} waiting`, shut: "No access" };
  // "Saving…" only when it takes long enough to be worth reading.
  if (state !== "saving") say(saved, text[state]);
  else if (slow) say(saved, ops.length > 1 ? `Saving… ${count(ops.length)}` : "Saving…");
  if (state !== "saving" || slow) saved.dataset.state = lost ? "offline" : state;
  const waiting = outbox.pending.filter((op) => op.body.kind === "label").length;
  if (progress) {
    showProgress(progress, waiting);
    say(byId("left"), timeLeft(progress));
    byId("estimated").hidden = !progress.accuracy;
  }
  const past = history.at(-1);
  say(byId("last"), past ? ` “${past.label ?? past.kind}”` : "");
  byId("undo").disabled = blocked || !(history.length || progress?.mine || waiting);
}

let noticeTimer = 0;

function notice(text) {
  const box = byId("notice");
  say(box, text);
  box.hidden = false;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => (box.hidden = true), 6000);
}

function flash(kind) {
  const overlay = byId("flash");
  overlay.className = "flash";
  void overlay.offsetWidth; // starts the animation anew
  overlay.classList.add(kind);
}

// -- answering ----------------------------------------------------------------------------

function answer(kind, place = null) {
  const item = items[0];
  if (!item || blocked || item !== shown) return;
  const label = place === null ? null : me.classes[place];
  moves += 1;
  items.shift();
  history = [...history.slice(-REMEMBERED), { item, kind, label }];
  flash(place === null ? "other" : place === 0 ? "first" : "second");
  outbox.add("/api/answer", { row: item.row, kind, label, seconds: watch.read() });
  show();
}

function undo() {
  if (byId("undo").disabled || blocked || outbox.shut) return;
  moves += 1;
  const past = history.pop();
  if (past) items.unshift(stamp(past.item));
  else blocked = true;
  outbox.add("/api/undo", {});
  show();
}

function delivered(op, reply) {
  moves += 1;
  lost = false;
  progress = reply.progress ?? progress;
  if (op.path === "/api/undo") {
    takeBack(reply.item);
  } else {
    designing = reply.designing;
    merge(reply.items);
  }
  show();
  if (!items.length && !outbox.ops.length) refill();
}

function takeBack(item) {
  if (blocked && !item) notice("There is nothing to undo.");
  blocked = false;
  if (!item || outbox.rows.has(item.row) || items.some((held) => held.row === item.row)) return;
  items.unshift(stamp(item));
}

const stamp = (item) => ({ ...item, until: performance.now() + 1000 * (me.lease ?? 600) });

/** Takes in what the server says we hold. A lease that ran out here may be somebody else's now. */
function merge(given, afresh = false) {
  const now = performance.now();
  const rows = new Map(given.map((item) => [item.row, item]));
  items = items.filter((held, place) => {
    const lapsed = now > held.until;
    if (lapsed && rows.has(held.row)) held.until = stamp(held).until;
    return rows.has(held.row) || (afresh ? !lapsed : place === 0 || !lapsed);
  });
  const hidden = outbox.rows;
  for (const item of given) {
    if (hidden.has(item.row) || items.some((held) => held.row === item.row)) continue;
    items.push(stamp(item));
  }
  items.forEach(preload);
}

let refilling = false;
let nudge = () => {};

/** Asks for items while there are none; every second while a round is being planned. */
async function refill(afresh = false) {
  if (refilling) return nudge();
  refilling = true;
  for (let failures = 0; ; ) {
    const before = moves;
    let wait = 0;
    try {
      const reply = await get(`/api/next?count=${Math.min(5, AHEAD + outbox.ops.length)}`);
      failures = 0;
      if (before === moves) {
        ({ progress, designing } = reply);
        merge(reply.items, afresh);
        wait = designing ? 1000 : 20_000;
      }
    } catch (error) {
      if (error instanceof Refused) outbox.shut = error.message;
      else if (!(error instanceof Away)) throw error;
      wait = backoff(failures++);
    }
    lost = failures > 0;
    if (lost && !items.length) put("away");
    else show();
    report();
    if (items.length || outbox.shut) break;
    await Promise.race([pause(wait), new Promise((done) => (nudge = done))]);
    if (items.length) break;
  }
  refilling = false;
}

function put(state) {
  if (shown === state) return;
  byId("item").replaceChildren(message(state));
  stage.dataset.kind = "message";
  shown = state;
  for (const button of buttons) button.disabled = true;
}

// -- keys ---------------------------------------------------------------------------------

const panel = byId("why");

function toggleWhy() {
  panel.hidden = !panel.hidden;
  byId("why-open").setAttribute("aria-expanded", String(!panel.hidden));
  zoom.reset();
  explain(items[0], me.classes);
}

const dialog = byId("keys");

const places = { ArrowLeft: 0, ArrowRight: 1, f: 0, j: 1 }; // the server adds more keys

const actions = {
  s: () => answer("skip"),
  u: () => answer("unsure"),
  z: undo,
  Backspace: undo,
  w: toggleWhy,
  "?": () => dialog.showModal(),
  "+": () => zoom.by(1.5),
  "=": () => zoom.by(1.5),
  "-": () => zoom.by(1 / 1.5),
  0: () => zoom.reset(),
  ArrowDown: () => scroll(80),
  ArrowUp: () => scroll(-80),
  PageDown: () => scroll(0.85 * stage.clientHeight),
  PageUp: () => scroll(-0.85 * stage.clientHeight),
};

const scroll = (by) => stage.scrollBy({ top: by });
const SCROLLING = new Set(["ArrowDown", "ArrowUp", "PageDown", "PageUp"]);

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || dialog.open || !me) return;
  const { key } = event;
  if (key === "Escape" && !panel.hidden) return toggleWhy();
  if (key === " " && !event.target.closest("button, a, summary")) {
    event.preventDefault();
    return scroll(0.85 * stage.clientHeight * (event.shiftKey ? -1 : 1));
  }
  const place = places[key] ?? places[key.toLowerCase()];
  const action = place !== undefined ? () => answer("label", place) : actions[key] ?? actions[key.toLowerCase()];
  if (!action) return;
  event.preventDefault();
  // A key that is held down must not label items that nobody read.
  if (!event.repeat || SCROLLING.has(key)) action();
}

// -- start --------------------------------------------------------------------------------

const CAPS = { ArrowLeft: "←", ArrowRight: "→" };

function introduce() {
  for (const [key, name] of Object.entries(me.keys ?? {})) places[key] = me.classes.indexOf(name);
  for (const [id, place] of [["first", 0], ["second", 1]]) {
    const button = byId(id);
    // Numbers come first in an object, so the cap on the button is a digit where there is one.
    const keys = Object.keys(places).filter((key) => places[key] === place);
    button.querySelector(".name").textContent = button.title = me.classes[place];
    button.classList.toggle("lengthy", me.classes[place].length > 18);
    button.querySelector("kbd").textContent = keys[0].toUpperCase();
    button.setAttribute("aria-keyshortcuts", keys.join(" "));
    button.addEventListener("click", () => answer("label", place));
    byId(`keys-${id}`).textContent = me.classes[place];
    const caps = keys.map((key) => el("kbd", {}, CAPS[key] ?? key.toUpperCase()));
    byId(`keys-${id}`).previousElementSibling.replaceChildren(...caps);
  }
  byId("to-lead").hidden = me.role !== "lead";
  document.title = `Label – ${me.name} – aced`;
  byId("skip").addEventListener("click", () => answer("skip"));
  byId("unsure").addEventListener("click", () => answer("unsure"));
  byId("undo").addEventListener("click", undo);
  byId("why-open").addEventListener("click", toggleWhy);
  byId("why-close").addEventListener("click", toggleWhy);
  byId("help").addEventListener("click", () => dialog.showModal());
  // A button that was clicked must not take the Space that scrolls; keyboards click with detail 0.
  byId("answer").addEventListener("click", (event) => event.detail && document.activeElement.blur());
  document.addEventListener("keydown", pressed);
}

async function start() {
  put("loading");
  for (let failures = 0; !me; ) {
    try {
      me = await get("/api/me");
    } catch (error) {
      if (error instanceof Refused) return put(error.status === 401 ? "unknown" : "shut");
      put("away");
      await pause(backoff(failures++));
    }
  }
  introduce();
  // Older pages kept answers under the name of the pool, which two projects may share.
  const prefixes = [me.project, me.pool].map((name) => `aced:${JSON.stringify([name, me.classes, me.name])}:`);
  outbox = new Outbox(me.name, prefixes, {
    delivered,
    refused: (op, error) => {
      blocked = false;
      notice(error.message);
      if (!items.length) refill();
    },
    changed: () => {
      report();
      show();
    },
  });
  report();
  await refill();
  report();
}

document.addEventListener("visibilitychange", () => {
  if (document.hidden) return watch.stop();
  watch.go();
  const stale = items.length && performance.now() > items[0].until;
  if (stale && !outbox.ops.length) refill(true);
});

addEventListener("beforeunload", (event) => {
  if (outbox && !outbox.kept && outbox.ops.length) event.preventDefault();
});

start();
