// What has become of the classes since the page asked for them.

const byCode = ({ classes, codes }) => new Map(codes.map((code, place) => [code, classes[place]]));
const quoted = (names) => names.map((name) => `“${name}”`).join(", ");
const are = (names) => (names.length > 1 ? "are" : "is");

/** What differs between two lists of classes, in a sentence. */
export function changes(before, now) {
  const was = byCode(before);
  const is = byCode(now);
  const parts = [...is]
    .filter(([code, name]) => was.has(code) && was.get(code) !== name)
    .map(([code, name]) => `“${was.get(code)}” is now called “${name}”`);
  const added = [...is].filter(([code]) => !was.has(code)).map(([, name]) => name);
  const gone = [...was].filter(([code]) => !is.has(code)).map(([, name]) => name);
  if (added.length) parts.push(`${quoted(added)} ${are(added)} new`);
  if (gone.length) parts.push(`${quoted(gone)} can no longer be chosen`);
  return parts.length ? `The classes have changed: ${parts.join("; ")}.` : "The classes have changed.";
}

/**
 * The keys that mean something else than before; of a list to type in, those that take from the list.
 * null stands for all of them, where buttons have become a list or a list buttons.
 */
export function moved(before, now) {
  const codeOf = ({ classes, codes, keys }, key) => codes[classes.indexOf(keys[key])];
  const keys = Object.keys(before.keys);
  if (!keys.length !== !Object.keys(now.keys).length) return null;
  // Also a key that was a command's, or nothing, until now.
  const changed = [...new Set([...keys, ...Object.keys(now.keys)])].filter((key) => codeOf(before, key) !== codeOf(now, key));
  return new Set(keys.length ? changed : ["Enter", ..."123456789"]);
}
