// Drawings: a queue, with what each contender watches, and circles of waits.
import { draw, nameOf, shortened, visible } from "./text.js";

const boxWidth = 300;
const boxHeight = 34;
const step = 52;
/** More boxes are not drawn; the table below has all. */
const mostBoxes = 40;

function box(x, y, width, title, below, style) {
  return draw("g", {},
    draw("rect", { x, y, width, height: boxHeight, rx: 5, class: "box " + style }),
    draw("text", { x: x + 9, y: y + 14 }, shortened(title, Math.floor(width / 7))),
    draw("text", { x: x + 9, y: y + 28, class: "dim" }, shortened(below, Math.floor(width / 7))));
}

function arrow(path, headAt, direction) {
  const [x, y] = headAt;
  const points = direction === "up" ? [x, y, x - 4, y + 8, x + 4, y + 8]
    : direction === "left" ? [x, y, x + 8, y - 4, x + 8, y + 4] : [x, y, x - 4, y - 8, x + 4, y - 8];
  return draw("g", {}, draw("path", { d: path, class: "arrow" }), draw("polygon", { points: points.join(" "), class: "head" }));
}

/**
 * Whom a contender watches: the nearest in front that must go first. A writer and a mutex watch the one in front, a reader the
 * nearest writer, a waiter for permits the turn in front of it. Nobody is watched by a holder.
 */
export function watchedBy(queue, index) {
  const own = queue[index];
  if (own.state !== "waits") return -1;
  for (let at = index - 1; at >= 0; --at) {
    const other = queue[at];
    if (own.kind === "turn" && other.kind !== "turn") return -1;
    if (own.kind === "read" && other.kind === "read") continue;
    return at;
  }
  return -1;
}

export function drawQueue(queue) {
  const shown = queue.slice(0, mostBoxes);
  const height = shown.length * step;
  const picture = draw("svg", { width: boxWidth + 60, height, viewBox: "0 0 " + (boxWidth + 60) + " " + height, role: "img",
    "aria-label": "The queue, and whom each contender watches" });
  shown.forEach((each, index) => {
    const y = index * step + 2;
    picture.append(box(2, y, boxWidth, nameOf(each), each.state + " \u00b7 " + each.kind + " \u00b7 " + each.position,
      each.state === "holds" ? "holds" : ""));
    const watched = watchedBy(shown, index);
    if (watched < 0) return;
    if (watched === index - 1) {
      const from = y - (step - boxHeight);
      picture.append(arrow("M30 " + y + " V" + from, [30, from], "up"));
    } else {
      const to = watched * step + 2 + boxHeight / 2 + 4;
      const side = boxWidth + 14 + 6 * (index % 5);
      picture.append(arrow("M" + (boxWidth + 2) + " " + (y + boxHeight / 2) + " H" + side + " V" + to + " H" + (boxWidth + 4),
        [boxWidth + 4, to], "left"));
    }
  });
  return picture;
}

/** A circle: each session waits for a lock of the next one, and the last for one of the first. */
export function drawCircle(cycle) {
  const gap = 78;
  const width = 340;
  const height = cycle.waits.length * gap;
  const picture = draw("svg", { class: "circle", width: width + 50, height, viewBox: "0 0 " + (width + 50) + " " + height,
    role: "img", "aria-label": "Sessions that wait for each other" });
  cycle.waits.forEach((wait, index) => {
    const y = index * gap + 2;
    picture.append(box(2, y, width, nameOf(wait) + "  " + wait.session, "holds " + visible(wait.holds), ""));
    const label = "waits for " + shortened(visible(wait.waits_for), 38);
    picture.append(draw("text", { x: 42, y: y + boxHeight + 27 }, label));
    if (index + 1 < cycle.waits.length) {
      picture.append(arrow("M30 " + (y + boxHeight) + " V" + (y + gap), [30, y + gap], "down"));
    } else {
      const side = width + 30;
      picture.append(arrow("M30 " + (y + boxHeight) + " v12 H" + side + " V" + (boxHeight / 2 + 2) + " H" + (width + 4),
        [width + 4, boxHeight / 2 + 2], "left"));
    }
  });
  return picture;
}
