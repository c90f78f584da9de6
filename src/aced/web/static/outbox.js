// Answers on their way to the server. Each answer is in localStorage until the server has it, so a
// reload, a crash or a lost network loses nothing. Each has a key, so that an answer sent twice
// counts once. Answers are sent one at a time, in the order given.

import { Away, Refused, backoff, fresh, pause, post } from "./util.js";

const SLOW = 400;
const STORED = /^aced:(\[.*\]):(\d{15}-.*)$/s;
const FORBIDDEN = new Set([401, 403]);

export class Outbox {
  #next = 0;

  /**
   * `me` labels. Answers are stored under project and name, which tell them from others of the same
   * address. `delivered(op, reply)`, `refused(op, error)` and `changed()` are called as it goes.
   */
  constructor(me, { delivered, refused, changed }) {
    Object.assign(this, { me, delivered, refused, changed });
    this.who = me.name;
    this.kept = true;
    this.ops = this.#stored();
    this.failures = 0;
    this.shut = null;
    this.slow = false;
    this.running = false;
    this.wake = () => {};
    addEventListener("online", () => this.wake());
    this.#run();
  }

  /** "saved", "saving", "offline" or "shut". */
  get state() {
    if (this.shut) return "shut";
    if (!this.ops.length) return "saved";
    return this.failures ? "offline" : "saving";
  }

  /** Answers not delivered yet and not taken back by an undo behind them. */
  get pending() {
    const answers = [];
    for (const op of this.ops) {
      if (op.path === "/api/undo") answers.pop();
      else answers.push(op);
    }
    return answers;
  }

  get rows() {
    return new Set(this.pending.map((op) => op.body.row));
  }

  add(path, body) {
    const key = fresh();
    const order = String(Date.now()).padStart(15, "0");
    const place = `aced:${JSON.stringify([this.me.project, this.me.name])}:${order}-${String(this.#next++).padStart(6, "0")}-${key}`;
    const op = { key: place, path, body: { ...body, key } };
    this.ops.push(op);
    try {
      localStorage.setItem(place, JSON.stringify(op));
    } catch {
      this.kept = false; // storage is full or forbidden: the page warns before it is closed
    }
    this.changed();
    this.#run();
  }

  #stored() {
    const ops = [];
    try {
      const age = (key) => key.match(STORED)?.[2] ?? "";
      const older = (a, b) => (age(a) < age(b) ? -1 : 1);
      for (const key of Object.keys(localStorage).filter((key) => this.#ours(key)).sort(older)) {
        ops.push(JSON.parse(localStorage.getItem(key)));
      }
    } catch {
      this.kept = false;
    }
    return ops;
  }

  /** Older pages also kept the classes in the key, and some the pool, which two projects may share. */
  #ours(key) {
    const { project, pool, name, classes } = this.me;
    const found = key.match(STORED);
    if (!found) return false;
    const parts = JSON.parse(found[1]);
    if (parts.at(-1) !== name) return false;
    return parts[0] === project || (parts[0] === pool && JSON.stringify(parts[1]) === JSON.stringify(classes));
  }

  #remove(op) {
    this.ops.splice(this.ops.indexOf(op), 1);
    try {
      localStorage.removeItem(op.key);
    } catch {
      // it was never stored
    }
  }

  async #run() {
    if (this.running) return;
    this.running = true;
    while (this.ops.length && !this.shut) {
      const op = this.ops[0];
      // We still hold the rows of the answers behind this one, so ask for that many more.
      const then = Math.min(5, 2 + this.ops.length);
      const body = { as: this.who, ...(op.path === "/api/answer" && { then }), ...op.body };
      const timer = setTimeout(() => this.#lag(true), SLOW);
      try {
        const reply = await post(op.path, body);
        this.failures = 0;
        this.#remove(op);
        this.delivered(op, reply);
      } catch (error) {
        if (error instanceof Away) {
          this.failures += 1;
          this.changed();
          await Promise.race([
            pause(backoff(this.failures - 1)),
            new Promise((done) => (this.wake = done)),
          ]);
        } else if (error instanceof Refused && FORBIDDEN.has(error.status)) {
          this.shut = error.message; // the answers stay here until the person is let in again
        } else {
          this.#remove(op);
          this.#forgetUndo(op);
          this.refused(op, error);
        }
      } finally {
        clearTimeout(timer);
        this.slow = false;
        this.changed();
      }
    }
    this.running = false;
  }

  /** An undo that waits behind an answer that was refused must not take back the answer before it. */
  #forgetUndo(op) {
    if (op.path === "/api/undo") return;
    let answers = 1;
    const undo = this.ops.find((later) => (answers += later.path === "/api/undo" ? -1 : 1) === 0);
    if (undo) this.#remove(undo);
  }

  #lag(slow) {
    this.slow = slow;
    this.changed();
  }
}
