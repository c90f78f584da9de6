// The annotator's page. A key shows the next item at once; the answer is sent in the background.

import { changes, moved } from "./changes.js";
import { chooser } from "./choices.js";
import { showCommands } from "./commands.js";
import { tint } from "./marks.js";
import { Outbox } from "./outbox.js";
import { Zoom, content, preload, release, retry, unseen, whenImages } from "./stage.js";
import { Away, Refused, backoff, byId, count, el, get, pause, say, showProgress, timeLeft } from "./util.js";
import { watch } from "./watch.js";
import { explain } from "./why.js";

const AHEAD = 3;
const REMEMBERED = 200;
const CAREFUL = 800; // milliseconds

const stage = byId("stage");
const zoom = new Zoom(stage);
const buttons = ["skip", "unsure"].map(byId);

let me = null;
let choices = null; // the buttons of the classes, or the list to type in
let careful = { until: 0, keys: new Set() }; // keys that have just got another meaning, and clicks
let outbox = null;
let progress = null;
let designing = false;
let items = []; // items we hold; the first is shown
let shown = null; // what the stage shows: an item, or the name of a state
let history = []; // answers of this visit, whose items are known here if they are undone
let blocked = false; // an undo is on its way and only the server knows the item
let moves = 0; // counts answers and undos, given and delivered: a list of items from before is stale
let lost = false; // the last request for items failed

// -- showing ------------------------------------------------------------------------------

const STATES = {
  loading: ["Loading…", ""],
  designing: ["The next round is being planned", "It appears here by itself, usually within seconds."],
  done: ["All done, thank you", "There is nothing left for you here right now. New items appear by themselves."],
  away: ["The server cannot be reached", "Your answers are kept in this browser and sent as soon as it is back."],
  unknown: ["You need an access link", "Open the one that you were given, or that aced serve printed. If it no longer works, ask for a new one."],
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
    draw(next);
    stage.scrollTop = 0;
    if (isItem) watch.start();
  }
  shown = next;
  enable(isItem);
  byId("why-open").disabled = !isItem;
  release(new Set([...items.map((item) => item.row), ...history.slice(-3).map((past) => past.item.row)]));
  explain(items[0], me?.classes.length);
}

function draw(next) {
  const isItem = typeof next === "object";
  byId("item").replaceChildren(isItem ? content(next, again) : message(next));
  stage.dataset.kind = isItem && byId("item").querySelector(".zoom, .text, .values") ? next.kind : "message";
  zoom.reset();
}

function again() {
  if (typeof shown !== "object" || !unseen(shown)) return;
  retry(shown);
  draw(shown);
  enable(true);
}

/** An image has come or failed. Without it no class can be chosen; its item can be skipped. */
function imageSettled(row) {
  if (shown?.row !== row) return;
  const failed = unseen(shown);
  if (failed || byId("retry")) draw(shown);
  enable(true);
  if (byId("retry") && [document.body, stage].includes(document.activeElement)) byId("retry").focus();
}

function enable(on) {
  choices?.enable(on && !unseen(items[0]));
  for (const button of buttons) button.disabled = !on;
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
  byId("undo").disabled = blocked || !(history.length || progress?.undoable || waiting);
}

let noticeTimer = 0;

function notice(text, ms = 6000) {
  const box = byId("notice");
  say(box, text);
  box.hidden = !text;
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => (box.hidden = true), ms);
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
  if (place !== null && unseen(item)) return notice("The image cannot be shown. Try again, or skip the item.");
  const label = place === null ? null : me.classes[place];
  moves += 1;
  items.shift();
  history = [...history.slice(-REMEMBERED), { item, kind, label }];
  flash(place === null ? "other" : tint(me.codes[place]));
  choices.clear();
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
    if (reply.undone === "returned") outOfQueue(reply.item);
    else takeBack(reply.item);
    say(byId("said"), "Undone");
  } else if (op.path === "/api/return") {
    if (items.length) refill();
  } else {
    designing = reply.designing;
    merge(reply.items);
    say(byId("said"), `Saved: ${op.body.label ?? op.body.kind}`);
  }
  renew();
  show();
  if (!items.length && !outbox.ops.length) refill();
}

/** An answer that the server does not take. If its class is gone, the item comes back to be answered. */
function refused(op, error) {
  blocked = false;
  const sentence = `${error.message[0].toUpperCase()}${error.message.slice(1)}.`;
  notice(sentence);
  const at = history.findLastIndex((past) => past.item.row === op.body.row);
  if (error.body?.classes) {
    moves += 1;
    if (at >= 0 && !outbox.rows.has(op.body.row)) items.unshift(stamp(history.splice(at, 1)[0].item));
    renew(true, sentence);
    show();
  }
  if (!items.length) refill();
}

/** An undo has taken an item out of the queue again. */
function outOfQueue(item) {
  blocked = false;
  items = items.filter((held) => held.row !== item.row);
  notice(`“${item.id}” is out of your queue again.`);
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
        renew();
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
  enable(false);
}

// -- keys ---------------------------------------------------------------------------------

const panel = byId("why");

function toggleWhy() {
  panel.hidden = !panel.hidden;
  byId("why-open").setAttribute("aria-expanded", String(!panel.hidden));
  zoom.reset();
  explain(items[0], me.classes.length);
}

const dialog = byId("keys");

const actions = {
  s: () => answer("skip"),
  u: () => answer("unsure"),
  z: undo,
  Backspace: undo,
  w: toggleWhy,
  h: () => location.assign("/history"),
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
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || dialog.open || !me) return;
  const { key } = event;
  let action = choices.action(event);
  if (action === null) return; // it is being typed
  if (!action && key === "Escape" && !panel.hidden) return toggleWhy();
  if (!action && key === " " && !event.target.closest("button, a, summary")) {
    event.preventDefault();
    return scroll(0.85 * stage.clientHeight * (event.shiftKey ? -1 : 1));
  }
  action ??= actions[key] ?? actions[key.toLowerCase()];
  if (!action) return;
  event.preventDefault();
  const strange = careful.keys?.has(key.length > 1 ? key : key.toLowerCase()) ?? true;
  if (strange && performance.now() < careful.until) return;
  // A key that is held down must not label items that nobody read.
  if (!event.repeat || SCROLLING.has(key)) action();
}

// -- start --------------------------------------------------------------------------------

const COMMANDS = {
  s: { name: "Skip", run: () => answer("skip") },
  u: { name: "Unsure", run: () => answer("unsure") },
  z: { name: "Undo", run: undo },
  w: { name: "Why", run: toggleWhy },
  h: { name: "History", run: () => location.assign("/history") },
};

const SHORTCUTS = { skip: ["s", []], unsure: ["u", []], undo: ["z", ["Backspace"]], "why-open": ["w", []], "to-history": ["h", []] };

/** Shows the classes, at the start and whenever they have changed. */
function introduce() {
  const typed = choices?.typed ?? "";
  const focused = document.activeElement?.dataset.code;
  const pick = (place, clicked) => (clicked && performance.now() < careful.until) || answer("label", place);
  choices = chooser(byId("classes"), me, pick, COMMANDS, (text) => notice(text));
  if (typed) choices.typed = typed;
  showCommands(me.keys, SHORTCUTS);
  document.body.classList.toggle("many", Boolean(choices.input));
  enable(typeof shown === "object" && shown !== null);
  const rows = choices.help().flatMap(([caps, words]) => [el("dt", {}, ...caps), el("dd", {}, ...words)]);
  byId("keys-classes").replaceChildren(...rows);
  choices.focus();
  if (focused) document.querySelector(`.choice[data-code="${focused}"]`)?.focus();
}

/** Asks for the classes again if they are not those of this page any more, and says what has changed. */
async function renew(afresh = false, sentence = "") {
  if (!afresh && (progress?.classes_version ?? me.classes_version) === me.classes_version) return;
  let now;
  try {
    now = await get("/api/me");
  } catch {
    return; // the next answer asks again
  }
  if (now.classes_version === me.classes_version) return;
  const before = me;
  me = { ...now, codes: now.codes ?? now.classes.map((_, place) => place) };
  const keys = moved(before, me);
  careful = { until: performance.now() + (keys ? CAREFUL : 2 * CAREFUL), keys };
  introduce();
  notice(`${sentence} ${changes(before, me)}`.trim(), 12_000);
}

function prepare() {
  byId("to-lead").hidden = me.role !== "lead";
  document.title = `Label – ${me.name} – aced`;
  byId("skip").addEventListener("click", () => answer("skip"));
  byId("unsure").addEventListener("click", () => answer("unsure"));
  byId("undo").addEventListener("click", undo);
  byId("why-open").addEventListener("click", toggleWhy);
  byId("why-close").addEventListener("click", toggleWhy);
  byId("help").addEventListener("click", () => dialog.showModal());
  // A button that was clicked must not take the Space that scrolls; keyboards click with detail 0.
  byId("answer").addEventListener("click", (event) => {
    if (!event.detail || event.target.closest(".search")) return;
    document.activeElement.blur();
    choices.focus();
  });
  document.addEventListener("keydown", pressed);
  whenImages(imageSettled);
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
  me.codes ??= me.classes.map((_, place) => place);
  prepare();
  introduce();
  outbox = new Outbox(me, {
    delivered,
    refused,
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
  if (outbox) renew(true);
  const stale = items.length && performance.now() > items[0].until;
  if (stale && !outbox.ops.length) refill(true);
});

// A page that the browser kept while another one was open does not know what was done there.
addEventListener("pageshow", (event) => event.persisted && location.reload());

addEventListener("beforeunload", (event) => {
  if (outbox && !outbox.kept && outbox.ops.length) event.preventDefault();
});

start();
