// Text and elements. What comes from servers becomes text here, never markup: textContent only.

const svgSpace = "http://www.w3.org/2000/svg";

/** Makes an element: its attributes, and its children, each an element or text. */
export function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS(svgSpace, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  for (const child of children) {
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** Control characters, and those that turn the direction of writing, would forge what is shown. */
export function visible(text) {
  return String(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (found) => "\\u{" + found.codePointAt(0).toString(16) + "}");
}

export function shortened(text, length) {
  const all = [...text];
  return all.length <= length ? text : all.slice(0, length - 1).join("") + "\u2026";
}

/** An age in seconds, in two units at most. */
export function ageText(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return whole + "s";
  if (whole < 3600) return Math.floor(whole / 60) + "m" + (whole % 60 ? (whole % 60) + "s" : "");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  if (hours < 24) return hours + "h" + (minutes ? minutes + "m" : "");
  return Math.floor(hours / 24) + "d" + (hours % 24 ? (hours % 24) + "h" : "");
}

/** Who a contender is: its identity, or the bytes of one that is no text. */
export function nameOf(participant) {
  if (participant.identity) return visible(participant.identity);
  return participant.identity_hex ? "0x" + participant.identity_hex : "-";
}

/** A word as a shell takes it for itself. */
export function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";
}
