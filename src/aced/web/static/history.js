// The history: answers, newest first. The classes change the answer that is marked; a skipped or unsure
// item comes back into the queue. Changes go the same way as answers, so that none is lost.

import { chooser } from "./choices.js";
import { showCommands } from "./commands.js";
import { mark, tint } from "./marks.js";
import { Outbox } from "./outbox.js";
import { thumbnail } from "./stage.js";
import { Away, Refused, ago, backoff, byId, count, el, get, pause, say } from "./util.js";

const PAGE = 50;
const LONGEST_PAGE = 100;
const PATIENCE = 250; // milliseconds after the last letter of a search

const list = byId("entries");
const search = byId("text");
const dialog = byId("keys");

let me = null;
let choices = null;
let outbox = null;
let undoable = false;
let entries = []; // what the list shows, each with its node
let marked = -1;
let more = null; // where the next page begins
let asked = 0; // counts requests for pages: only the last one is shown

// -- the list -----------------------------------------------------------------------------

const WORDS = { skip: "Skipped", unsure: "Unsure" };
const everybody = () => byId("who").value === "*";
const whose = () => byId("who").value || me.name;

function query(before, size) {
  const asking = new URLSearchParams({ count: size });
  if (search.value.trim()) asking.set("text", search.value.trim());
  if (byId("kinds").value) asking.set("kinds", byId("kinds").value);
  if (everybody()) asking.set("everybody", "1");
  else asking.set("who", whose());
  if (before !== null) asking.set("before", before);
  return `/api/history?${asking}`;
}

/** Asks for the first page, or for the one after what is shown. */
async function load(further = false) {
  const number = ++asked;
  const size = further ? PAGE : Math.min(LONGEST_PAGE, Math.max(PAGE, entries.length));
  let found = null;
  for (let failures = 0; !found; ) {
    try {
      found = await get(query(further ? more : null, size));
    } catch (error) {
      if (number !== asked) return;
      if (error instanceof Refused) return put(error.status === 401 ? "You need an access link." : `${error.message}.`);
      if (!(error instanceof Away)) throw error;
      put("The server cannot be reached. The list appears when it is back.");
      await pause(backoff(failures++));
    }
    if (number !== asked) return;
  }
  const kept = entries[marked];
  entries = [...(further ? entries : []), ...found.answers];
  more = found.more;
  undoable = found.undoable || outbox.ops.length > 0;
  byId("more").hidden = more === null;
  showPeople(found.people);
  for (const entry of entries) entry.node ??= node(entry);
  list.replaceChildren(...entries.map((entry) => entry.node));
  const sought = search.value.trim() || byId("kinds").value;
  put(entries.length ? "" : sought ? "Nothing found." : "Nothing was answered yet.");
  const same = (entry) => entry.item.row === kept?.item.row && entry.who === kept?.who;
  choose(Math.max(entries.length ? 0 : -1, kept ? entries.findIndex(same) : 0), false);
}

function put(sentence) {
  say(byId("state"), sentence);
}

function showPeople(people) {
  const select = byId("who");
  select.hidden = me.role !== "lead";
  const names = people.filter((name) => name !== me.name);
  const values = ["", "*", ...names];
  if (JSON.stringify([...select.options].map((option) => option.value)) === JSON.stringify(values)) return;
  const before = select.value;
  const words = [`${me.name} (you)`, "Everybody", ...names];
  select.replaceChildren(...values.map((value, place) => el("option", { value }, words[place])));
  select.value = values.includes(before) ? before : "";
}

function node(entry) {
  const { item } = entry;
  const made = el(
    "li",
    { id: `answer-${entry.seq}`, class: "entry", role: "option", "aria-selected": "false" },
    el("span", { class: "said" }),
    thumbnail(item),
    el("span", { class: "when" }),
  );
  made.addEventListener("click", () => choose(entries.indexOf(entry)));
  write(entry, made);
  return made;
}

/** Writes what the answer is now. */
function write(entry, made = entry.node) {
  const labelled = entry.answer === "label";
  const [said, , when] = made.children;
  const words = labelled ? entry.label : (entry.returned ? "Back in the queue" : WORDS[entry.answer]);
  said.className = `said ${labelled ? tint(entry.code) : "passed"}`;
  said.replaceChildren(...(labelled ? [mark(entry.code)] : []), el("span", { class: "name", dir: "auto" }, words));
  made.classList.toggle("changed", Boolean(entry.changed));
  const person = everybody() || entry.who !== me.name ? `${entry.who}, ` : "";
  say(when, `${person}${entry.changed ? "just now" : ago(entry.at)}`);
  when.title = entry.item.id;
}

/** Marks an answer; the classes below change it. */
function choose(place, move = true) {
  entries[marked]?.node.setAttribute("aria-selected", "false");
  marked = place;
  const entry = entries[place];
  if (entry) {
    entry.node.setAttribute("aria-selected", "true");
    list.setAttribute("aria-activedescendant", entry.node.id);
    if (move) entry.node.scrollIntoView({ block: "nearest" });
  } else list.removeAttribute("aria-activedescendant");
  choices?.clear();
  enable();
}

function step(by) {
  if (!entries.length) return;
  const place = Math.min(entries.length - 1, Math.max(0, marked + by));
  choose(place);
  if (place === entries.length - 1 && more !== null) load(true);
}

const mine = (entry) => entry && entry.who === me.name && !entry.returned;
const returnable = (entry) => entry?.back && entry.answer !== "label" && !entry.returned && entry.seq !== null;

function enable() {
  const entry = entries[marked];
  choices?.enable(Boolean(mine(entry)));
  byId("back").disabled = !returnable(entry);
  byId("undo").disabled = !undoable;
}

// -- changes ------------------------------------------------------------------------------

let timer = 0;

function notice(text, ms = 6000) {
  const box = byId("notice");
  say(box, text);
  box.hidden = !text;
  clearTimeout(timer);
  timer = setTimeout(() => (box.hidden = true), ms);
}

function change(place) {
  const entry = entries[marked];
  if (!entry) return;
  if (entry.returned) return notice("This item is back in the queue: label it there, or undo.");
  if (!mine(entry)) return notice(`This is what ${entry.who} answered. Only ${entry.who} can change it.`);
  const label = me.classes[place];
  if (entry.answer === "label" && entry.label === label) return notice(`“${label}” is its label already.`);
  Object.assign(entry, { answer: "label", label, code: me.codes[place], changed: true, seq: null });
  write(entry);
  choices.clear();
  outbox.add("/api/answer", { row: entry.item.row, kind: "label", label, seconds: 0, then: 0 });
  undoable = true;
  enable();
}

function back() {
  const entry = entries[marked];
  if (!entry || entry.returned) return;
  if (entry.answer === "label") return notice("Only skipped and unsure items come back into the queue.");
  if (!entry.back) return notice("No label of this item is wanted any more. You can give it one here.");
  if (!returnable(entry)) return;
  Object.assign(entry, { returned: true, changed: true });
  write(entry);
  outbox.add("/api/return", { answer: entry.seq });
  undoable = true;
  enable();
}

function undo() {
  if (!undoable || outbox.shut) return;
  outbox.add("/api/undo", { again: false });
}

function delivered(op, reply) {
  undoable = reply.progress?.undoable ?? undoable;
  if (op.path === "/api/undo") {
    notice(reply.item ? `Undone: “${reply.item.id}”.` : "There is nothing to undo.");
    if (!outbox.ops.length) load();
  } else if (op.path === "/api/return") {
    say(byId("said"), "Back in the queue");
  } else {
    const entry = entries.find(({ item, who }) => item.row === op.body.row && who === me.name);
    if (entry) entry.seq = reply.seq;
    say(byId("said"), `Saved: ${op.body.label ?? op.body.kind}`);
  }
  renew(reply.progress);
  enable();
}

function refused(_, error) {
  notice(`${error.message[0].toUpperCase()}${error.message.slice(1)}.`);
  if (error.body?.classes) renew(null);
  load();
}

function report() {
  const { state, ops } = outbox;
  const words = { saved: "Saved", saving: "Saving…", offline: `Offline, ${count(ops.length)} waiting`, shut: "No access" };
  say(byId("saved"), words[state]);
  byId("saved").dataset.state = state;
  if (outbox.shut) put(`${outbox.shut[0].toUpperCase()}${outbox.shut.slice(1)}.`);
}

/** Takes over the classes if they have changed. */
async function renew(progress) {
  if (progress && progress.classes_version === me.classes_version) return;
  try {
    me = await get("/api/me");
  } catch {
    return; // the next change asks again
  }
  introduce();
  load();
}

// -- keys ---------------------------------------------------------------------------------

const away = () => location.assign("/");

const COMMANDS = {
  b: { name: "Back into the queue", run: back },
  z: { name: "Undo", run: undo },
  s: { name: "Search", run: () => search.focus() },
  h: { name: "Label", run: away },
};

const actions = {
  ...Object.fromEntries(Object.entries(COMMANDS).map(([key, { run }]) => [key, run])),
  Backspace: undo,
  Escape: away,
  "?": () => dialog.showModal(),
};

const STEPS = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };

function searching(event) {
  if (event.key === "Escape" && search.value) {
    search.value = "";
    load();
  } else if (!["Escape", "Enter", "ArrowDown"].includes(event.key)) return;
  event.preventDefault();
  list.focus();
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || dialog.open || !outbox) return;
  if (event.target === search) return searching(event);
  if (event.target.closest("select")) return;
  const { key } = event;
  if (STEPS[key] && !choices.typed) {
    event.preventDefault();
    return step(STEPS[key]);
  }
  if ((key === " " || key === "Enter") && event.target.closest("button, a")) return;
  let action = choices.action(event);
  if (action === null) return; // it is being typed
  action ??= actions[key] ?? actions[key.toLowerCase()];
  if (!action) return;
  event.preventDefault();
  if (!event.repeat) action(); // a key that is held down counts once
}

// -- start --------------------------------------------------------------------------------

const SHORTCUTS = { back: ["b", []], undo: ["z", ["Backspace"]], text: ["s", []], "to-label": ["h", ["Escape"]] };

/** Shows the classes, at the start and whenever they have changed. */
function introduce() {
  choices = chooser(byId("classes"), me, (place) => change(place), COMMANDS, (text) => notice(text));
  showCommands(me.keys, SHORTCUTS);
  document.body.classList.toggle("many", Boolean(choices.input));
  const rows = choices.help().flatMap(([caps, words]) => [el("dt", {}, ...caps), el("dd", {}, ...words)]);
  byId("keys-classes").replaceChildren(...rows);
  enable();
}

function prepare() {
  byId("to-lead").hidden = me.role !== "lead";
  document.title = `History – ${me.name} – aced`;
  byId("back").addEventListener("click", back);
  byId("undo").addEventListener("click", undo);
  byId("help").addEventListener("click", () => dialog.showModal());
  byId("more").addEventListener("click", () => load(true));
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["kinds", "who"]) {
    byId(id).addEventListener("change", () => {
      entries = [];
      load().then(() => list.focus());
    });
  }
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => ((entries = []), load()), PATIENCE);
  });
  document.addEventListener("keydown", pressed);
}

async function start() {
  for (let failures = 0; !me; ) {
    try {
      me = await get("/api/me");
    } catch (error) {
      if (error instanceof Refused) return put("You need an access link. Open the one that you were given.");
      put("The server cannot be reached.");
      await pause(backoff(failures++));
    }
  }
  prepare();
  introduce();
  outbox = new Outbox(me, { delivered, refused, changed: () => outbox && report() });
  report();
  await load();
  list.focus();
}

addEventListener("pageshow", (event) => event.persisted && location.reload());

addEventListener("beforeunload", (event) => {
  if (outbox && !outbox.kept && outbox.ops.length) event.preventDefault();
});

start();
