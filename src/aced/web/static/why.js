// Why this item: how it was drawn and, folded away, what the classifier says of it.

import { byId, count, el, get, percent, say } from "./util.js";

const REMEMBERED = 50;
const reasons = new Map();
let asked = null;

const known = (value) => value !== null && value !== undefined;
const fact = (name, value) => [el("dt", {}, name), el("dd", {}, value)];

/** Fills the panel for an item, if it is open; `classes` is how many there are. */
export async function explain(item, classes) {
  if (byId("why").hidden) return;
  asked = item?.row;
  let why = reasons.get(asked);
  tell(why, classes);
  if (why || !item) return;
  try {
    why = await get(`/api/why/${item.row}`);
  } catch {
    return; // the panel stays empty; labelling goes on
  }
  reasons.set(item.row, why);
  if (reasons.size > REMEMBERED) reasons.delete(reasons.keys().next().value);
  if (asked === item.row) tell(why, classes);
}

function tell(why, classes) {
  say(byId("why-reason"), why ? reason(why) : "");
  byId("why-facts").replaceChildren(...(why ? facts(why) : []));
  say(byId("why-model"), why ? opinion(why, classes) : "");
}

function reason(why) {
  if (why.check) return "A check item: drawn at random, to estimate how accurate the classifier is.";
  if (why.spare === "design") return "Drawn by the last design beyond its round, because the next round is not ready.";
  if (why.spare) return "Drawn at random, because the next round is not ready.";
  if (!known(why.lam)) return "Drawn before there was a design.";
  if (why.lam < 1) return "Drawn by the design, though with less weight than the average item.";
  return "Drawn by the design: its label is expected to tell good classifiers apart.";
}

function facts(why) {
  const found = [];
  if (known(why.round)) found.push(fact("Round", count(why.round)));
  if (known(why.probability)) found.push(fact("Draw probability", percent(why.probability, why.probability < 0.1 ? 2 : 0)));
  if (known(why.lam)) found.push(fact("Weight against a random draw", `${why.lam.toFixed(why.lam < 10 ? 1 : 0)} ×`));
  if (known(why.separates)) found.push(fact("Rival classifiers it tells apart", `${why.separates} of ${why.of}`));
  return found.flat();
}

function opinion(why, classes) {
  const parts = [];
  if (known(why.says)) {
    const among = classes > 2 ? ` among ${classes} classes` : "";
    parts.push(`The classifier says “${why.says}” with ${percent(why.sure)}${among}.`);
  }
  if (known(why.incumbent)) parts.push(`The best classifier so far says “${why.incumbent}”.`);
  return parts.join(" ") || "Nothing yet: there are too few labels.";
}
