// The view of the servers: what `custodian doctor` finds, without its writes.
import { TokenWanted, askJson } from "./connection.js";
import { make, visible } from "./text.js";

export async function showServers(place) {
  place.replaceChildren(make("p", { class: "message" }, "The servers are asked; that may take some seconds."));
  let found;
  try {
    found = await askJson("/api/servers");
  } catch (error) {
    if (error instanceof TokenWanted) throw error;
    place.replaceChildren(make("p", { class: "message" }, "The servers could not be examined: " + error.message));
    return;
  }
  const rows = found.findings.map((each) => {
    const text = make("td", {}, visible(each.text));
    if (each.advice) text.append(make("span", { class: "advice" }, visible(each.advice)));
    return make("tr", {}, make("td", { class: "verdict-" + each.verdict.toLowerCase() }, each.verdict),
      make("td", {}, visible(each.subject || "all")), make("td", {}, visible(each.check)), text);
  });
  place.replaceChildren(
    make("h2", {}, found.failed + " failed, " + found.warned + " warnings"),
    make("div", { class: "scroll" }, make("table", { class: "findings" },
      make("thead", {}, make("tr", {}, ...["Verdict", "Server", "Check", "Finding"].map((head) => make("th", { scope: "col" }, head)))),
      make("tbody", {}, ...rows))),
    make("p", { class: "message" }, "Found at " + new Date(found.at).toLocaleTimeString() + ", and kept for a minute. What takes " +
      "a write (permissions, the leader's clock) is left out: custodian doctor PATH."));
}
