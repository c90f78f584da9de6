// The classes on the lead's page: how many labels each has, how well the classifier tells them apart,
// and changing them. A change is shown before it is made, and can be undone.

import { mark, tint } from "./marks.js";
import { byId, count, el, interval, keep, percent, post, say } from "./util.js";

const LISTED = 6; // classes named under the bar; of more, only the ends
const NARROW = 9; // of more, the table and the confusion have the whole width

let classes = []; // as the server lists them: code, name, labels
let changed = () => {};

const quoted = (name) => `“${name}”`;
const labelsOf = (n) => (n === 1 ? "1 label" : `${count(n)} labels`);

// -- balance --------------------------------------------------------------------------------

export function showBalance(found) {
  const sum = found.reduce((total, one) => total + one.labels, 0);
  const words = ({ name, labels }) => `${name} ${count(labels)} (${percent(sum ? labels / sum : 0)})`;
  const bar = byId("balance");
  bar.replaceChildren(
    ...found.map(({ code, labels }, place) => {
      const part = el("span", { class: `${tint(code)} ${found.length === 2 && place ? "striped" : ""}` });
      part.style.flexGrow = String(sum ? labels : 0);
      return part;
    }),
  );
  bar.setAttribute("aria-label", found.map(words).join(", "));
  const few = found.length <= LISTED;
  const entries = few ? found.map((one) => el("li", {}, mark(one.code), words(one))) : [];
  byId("balance-legend").replaceChildren(...entries);
  const order = [...found].sort((a, b) => b.labels - a.labels);
  const none = found.filter((one) => !one.labels).length;
  const rarest = none ? `${count(none)} without a label` : `fewest: ${words(order.at(-1) ?? { name: "", labels: 0 })}`;
  say(byId("balance-words"), few || !order.length ? "" : `${count(found.length)} classes · most: ${words(order[0])} · ${rarest}`);
}

// -- the table --------------------------------------------------------------------------------

export function showClasses([found, accuracy]) {
  classes = found;
  for (const id of ["classes-card", "confusion-card"]) byId(id).classList.toggle("whole", found.length > NARROW);
  const most = Math.max(1, ...found.map((one) => one.labels));
  const right = new Map(accuracy.map((one) => [one.class, one]));
  keep(
    byId("class-rows"),
    found,
    (one) => `${one.code} ${one.name}`,
    (one) => {
      const button = (text, what) => {
        const made = el("button", { class: "tool", type: "button", onclick: () => ask(what, one) }, text);
        made.setAttribute("aria-label", `${text} ${one.name}`);
        return made;
      };
      return el(
        "tr",
        {},
        el("th", { scope: "row", title: one.name }, mark(one.code), " ", one.name),
        el("td"),
        el("td", { class: "share" }, el("span", { class: `bar-of ${tint(one.code)}` })),
        el("td", {}, el("span"), " ", el("span", { class: "quiet" })),
        el("td"),
        el("td", {}, el("div", { class: "changes" }, button("Rename", "rename"), button("Merge", "merge"))),
      );
    },
    (row, one) => {
      const seen = right.get(one.name);
      const known = seen && seen.estimate !== null;
      say(row.children[1], count(one.labels));
      row.children[2].firstChild.style.width = `${(100 * one.labels) / most}%`;
      say(row.children[3].firstChild, known ? percent(seen.estimate) : "–");
      say(row.children[3].lastChild, known ? `(${interval(seen)})` : "");
      const { precision } = seen ?? {};
      say(row.children[4], precision ? `${percent(precision.estimate)} (${interval(precision)})` : precision === null ? "–" : count(seen?.checked));
      row.querySelectorAll("button")[1].hidden = found.length < 3; // two classes must remain
    },
  );
}

// -- confusion --------------------------------------------------------------------------------

export function showConfusion([confusion, found]) {
  const total = confusion ? confusion.counts.flat().reduce((a, b) => a + b, 0) : 0;
  say(
    byId("confusion-hint"),
    total
      ? "Rows: what people say, or would say, of all items. Columns: what the classifier says. Estimated from the labels. Darker: a larger share of the row."
      : "The first comes with the second round.",
  );
  byId("confusion").hidden = !total;
  if (!total) return;
  const codeOf = new Map(found.map((one) => [one.name, one.code]));
  const marked = (name) => [codeOf.has(name) ? mark(codeOf.get(name)) : null, " ", el("span", { class: "word" }, name)];
  const head = confusion.classes.map((name) => el("th", { scope: "col", title: name }, ...marked(name)));
  const rows = confusion.classes.map((name, i) => {
    const sum = confusion.counts[i].reduce((a, b) => a + b, 0);
    const cells = confusion.counts[i].map((n, j) => cell(n, sum, i === j));
    return el("tr", {}, el("th", { scope: "row", title: name }, ...marked(name)), ...cells);
  });
  const corner = el("td", { class: "quiet" }, "people ↓ classifier →");
  const table = el("table", {}, el("thead", {}, el("tr", {}, corner, ...head)), el("tbody", {}, ...rows));
  byId("confusion").replaceChildren(table);
}

/** A number, shaded by its share of the row; those on the diagonal are right. */
function cell(n, sum, right) {
  const step = n ? 1 + Math.min(3, Math.floor((4 * n) / sum)) : 0;
  return el("td", { class: `${right ? "right" : "wrong"} s${step}` }, n ? count(n) : "·");
}

// -- changing ---------------------------------------------------------------------------------

const dialog = byId("class-dialog");
const form = byId("class-form");
let asked = null; // what the dialog is about: { what, one }

function ask(what, one) {
  asked = { what, one };
  const merging = what === "merge";
  say(byId("class-dialog-title"), merging ? `Merge ${quoted(one.name)} into another class` : `Rename ${quoted(one.name)}`);
  byId("class-to").hidden = merging;
  byId("class-into").hidden = !merging;
  form.to.value = merging ? "" : one.name;
  form.to.required = !merging;
  const others = classes.filter((other) => other.code !== one.code);
  const choose = el("option", { value: "", disabled: true, selected: true }, "Choose a class");
  form.into.replaceChildren(choose, ...others.map((other) => el("option", { value: other.name }, other.name)));
  form.into.required = merging;
  say(byId("class-yes"), merging ? "Merge" : "Rename");
  fail("");
  byId("class-labels").replaceChildren();
  say(byId("class-effect"), "");
  dialog.showModal();
  if (!merging) form.to.select();
}

const body = () =>
  asked.what === "merge"
    ? { action: "merge", from: asked.one.name, into: form.into.value }
    : { action: "rename", from: asked.one.name, to: form.to.value.trim() };

function fail(text) {
  say(byId("class-error"), text);
  byId("class-error").hidden = !text;
}

/** Says which labels a merge would change, and writes nothing. */
async function preview() {
  const wanted = body();
  try {
    const found = await post("/api/classes", { ...wanted, dry: true });
    if (!asked || JSON.stringify(body()) !== JSON.stringify(wanted)) return;
    const what = found.count ? labelsOf(found.count) : "No label";
    say(byId("class-effect"), `${what} of ${quoted(wanted.from)} will count as ${quoted(wanted.into)}. You can undo it.`);
    const shown = found.labels.map((one) => el("li", {}, el("span", {}, one.item), el("span", { class: "quiet" }, one.annotator)));
    if (found.count > shown.length) shown.push(el("li", { class: "quiet" }, `and ${count(found.count - shown.length)} more`));
    byId("class-labels").replaceChildren(...shown);
    fail("");
  } catch (error) {
    fail(error.message);
  }
}

function said(text, undoable) {
  say(byId("class-done-text"), text);
  byId("class-undo").hidden = !undoable;
  byId("class-done").hidden = false;
}

async function submit(event) {
  event.preventDefault();
  const wanted = body();
  if (wanted.to === wanted.from) return dialog.close();
  try {
    const done = await post("/api/classes", wanted);
    dialog.close();
    said(
      wanted.into
        ? `${quoted(wanted.from)} is part of ${quoted(wanted.into)} now; ${labelsOf(done.count)} changed.`
        : `${quoted(wanted.from)} is called ${quoted(wanted.to)} now.`,
      true,
    );
  } catch (error) {
    return fail(error.message);
  }
  changed();
}

function complain(text) {
  say(byId("class-notice"), text);
  byId("class-notice").hidden = !text;
}

async function add(event) {
  event.preventDefault();
  const name = byId("class-name").value.trim();
  try {
    await post("/api/classes", { action: "add", name });
    complain("");
    byId("class-add").reset();
    said(`${quoted(name)} can be chosen now.`, true);
  } catch (error) {
    complain(error.message);
  }
  changed();
}

async function undo() {
  try {
    await post("/api/classes", { action: "undo" });
    complain("");
    said("The last change of the classes is undone.", false);
  } catch (error) {
    complain(error.message);
  }
  changed();
}

const WORDS = {
  "class-added": (one) => `${quoted(one.class)} was added`,
  "class-renamed": (one) => `${quoted(one.name)} was renamed to ${quoted(one.class)}`,
  "class-merged": (one) => `${quoted(one.class)} was merged into ${quoted(one.name)}`,
};

/** The last change that can be undone, also one of another day. */
export function showChange(last) {
  if (last) said(`${(WORDS[last.kind] ?? (() => "The classes were changed"))(last)}${last.who ? ` by ${last.who}` : ""}.`, true);
  else if (!byId("class-undo").hidden) byId("class-done").hidden = true;
}

export function prepare(refresh) {
  changed = refresh;
  form.addEventListener("submit", submit);
  form.into.addEventListener("change", preview);
  byId("class-no").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => (asked = null));
  byId("class-add").addEventListener("submit", add);
  byId("class-undo").addEventListener("click", undo);
}
