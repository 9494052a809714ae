// The table of locks: search, sort, "waited longer than".
import { ageText, draw, make, nameOf, visible } from "./text.js";

/** More rows are not drawn: a search narrows them down. */
const mostRows = 1000;

const sorts = {
  kind: (lock) => lock.kind,
  path: (lock) => lock.path,
  holder: (lock) => (lock.holders.length ? nameOf(lock.holders[0]) : ""),
  age: (lock) => -sinceOf(lock),
  waiting: (lock) => lock.waiting,
  oldest: (lock) => (lock.oldest_wait ? -Date.parse(lock.oldest_wait) : -Infinity),
};

/** Since when the oldest holder holds, in milliseconds; now if nobody does. */
function sinceOf(lock) {
  return lock.holders.length ? Math.min(...lock.holders.map((each) => Date.parse(each.since))) : Infinity;
}

function holderText(lock) {
  if (!lock.holders.length) return "unclear";
  const more = lock.holders.length - 1;
  return nameOf(lock.holders[0]) + (more ? " and " + more + " more" : "");
}

function matches(lock, words) {
  const text = (lock.path + "\n" + lock.kind + "\n" +
    lock.holders.map((each) => nameOf(each) + " " + each.session).join("\n")).toLowerCase();
  return words.every((word) => text.includes(word));
}

function bar(waiting, most) {
  const width = Math.max(2, Math.round((100 * waiting) / most));
  return draw("svg", { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    draw("rect", { x: 0, y: 0, width, height: 10, rx: 2 }));
}

export class LockTable {
  constructor(table, onChoice) {
    this.table = table;
    this.body = table.querySelector("tbody");
    this.sort = { by: "oldest", down: true };
    this.rows = new Map();
    for (const button of table.querySelectorAll("button[data-sort]")) {
      button.addEventListener("click", () => {
        const by = button.dataset.sort;
        this.sort = { by, down: this.sort.by === by ? !this.sort.down : by === "waiting" || by === "oldest" || by === "age" };
        this.onSort();
      });
    }
    this.onSort = () => {};
    this.onChoice = onChoice;
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr");
      if (row) this.onChoice(row.lockPath);
    });
  }

  /** Shows the locks that the filters leave; returns how many these are. */
  show(locks, { search, longerThan, onlyElections, chosen, now }) {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    const found = locks.filter((lock) =>
      (!onlyElections || lock.kind === "election") && matches(lock, words) &&
      (!longerThan || (lock.oldest_wait && (now - Date.parse(lock.oldest_wait)) / 1000 > longerThan)));
    const value = sorts[this.sort.by];
    const order = (a, b) => {
      const [x, y] = [value(a), value(b)];
      return (x < y ? -1 : x > y ? 1 : a.path < b.path ? -1 : 1) * (this.sort.down && x !== y ? -1 : 1);
    };
    found.sort(order);
    for (const head of this.table.querySelectorAll("th")) {
      const isIt = head.querySelector("button").dataset.sort === this.sort.by;
      head.setAttribute("aria-sort", isIt ? (this.sort.down ? "descending" : "ascending") : "none");
    }
    const most = Math.max(1, ...found.slice(0, mostRows).map((lock) => lock.waiting));
    const shown = found.slice(0, mostRows).map((lock) => this.row(lock, most, chosen === lock.path, now));
    this.place(shown);
    return found.length;
  }

  get most() {
    return mostRows;
  }

  /** The lock's row: kept from before if nothing but an age has changed, so that the keyboard's focus stays. */
  row(lock, most, isChosen, now) {
    let row = this.rows.get(lock.path);
    if (!row) {
      row = make("tr", {}, make("td", { class: "kind" }),
        make("td", { class: "path" }, make("button", { type: "button" })),
        make("td", { class: "holder" }), make("td", { class: "age" }),
        make("td", { class: "number waiting" }), make("td", { class: "age oldest" }));
      row.lockPath = lock.path;
      this.rows.set(lock.path, row);
    }
    const [kind, path, holder, age, waiting, oldest] = row.children;
    if (row.lock !== lock || row.most !== most) {
      row.lock = lock;
      row.most = most;
      kind.textContent = lock.kind;
      path.firstChild.textContent = visible(lock.path);
      holder.textContent = holderText(lock) + " ";
      if (lock.asked_to_release) holder.append(make("span", { class: "tag" }, "asked to release"));
      if (lock.malformed.length) holder.append(make("span", { class: "tag" }, "stopped by a node without a number"));
      waiting.textContent = lock.waiting;
      if (lock.waiting) waiting.append(bar(lock.waiting, most));
    }
    setText(age, lock.holders.length ? ageText((now - sinceOf(lock)) / 1000) : "");
    setText(oldest, lock.oldest_wait ? ageText((now - Date.parse(lock.oldest_wait)) / 1000) : "");
    row.setAttribute("aria-selected", String(isChosen));
    return row;
  }

  place(rows) {
    const keep = new Set(rows);
    for (const row of [...this.body.children]) {
      if (!keep.has(row)) {
        row.remove();
        this.rows.delete(row.lockPath);
      }
    }
    rows.forEach((row, index) => {
      const there = this.body.children[index];
      if (there !== row) this.body.insertBefore(row, there || null);
    });
  }
}

function setText(cell, text) {
  if (cell.textContent !== text) cell.textContent = text;
}
