// The page: what has come from the server, and which view of it is shown.
import { TokenWanted, follow, forgetToken, hasToken, keepToken } from "./connection.js";
import { drawCircle } from "./drawing.js";
import { LockTable } from "./locks.js";
import { History, QueueView } from "./queue.js";
import { showServers } from "./servers.js";
import { make, visible } from "./text.js";

const at = (id) => document.getElementById(id);
const view = { "/leaders": "leaders", "/servers": "servers" }[location.pathname] || "locks";

const locks = new Map();
const history = new History();
let news = null;
let clockOffset = 0; // the server's clock less this one's, in milliseconds
let cyclesShown = "";

const now = () => Date.now() + clockOffset;

const table = new LockTable(at("locks"), choose);
table.onSort = render;
const queue = new QueueView(at("queue"), history, () => choose(null));

function setState(state, text) {
  at("state").dataset.state = state;
  if (at("state").textContent !== text) at("state").textContent = text;
}

function setProblem(text) {
  at("problem").hidden = !text;
  if (at("problem").textContent !== text) at("problem").textContent = text;
}

function choose(path) {
  const wanted = path === null ? "" : "#" + encodeURIComponent(path);
  if (location.hash !== wanted) window.history.replaceState(null, "", location.pathname + wanted);
  if (path === null) {
    const before = queue.path;
    queue.close();
    table.rows.get(before)?.querySelector("button").focus();
  } else {
    queue.open(path, now());
  }
  render();
}

function take(event) {
  clockOffset = Date.parse(event.at) + event.walk_ms - Date.now();
  if (event.full) {
    const there = new Set(event.locks.map((lock) => lock.path));
    for (const path of [...locks.keys()]) if (!there.has(path)) leave(path);
  }
  for (const path of event.removed) leave(path);
  for (const lock of event.locks) {
    locks.set(lock.path, lock);
    history.take(lock, now());
  }
  const touched = event.full || event.removed.includes(queue.path) || event.locks.some((lock) => lock.path === queue.path);
  news = event;
  if (queue.path !== null && touched) queue.refresh(now());
  setState(event.error ? "lost" : "live", event.error ? "no answer from the servers" : "live");
  setProblem(event.error ? event.error + ". What is below is of the last answer; the next try is under way." : "");
  render();
}

function leave(path) {
  locks.delete(path);
  history.leave(path, now());
}

function render() {
  if (!news) return;
  renderCycles();
  if (view === "servers") return;
  const filters = {
    search: at("search").value,
    longerThan: Number(at("longer-than").value),
    onlyElections: view === "leaders",
    chosen: queue.path,
    now: now(),
  };
  const all = [...locks.values()].filter((lock) => view !== "leaders" || lock.kind === "election");
  const found = table.show([...all], filters);
  at("count").textContent = found === all.length ? all.length + (view === "leaders" ? " elections" : " locks")
    : found + " of " + all.length;
  at("locks").hidden = found === 0;
  at("more").hidden = found <= table.most;
  at("more").textContent = "The first " + table.most + " of " + found + " are shown: search for the others.";
  at("nothing").hidden = found !== 0;
  if (found === 0) renderNothing(all.length);
  at("remarks").replaceChildren(...news.remarks.map((remark) => make("li", {}, visible(remark))));
  at("cost").textContent = "Cost to the servers: one walk over the locks, of " + news.nodes + " nodes and " + news.walk_ms +
    " ms, every " + news.every_ms / 1000 + " s, for " + (news.browsers === 1 ? "this browser" : "all " + news.browsers + " browsers together") +
    "; none while nobody looks. A chosen lock is read when it changes. As of " + new Date(news.at).toLocaleTimeString() + ".";
}

function renderNothing(all) {
  const place = at("nothing");
  const text = all ? "No lock passes the filters: clear the search, or choose a shorter wait."
    : view === "leaders" ? "Nobody stands for election here now." : "Nobody holds or waits here now.";
  if (place.dataset.text === text) return;
  place.dataset.text = text;
  place.replaceChildren(make("p", {}, text));
  if (all) return;
  place.append(make("p", {}, "Locks appear as they are taken. To try it:"),
    make("pre", {}, view === "leaders" ? "custodian elect /leaders/try -- sleep 60" : "custodian lock /locks/try -- sleep 60"),
    make("p", {}, "Is this the right place? custodian serve PATH... shows locks below certain paths, and --namespace moves them all."));
}

function renderCycles() {
  const text = JSON.stringify(news.cycles);
  if (text === cyclesShown) return;
  cyclesShown = text;
  at("cycles").hidden = news.cycles.length === 0;
  const parts = news.cycles.flatMap((cycle) => [
    make("h2", {}, cycle.sessions + " sessions wait for each other"),
    make("div", { class: "scroll" }, drawCircle(cycle)),
    make("p", {}, "Since " + new Date(Math.max(...cycle.waits.map((wait) => Date.parse(wait.waits_since)))).toLocaleString() + ".")]);
  parts.push(make("p", {}, "A session is a process, not a thread, so this is a suspicion. If it is still there in a minute, " +
    "these processes block each other: end one of them, or break the oldest hold."));
  at("cycles").replaceChildren(...parts);
}

async function followForEver() {
  for (let pause = 500; ; pause = Math.min(2 * pause, 8000)) {
    try {
      await follow((event) => {
        pause = 500;
        take(event);
      });
    } catch (error) {
      if (error instanceof TokenWanted) return askForToken();
      setState("lost", "connection lost");
      setProblem("The connection to custodian serve is lost" + (news ? ": what is below is of " +
        new Date(news.at).toLocaleTimeString() : "") + ". Does it still run? The page tries again by itself.");
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

function askForToken() {
  at("token-wrong").hidden = !hasToken();
  forgetToken();
  at("ask-token").hidden = false;
  at("locks-view").hidden = true;
  setState("waiting", "a token is needed");
  at("token").focus();
}

at("ask-token").addEventListener("submit", (event) => {
  event.preventDefault();
  keepToken(at("token").value);
  at("token").value = "";
  at("ask-token").hidden = true;
  begin();
});
at("search").addEventListener("input", render);
at("longer-than").addEventListener("change", render);
addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, select");
  if (event.key === "/" && !isTyping) {
    event.preventDefault();
    at("search").focus();
  } else if (event.key === "Escape" && queue.path !== null && !isTyping) {
    choose(null);
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && event.target.closest("#locks tbody")) {
    const row = event.target.closest("tr");
    const next = event.key === "ArrowDown" ? row.nextElementSibling : row.previousElementSibling;
    if (next) {
      event.preventDefault();
      next.querySelector("button").focus();
    }
  }
});

function begin() {
  at("locks-view").hidden = view === "servers";
  at("servers-view").hidden = view !== "servers";
  at("to-" + view).setAttribute("aria-current", "page");
  if (view === "servers") {
    at("cost").textContent = "Cost to the servers: some questions and sessions to each, once a minute at most.";
    showServers(at("servers-view")).catch((error) => error instanceof TokenWanted && askForToken());
  }
  followForEver();
}

begin();
setInterval(render, 1000);
setInterval(() => queue.tick(now()), 5000);
if (location.hash.length > 1 && view !== "servers") choose(decodeURIComponent(location.hash.slice(1)));
