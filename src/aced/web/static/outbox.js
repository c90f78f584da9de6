// Answers on their way to the server. Each answer is in localStorage until the server has it, so a
// reload, a crash or a lost network loses nothing. Each has a key, so that an answer sent twice
// counts once. Answers are sent one at a time, in the order given.

import { Away, Refused, backoff, fresh, pause, post } from "./util.js";

const SLOW = 400;
const FORBIDDEN = new Set([401, 403]);

export class Outbox {
  #next = 0;

  /**
   * `who` labels; the first of `prefixes` tells this person and project apart from others on the same
   * address. Answers that are stored under the other prefixes are sent, too.
   * `delivered(op, reply)`, `refused(op, error)` and `changed()` are called as it goes.
   */
  constructor(who, prefixes, { delivered, refused, changed }) {
    Object.assign(this, { who, prefixes, delivered, refused, changed });
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
    const place = `${this.prefixes[0]}${order}-${String(this.#next++).padStart(6, "0")}-${key}`;
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
      for (const prefix of [...this.prefixes].reverse()) {
        for (const key of Object.keys(localStorage).sort()) {
          if (key.startsWith(prefix)) ops.push(JSON.parse(localStorage.getItem(key)));
        }
      }
    } catch {
      this.kept = false;
    }
    return ops;
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
      const body = { as: this.who, ...op.body, ...(op.path === "/api/answer" && { then }) };
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

  #lag(slow) {
    this.slow = slow;
    this.changed();
  }
}
