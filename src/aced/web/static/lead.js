// The lead's page. It asks for everything every few seconds and changes only what differs.

import { prepare, showBalance, showChange, showClasses, showConfusion } from "./classes.js";
import { Curve } from "./curve.js";
import { Scatter, brief } from "./map.js";
import { mark, tint } from "./marks.js";
import {
  Refused, ago, backoff, byId, count, duration, el, get, keep, pause, percent, post, say, showProgress,
} from "./util.js";

const EVERY = 3000;

const curve = new Curve(byId("curve"));
const against = new Curve(byId("saved-curve"));
const scatter = new Scatter(byId("map"), byId("map-legend"));
let me = null;
let codes = new Map(); // by name
let mapped = null;
let before = {};

/** Runs `draw` when this part differs from last time. */
function part(name, value, draw) {
  const now = JSON.stringify(value);
  if (before[name] === now) return;
  before[name] = now;
  draw(value);
}

// -- parts --------------------------------------------------------------------------------

function showTiles(progress) {
  showProgress(progress);
  const { accuracy, labels_left: left } = progress;
  say(byId("left"), left === 0 ? "Enough" : duration(progress.seconds_left));
  say(byId("checked"), accuracy ? ` · ${count(accuracy.checked)} label${accuracy.checked === 1 ? "" : "s"}` : "");
  const words = left === null || left === undefined ? "not known yet" : `about ${count(left)} label${left === 1 ? "" : "s"} to go`;
  const enough = progress.audit ? "the certificate is narrow enough" : "more labels are expected to gain less than 1 %";
  say(byId("left-labels"), left === 0 ? (progress.stop ? "you can stop" : enough) : words);
  const { stop } = progress;
  say(byId("stop"), stop ? `${stop.reached ? "You can stop" : "Not yet"}: ${stop.claim}.` : "");
  byId("stop").hidden = !stop;
}

/** The words of a project that audits predictions instead of training a classifier. */
function asAudit() {
  say(byId("curve-hint"), "Share of the predictions that is right, with a 95 % certificate: all that are ever shown hold together.");
  say(byId("classes-hint"), "Items of each class so far, how many are predicted to be of it, and the share of these that is right, with a 95 % certificate.");
  say(byId("found-head"), "Right");
  say(byId("checks-head"), "Predicted");
  byId("confusion-card").hidden = true;
}

function showPeople(people) {
  keep(
    byId("people"),
    people,
    (person) => person.name,
    (person) => {
      const cells = Array.from({ length: 6 }, () => el("td"));
      const button = el("button", { class: "tool", type: "button", onclick: () => revoke(person.name) }, "Revoke");
      button.setAttribute("aria-label", `Revoke ${person.name}`);
      cells[5].append(button);
      return el("tr", {}, el("th", { scope: "row", title: person.name }, person.name), ...cells);
    },
    (row, person) => {
      row.classList.toggle("gone", !person.active);
      const words = [
        count(person.labels),
        count(person.skips),
        count(person.unsure),
        person.median_seconds === null ? "–" : `${person.median_seconds.toFixed(1)} s`,
        ago(person.last),
      ];
      words.forEach((text, i) => say(row.children[i + 1], text));
      say(row.children[0], person.role === "lead" ? `${person.name} (lead)` : person.name);
      row.querySelector("button").hidden = !person.active || person.name === me.name;
    },
  );
}

function showAgreement(found) {
  const some = found && found.share !== null && found.share !== undefined;
  say(byId("share"), some ? percent(found.share) : "–");
  const alpha = found?.alpha;
  say(byId("alpha"), alpha === null || alpha === undefined ? "–" : alpha.toFixed(2));
  say(
    byId("agreement-hint"),
    some
      ? "The share is of all pairs of labels of the same item. Alpha is 1 if people always agree, 0 if they agree as by chance."
      : "Nothing to compare yet: no item was labelled by two people.",
  );
  const names = some ? found.names : [];
  const short = (name) => (name.length > 10 ? `${name.slice(0, 9)}…` : name);
  const head = el("tr", {}, el("td"), ...names.map((name) => el("th", { scope: "col", title: name }, short(name))));
  const rows = names.map((name, i) =>
    el(
      "tr",
      {},
      el("th", { scope: "row", title: name }, name),
      ...names.map((_, j) => el("td", {}, i === j ? "" : percent(found.pairs[i][j]))),
    ),
  );
  const table = byId("pairs");
  table.replaceChildren(el("thead", {}, head), el("tbody", {}, ...rows));
  table.hidden = names.length < 2;
}

function showDisputes([disputes, total]) {
  say(
    byId("disputes-hint"),
    disputes.length ? `${count(total)} item${total === 1 ? "" : "s"} with different labels; the most evenly split come first.` : "No item has two different labels.",
  );
  keep(
    byId("disputes"),
    disputes,
    (item) => `${item.row} ${JSON.stringify(item.votes)}`,
    (item) => {
      const what = item.image
        ? el("img", { class: "ground", src: item.image, alt: `Image ${item.id}`, loading: "lazy" })
        : el("p", { class: "what", dir: "auto" }, brief(item));
      const votes = Object.entries(item.votes).map(([name, label]) => {
        const code = codes.get(label) ?? 0;
        return el("li", { class: `vote ${tint(code)}` }, mark(code), ` ${name}: ${label}`);
      });
      return el("li", {}, what, el("ul", { class: "votes" }, ...votes));
    },
  );
}

function showRounds(rounds) {
  keep(
    byId("rounds"),
    [...rounds].reverse(),
    (round) => round.round,
    (round) =>
      el(
        "tr",
        {},
        el("th", { scope: "row" }, count(round.round)),
        el("td", {}, count(round.labels)),
        el("td", {}, `${round.seconds.toFixed(1)} s`),
      ),
  );
}

function showRepresentation(found) {
  const known = Boolean(found?.used); // nothing is said of a fixed penalty
  say(byId("representation"), known ? found.sentence : "");
  byId("representation").hidden = !known;
  say(byId("advice"), found?.advice ?? "");
  byId("advice").hidden = !found?.advice;
}

/** What was saved or lost, with its band. */
function savedWords({ labels, random, saved }) {
  const one = ({ middle, low, high }, unit, digits = 0) => {
    const size = (n) => Math.abs(n).toLocaleString(undefined, { minimumFractionDigits: digits, maximumFractionDigits: digits });
    const way = (n) => (n < 0 ? "lost" : "saved");
    const alike = way(low) === way(high) && way(low) === way(middle);
    const ends = alike && middle < 0 ? [high, low] : [low, high];
    const band = ends.map((n) => (alike ? size(n) : `${size(n)} ${way(n)}`)).join(" to ");
    return `${size(middle)}${unit} ${way(middle)} (${band})`;
  };
  const hours = saved.hours && Object.values(saved.hours);
  const short = hours && Math.max(...hours.map(Math.abs)) < 2;
  const minutes = short && Object.fromEntries(Object.entries(saved.hours).map(([end, n]) => [end, 60 * n]));
  const time = hours && (short ? one(minutes, " minutes") : one(saved.hours, " hours", 1));
  const more = [time, saved.money && one(saved.money, " in money", 2)].filter(Boolean);
  const took = `Random labelling would have taken about ${count(random)} labels for what took ${count(labels)}.`;
  return [`About ${one(saved.labels, " labels")}.`, took, ...more.map((text) => `About ${text}.`)].join(" ");
}

function showSaved(found) {
  byId("saved-card").hidden = !found;
  if (!found) return;
  say(byId("saved-words"), savedWords(found));
  against.show(found.ours, found.by_random);
}

async function showMap(key) {
  if (mapped === key) return;
  try {
    scatter.show(await get("/api/map"));
    mapped = key;
  } catch {
    // the next refresh asks again
  }
}

// -- people -------------------------------------------------------------------------------

function complain(text) {
  say(byId("notice"), text);
  byId("notice").hidden = !text;
}

async function revoke(name) {
  if (!confirm(`Take away ${name}'s access? Labels given so far stay.`)) return;
  try {
    await post("/api/revoke", { name });
    complain("");
  } catch (error) {
    complain(error.message);
  }
  refresh();
}

async function invite(event) {
  event.preventDefault();
  const name = byId("invite-name").value.trim();
  try {
    const { link } = await post("/api/people", { name, role: byId("invite-role").value });
    complain("");
    say(byId("once-text"), `The link for ${name}. It is shown only once. Whoever has it can label as ${name}.`);
    byId("once-link").value = new URL(link, location.href).href;
    byId("once").hidden = false;
    say(byId("copy"), "Copy");
    byId("invite").reset();
    byId("once-link").select();
  } catch (error) {
    complain(error.message);
  }
  refresh();
}

async function copy() {
  const field = byId("once-link");
  field.select();
  let done = false;
  try {
    await navigator.clipboard.writeText(field.value);
    done = true;
  } catch {
    done = document.execCommand("copy"); // plain http beyond this machine has no clipboard
  }
  say(byId("copy"), done ? "Copied" : "Press Ctrl+C");
}

// -- refreshing ---------------------------------------------------------------------------

async function refresh() {
  const found = await get("/api/lead");
  part("progress", found.progress, showTiles);
  codes = new Map(found.classes.map(({ name, code }) => [name, code]));
  part("balance", found.classes, showBalance);
  if (found.audit) asAudit();
  part("classes", [found.classes, found.accuracy_by_class], showClasses);
  part("confusion", [found.confusion, found.classes], showConfusion);
  part("changes", found.changes, showChange);
  part("agreement", found.agreement, showAgreement);
  part("disputes", [found.disputes, found.disputed ?? found.disputes.length], showDisputes);
  part("rounds", found.rounds, showRounds);
  part("representation", found.representation, showRepresentation);
  curve.show(found.curve);
  part("savings", found.savings ?? null, showSaved);
  showPeople(found.people);
  say(byId("problem"), found.problem ? `No new round: ${found.problem}` : "");
  byId("problem").hidden = !found.problem;
  await showMap(`${found.progress.drawn} ${found.progress.labelled} ${JSON.stringify(found.classes)}`);
}

async function start() {
  byId("invite").addEventListener("submit", invite);
  byId("copy").addEventListener("click", copy);
  prepare(() => refresh().catch(() => {}));
  for (let failures = 0; ; ) {
    try {
      me ??= await get("/api/me");
      if (!document.hidden) await refresh();
      failures = 0;
      say(byId("saved"), "Live");
      byId("saved").dataset.state = "saved";
    } catch (error) {
      const shut = error instanceof Refused;
      say(byId("saved"), shut ? error.message : "Offline, trying again");
      byId("saved").dataset.state = shut ? "shut" : "offline";
      if (shut) return;
      failures += 1;
    }
    await pause(failures ? backoff(failures) : EVERY);
  }
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && me) refresh().catch(() => {});
});

start();
