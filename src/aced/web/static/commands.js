// Commands have a letter each, and a class goes before a command: where a class has the letter, or where
// letters are typed to choose a class, the command is a slash and its letter. With a slash first, every
// letter is a command's.

import { say } from "./util.js";

/** What is pressed for a command where classes have these `keys`; none at all where letters are typed. */
export function commandKey(letter, keys) {
  const typed = !Object.keys(keys).length;
  return typed || letter.toLowerCase() in keys ? `/${letter}` : letter;
}

/** Writes the keys of commands where they are shown, and into the buttons that `shortcuts` names. */
export function showCommands(keys, shortcuts) {
  for (const cap of document.querySelectorAll("[data-command]")) say(cap, commandKey(cap.dataset.command, keys));
  for (const [id, [letter, more]] of Object.entries(shortcuts)) {
    // A slash and a letter cannot be said in aria-keyshortcuts.
    const own = commandKey(letter, keys) === letter ? [letter] : [];
    document.getElementById(id).setAttribute("aria-keyshortcuts", [...own, ...more].join(" "));
  }
}

/** The commands and their letters, in a line. */
export const listed = (commands) =>
  Object.entries(commands).map(([key, { name }]) => `${key.toUpperCase()} ${name}`).join("   ");
