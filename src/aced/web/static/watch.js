// Time spent on an item, not counting while the page is hidden.

const LONGEST = 300; // seconds counted for one item at most

export const watch = {
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
