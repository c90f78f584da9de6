// The classes on the annotator's page. Up to nine have a button, a digit and a letter each; more are
// chosen from a list that narrows while the first letters of a name are typed. Nothing here is built
// again for an item, so that thirty classes are as fast as two.

import { listed } from "./commands.js";
import { mark, tint } from "./marks.js";
import { el } from "./util.js";

const CAPS = { ArrowLeft: "←", ArrowRight: "→" };
const IDS = ["first", "second"];
const LENGTHY = 18;
const cap = (key) => el("kbd", {}, CAPS[key] ?? key.toUpperCase());

/**
 * Buttons, one a class. `pick(place, clicked)` answers. `commands` are run by a slash and their letter;
 * `hint(text)` says which there are.
 */
export class Buttons {
  typed = "";
  slash = false;

  constructor(box, { classes, codes, keys }, pick, commands, hint) {
    Object.assign(this, { classes, codes, pick, commands, hint });
    // Two classes have their old keys, too: arrows, F and J. Keys that the server names come before.
    this.places = classes.length === 2 ? { ArrowLeft: 0, ArrowRight: 1, f: 0, j: 1 } : {};
    for (const [key, name] of Object.entries(keys)) this.places[key] = classes.indexOf(name);
    this.nodes = classes.map((name, place) => this.#button(name, place));
    this.box = el("div", { class: "choices", "data-many": classes.length > 2 ? classes.length : null }, ...this.nodes);
    box.replaceChildren(this.box);
    this.enable(false);
  }

  keysOf(place) {
    return Object.keys(this.places).filter((key) => this.places[key] === place);
  }

  #button(name, place) {
    const many = this.classes.length > 2;
    const keys = this.keysOf(place);
    const lengthy = name.length > LENGTHY ? "lengthy" : "";
    return el(
      "button",
      {
        id: IDS[place] ?? `class-${place + 1}`,
        class: `choice ${tint(this.codes[place])} ${many ? "" : (IDS[place] ?? "")} ${lengthy}`,
        type: "button",
        title: name,
        "aria-keyshortcuts": keys.join(" "),
        "data-code": String(this.codes[place]),
        onclick: () => this.pick(place, true),
      },
      many ? mark(this.codes[place]) : null,
      el("span", { class: "name", dir: "auto" }, name),
      // Numbers come first in an object, so the cap on the button is a digit where there is one.
      el("span", { class: "caps" }, ...keys.slice(0, many ? 2 : 1).map(cap)),
    );
  }

  enable(on) {
    if (this.enabled === on) return;
    this.enabled = on;
    for (const node of this.nodes) node.disabled = !on;
  }

  /** What a key does here; undefined if nothing. */
  action({ key }) {
    if (this.slash && key.length === 1) {
      this.slash = false;
      this.hint("");
      return this.commands[key.toLowerCase()]?.run ?? (() => {});
    }
    if (this.slash && key === "Escape") return () => this.clear();
    if (key === "/") return () => this.#begin();
    const place = this.places[key] ?? this.places[key.toLowerCase()];
    return place === undefined ? undefined : () => this.pick(place);
  }

  #begin() {
    this.slash = true;
    this.hint(listed(this.commands));
  }

  clear() {
    if (this.slash) this.hint("");
    this.slash = false;
  }

  focus() {}

  /** Keys and what they do, for the list of keys. */
  help() {
    return this.classes.map((name, place) => [this.keysOf(place).map(cap), [mark(this.codes[place]), name]]);
  }
}

const plain = (text) => text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");
const WORD = /(?<![\p{L}\p{N}])[\p{L}\p{N}]/gu;

/** The places of the names that `typed` may mean, as `narrow` of the package finds them. */
export function narrow(names, typed) {
  const wanted = plain(typed).trimStart();
  const equal = [];
  const first = [];
  const later = [];
  names.forEach(({ whole, words }, place) => {
    if (whole === wanted) equal.push(place);
    else if (whole.startsWith(wanted)) first.push(place);
    else if (words.some((rest) => rest.startsWith(wanted))) later.push(place);
  });
  return [...equal, ...first, ...later];
}

export function prepared(name) {
  const whole = plain(name).trim();
  return { whole, words: [...whole.matchAll(WORD)].map((found) => whole.slice(found.index)) };
}

/** A box to type in and the list that it narrows. `commands` are run by a slash and their letter. */
export class Typing {
  constructor(box, { classes, codes }, pick, commands) {
    Object.assign(this, { classes, codes, pick, commands, active: null, enabled: null });
    this.names = classes.map(prepared);
    this.digits = !classes.some((name) => /\p{N}/u.test(name)); // a digit picks unless names have some
    // Characters that some word begins with are typed; others may do something else on the page.
    this.begins = new Set(this.names.flatMap(({ whole, words }) => [whole[0], ...words.map((rest) => rest[0])]));
    this.nodes = classes.map((name, place) => this.#option(name, place));
    this.list = el("div", { id: "list", class: "list", role: "listbox", "aria-label": "Classes", onclick: (event) => this.#clicked(event) });
    this.input = el("input", {
      id: "search", class: "search", type: "text", role: "combobox", "aria-label": "Class",
      "aria-autocomplete": "list", "aria-expanded": "true", "aria-controls": "list",
      autocomplete: "off", autocapitalize: "off", autocorrect: "off", spellcheck: "false", enterkeyhint: "done",
      placeholder: "Type the first letters of a class", oninput: () => this.#typed(),
    });
    this.hint = el("p", { class: "hint", "aria-hidden": "true" });
    this.none = el("p", { class: "none", role: "status" });
    box.replaceChildren(el("div", { class: "typing" }, el("div", { class: "typed" }, this.input, this.hint), this.list, this.none));
    this.shown = classes.map((_, place) => place);
    this.#list();
    this.enable(false);
  }

  get typed() {
    return this.input.value;
  }

  set typed(value) {
    this.input.value = value;
    this.#typed();
  }

  #option(name, place) {
    return el(
      "div",
      { id: `option-${place}`, class: `option ${tint(this.codes[place])}`, role: "option", "aria-selected": "false", title: name, "data-place": String(place) },
      mark(this.codes[place]),
      el("span", { class: "name", dir: "auto" }, name),
      el("kbd", {}),
    );
  }

  enable(on) {
    if (this.enabled === on) return;
    this.enabled = on;
    this.list.setAttribute("aria-disabled", String(!on));
  }

  /** Only where there is a keyboard: elsewhere a screen keyboard would cover the item. */
  focus() {
    if (matchMedia("(hover: hover) and (pointer: fine)").matches) this.input.focus({ preventScroll: true });
  }

  clear() {
    if (!this.typed && this.active === null) return;
    this.typed = "";
    this.list.scrollTop = 0;
  }

  #clicked(event) {
    const option = event.target.closest(".option");
    if (!option || !this.enabled) return;
    this.pick(Number(option.dataset.place), true);
    this.focus();
  }

  #typed() {
    const { value } = this.input;
    if (value.startsWith("/")) return this.#command(value.slice(1));
    const filled = value.trim() !== "";
    // The list keeps its height while it narrows: the item above must not move.
    if (filled && !this.list.style.height) this.list.style.height = `${this.list.offsetHeight}px`;
    if (!filled) this.list.style.height = "";
    this.shown = filled ? narrow(this.names, value) : this.classes.map((_, place) => place);
    this.#list();
    this.#mark(filled && this.shown.length ? 0 : null);
    this.none.textContent = filled && !this.shown.length ? "No class begins like this. Esc clears." : "";
  }

  #command(letter) {
    this.hint.textContent = listed(this.commands);
    if (!letter) return;
    this.typed = "";
    this.commands[letter[0].toLowerCase()]?.run();
  }

  #list() {
    if (!this.typed.startsWith("/")) this.hint.textContent = "";
    const on = new Set(this.shown);
    this.shown.forEach((place, i) => {
      const node = this.nodes[place];
      node.lastChild.textContent = this.digits && i < 9 ? String(i + 1) : "";
      if (this.list.children[i] !== node) this.list.insertBefore(node, this.list.children[i] ?? null);
      node.hidden = false;
    });
    this.nodes.forEach((node, place) => {
      if (!on.has(place)) node.hidden = true;
    });
  }

  #mark(at) {
    if (this.active !== null) this.nodes[this.active].setAttribute("aria-selected", "false");
    this.active = at === null ? null : this.shown[at];
    if (at === null) return this.input.removeAttribute("aria-activedescendant");
    const node = this.nodes[this.active];
    node.setAttribute("aria-selected", "true");
    this.input.setAttribute("aria-activedescendant", node.id);
    node.scrollIntoView({ block: "nearest" });
  }

  #move(by) {
    const { shown } = this;
    if (!shown.length) return;
    const at = shown.indexOf(this.active);
    this.#mark(at < 0 ? (by > 0 ? 0 : shown.length - 1) : Math.min(shown.length - 1, Math.max(0, at + by)));
  }

  get #columns() {
    const tops = this.shown.map((place) => this.nodes[place].offsetTop);
    const found = tops.findIndex((top) => top !== tops[0]);
    return found < 0 ? tops.length : found;
  }

  /** What a key does here; undefined if it is none of ours, null if the browser writes it in the box. */
  action(event) {
    const { key, target } = event;
    const inside = target === this.input;
    const moves = {
      ArrowDown: () => this.#move(this.#columns),
      ArrowUp: () => this.#move(-this.#columns),
      ArrowRight: () => this.#move(1),
      ArrowLeft: () => this.#move(-1),
    };
    if (moves[key]) return moves[key];
    if (key === "Escape") return this.typed || this.active !== null ? () => this.clear() : undefined;
    if (key === "Enter") {
      if (!inside && target.closest("button, a, summary")) return undefined;
      return this.active === null ? null : () => this.pick(this.active);
    }
    if (key === "Backspace" && this.typed) return this.#write(inside, () => (this.typed = this.typed.slice(0, -1)));
    if ([...key].length > 1) return undefined;
    if (this.digits && /^[1-9]$/.test(key)) {
      const place = this.shown[key - 1];
      return () => place !== undefined && this.pick(place);
    }
    // Letters are never commands here; other characters may be, if no name is reached by them.
    const letter = /\p{L}|\p{N}/u.test(key) && !(this.digits && key === "0");
    if (!this.typed && key !== "/" && !letter && !this.begins.has(plain(key))) return undefined;
    return this.#write(inside);
  }

  #write(inside, otherwise) {
    if (inside) return null;
    if (otherwise) return otherwise;
    this.input.focus({ preventScroll: true }); // the letter is then written into it
    return null;
  }

  help() {
    const row = (keys, words) => [keys.map((key) => el("kbd", {}, key)), [words]];
    return [
      row(["A", "…", "Z"], "Narrow the list to names that begin so, or have a word that does"),
      row(["Enter"], "Take the class that is marked in the list"),
      ...(this.digits ? [row(["1", "…", "9"], "Take the class with this number in the list")] : []),
      row(["↑", "↓", "←", "→"], "Move the mark"),
      row(["Esc"], "Clear what was typed"),
    ];
  }
}

/** Buttons, or a list to type in where there are more classes than keys. */
export function chooser(box, me, pick, commands, hint) {
  const some = Object.keys(me.keys).length;
  return some ? new Buttons(box, me, pick, commands, hint) : new Typing(box, me, pick, commands);
}
