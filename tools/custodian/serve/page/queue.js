// One lock: its queue, a drawing of it, its holders since the page was opened, and commands to copy.
import { askJson, queueUrl } from "./connection.js";
import { drawQueue } from "./drawing.js";
import { ageText, make, nameOf, quoted, visible } from "./text.js";

const mostHolds = 200;

/** The holders of each lock since the page was opened, by path. */
export class History {
  constructor() {
    this.holds = new Map();
  }

  take(lock, at) {
    const holds = this.holds.get(lock.path) || [];
    const now = new Set(lock.holders.map((each) => each.node));
    for (const hold of holds) if (!hold.end && !now.has(hold.node)) hold.end = at;
    for (const holder of lock.holders) {
      if (!holds.some((hold) => !hold.end && hold.node === holder.node)) {
        holds.push({ node: holder.node, name: nameOf(holder), token: holder.token, begin: at });
      }
    }
    this.holds.set(lock.path, holds.slice(-mostHolds));
  }

  leave(path, at) {
    for (const hold of this.holds.get(path) || []) hold.end = hold.end || at;
  }

  of(path) {
    return this.holds.get(path) || [];
  }
}

function command(text) {
  const button = make("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      const range = document.createRange();
      range.selectNodeContents(button.previousElementSibling);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  return make("div", { class: "command" }, make("code", {}, visible(text)), button);
}

function table(heads, rows) {
  return make("div", { class: "scroll" }, make("table", { class: "plain" },
    make("thead", {}, make("tr", {}, ...heads.map((head) => make("th", { scope: "col" }, head)))),
    make("tbody", {}, ...rows.map((cells) => make("tr", {}, ...cells.map((cell) => make("td", {}, cell)))))));
}

function holdsTable(holds, now) {
  return table(["Holder", "Seen from", "For", "Token"], [...holds].reverse().map((hold) => [
    hold.name, new Date(hold.begin).toLocaleTimeString(), ageText(((hold.end || now) - hold.begin) / 1000) + (hold.end ? "" : " so far"),
    hold.token]));
}

export class QueueView {
  constructor(place, history, onClose) {
    this.place = place;
    this.history = history;
    this.onClose = onClose;
    this.path = null;
    this.asked = 0;
  }

  async open(path, now) {
    const isNew = this.path !== path;
    this.path = path;
    await this.refresh(now);
    if (isNew && this.path === path) this.place.focus();
  }

  close() {
    this.path = null;
    this.place.hidden = true;
    this.place.replaceChildren();
  }

  /** Asks for the queue again. Answers that come late are left aside. */
  async refresh(now) {
    if (this.path === null) return;
    const turn = ++this.asked;
    const path = this.path;
    let queue;
    let problem = "";
    try {
      queue = await askJson(queueUrl(path));
    } catch (error) {
      problem = error.message;
    }
    if (turn !== this.asked || this.path !== path) return;
    this.show(path, queue, problem, now);
  }

  /** Redraws for the ages, unless somebody is at work in it. */
  tick(now) {
    if (!this.shown || this.path !== this.shown.path || !getSelection().isCollapsed) return;
    const inside = this.place.contains(document.activeElement) && document.activeElement !== this.place;
    if (!inside) this.show(this.shown.path, this.shown.seen, this.shown.problem, now);
  }

  show(path, seen, problem, now) {
    this.shown = { path, seen, problem };
    const close = make("button", { type: "button", class: "close", "aria-keyshortcuts": "Escape" }, "Close");
    close.addEventListener("click", () => this.onClose());
    const parts = [close, make("h2", {}, visible(path))];
    if (problem) parts.push(make("p", {}, "This queue cannot be shown: " + problem));
    if (seen) {
      if (seen.queue.length === 0) parts.push(make("p", {}, "Nobody holds or waits here now."));
      else parts.push(make("div", { class: "scroll" }, drawQueue(seen.queue)), this.contenders(seen.queue, now));
      for (const node of seen.malformed) {
        parts.push(make("p", {}, "Bears no number, and stops the queue; remove it: " + visible(node)));
      }
    }
    const holds = this.history.of(path);
    parts.push(make("h3", {}, "Holders since this page was opened"),
      holds.length ? holdsTable(holds, now) : make("p", {}, "none seen"));
    const holder = seen && seen.queue.find((each) => each.state === "holds");
    parts.push(make("h3", {}, "Commands"), command("custodian inspect " + quoted(path) + " --watch"));
    if (holder) {
      parts.push(make("p", {}, "Ask the holder to release; it decides:"),
        command("custodian revoke " + quoted(path) + " --node " + quoted(holder.node)),
        make("p", {}, "Take the lock away; its holder is notified, and may still be at work:"),
        command("custodian break " + quoted(path) + " --node " + quoted(holder.node)));
    }
    const focused = this.place.contains(document.activeElement) && document.activeElement !== this.place;
    if (focused) return this.later(path, seen, problem, now);
    this.place.replaceChildren(...parts);
    this.place.hidden = false;
  }

  /** Redraws when the keyboard's focus has left: a button must not vanish under it. */
  later(path, seen, problem, now) {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      if (this.path === path) this.show(path, seen, problem, now);
    }, 1000);
  }

  contenders(queue, now) {
    return table(["#", "State", "Kind", "Identity", "For", "Session", "Token", "Node"], queue.map((each) => [
      each.position, each.state + (each.asked_to_let_go ? " (asked to release)" : ""), each.kind, nameOf(each),
      ageText((now - Date.parse(each.since)) / 1000), each.session || "none", each.token,
      visible(each.node.slice(each.node.lastIndexOf("/") + 1))]));
  }
}
