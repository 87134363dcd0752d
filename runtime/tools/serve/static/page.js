// The page: panes, buttons, requests. What a link holds is shown, and run only when the reader asks for it.

import { Editor, setKeywords } from "/static/editor.js";
import { element, showCurrent, showOutput, showPlan, showProblems, showTimeline } from "/static/results.js";
import { fragmentOf, textsOf } from "/static/share.js";

const byId = (id) => document.getElementById(id);
const editors = Object.fromEntries([...document.querySelectorAll(".editor")].map((box) => [box.dataset.language, new Editor(box)]));
const start = byId("start");
let result = null;
let examples = [];

// ------------------------------------------------------------------ requests

async function ask(path, body) {
  const headers = {};
  const pageToken = document.querySelector('meta[name="epl-page"]').content;
  const token = sessionStorage.getItem("epl-token");
  if (token) headers.Authorization = `Bearer ${token}`;
  if (pageToken) headers["X-EPL-Page"] = pageToken;
  const options = { headers, cache: "no-store", credentials: "omit" };
  if (body !== undefined) Object.assign(options, { method: "POST", body: JSON.stringify(body) }, { headers: { ...headers, "Content-Type": "application/json" } });
  const answer = await fetch(path, options);
  byId("access").hidden = answer.status !== 401;
  const value = await answer.json();
  if (!answer.ok) throw new Error([value.error.message, value.error.hint].filter(Boolean).join(": "));
  return value;
}

function notice(text) {
  byId("notice").textContent = text;
  byId("notice").hidden = !text;
}

// ------------------------------------------------------------------ running

async function run() {
  if (byId("run").disabled) return;
  byId("run").disabled = true;
  byId("summary").textContent = "Running …";
  notice("");
  try {
    const job = { epl: editors.epl.text, script: editors.script.text };
    if (start.value.trim()) job.start = start.value.trim();
    result = await ask("/api/v1/playground/run", job);
    show();
  } catch (error) {
    byId("summary").textContent = "";
    notice(`The run failed: ${error.message}`);
  } finally {
    byId("run").disabled = false;
  }
}

function show() {
  for (const [pane, editor] of Object.entries(editors)) editor.mark(result.errors.filter((error) => error.pane === pane));
  editors.epl.mark([...result.errors.filter((error) => error.pane === "epl"), ...result.faults]);
  showProblems(byId("problems"), result, (pane, place) => editors[pane]?.show(place));
  showOutput(byId("output"), result, byId("as-text").checked);
  showTimeline(byId("timeline"), result);
  showCurrent(byId("current"), result);
  showPlan(byId("plan"), result);
  const end = result.end;
  byId("summary").textContent = end ? `${count(end.events, "event")}, ${count(end.rows, "row")} emitted, ${end.seconds} s, time is ${end.at}` : "";
}

const count = (number, what) => `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;

function choose(tab) {
  for (const each of document.querySelectorAll('[role="tab"]')) {
    const chosen = each === tab;
    each.setAttribute("aria-selected", String(chosen));
    each.tabIndex = chosen ? 0 : -1;
    byId(each.getAttribute("aria-controls")).hidden = !chosen;
  }
}

// ------------------------------------------------------------------ texts

function fill({ epl, script, start: from }) {
  editors.epl.text = epl;
  editors.script.text = script;
  start.value = from ?? "";
}

async function share() {
  const texts = { epl: editors.epl.text, script: editors.script.text, start: start.value.trim() };
  const link = new URL(await fragmentOf(texts), location.href.replace(/#.*/, ""));
  history.replaceState(null, "", link);
  try {
    await navigator.clipboard.writeText(link.href);
    notice("The link is copied. It holds both texts, and is sent to no server.");
  } catch {
    notice("The link is in the address bar. It holds both texts, and is sent to no server.");
  }
}

// The token of a server that others reach comes in the fragment too, and leaves it at once.
function takeToken() {
  const match = /^#token=([\x21-\x7e]+)$/.exec(location.hash);
  if (match === null) return;
  sessionStorage.setItem("epl-token", decodeURIComponent(match[1]));
  history.replaceState(null, "", location.pathname);
}

async function fromLink() {
  try {
    const texts = await textsOf(location.hash);
    if (texts === null) return false;
    fill(texts);
    notice("These texts come from a link. Read them, then press Run.");
    return true;
  } catch {
    notice("The link is damaged: its texts cannot be read.");
    return false;
  }
}

async function begin() {
  const settings = await ask("/api/v1/playground");
  setKeywords(settings.keywords);
  start.placeholder = settings.start;
  byId("version").textContent = `epl-spark ${settings.version}`;
  examples = settings.examples;
  byId("examples").append(...examples.map((example, index) => element("option", { value: String(index), text: example.title })));
  if (!editors.epl.text && !editors.script.text && examples.length) fill(examples[0]);
  for (const editor of Object.values(editors)) editor.draw();
}

// ------------------------------------------------------------------ what readers do

byId("run").addEventListener("click", run);
byId("share").addEventListener("click", share);
byId("as-text").addEventListener("change", () => { if (result) showOutput(byId("output"), result, byId("as-text").checked); });
byId("examples").addEventListener("change", (event) => {
  const example = examples[Number(event.target.value)];
  if (event.target.value === "" || example === undefined) return;
  fill(example);
  notice(example.text ?? "");
  event.target.value = "";
});
byId("access").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("epl-token", byId("token").value.trim());
  begin().catch((error) => notice(error.message));
});
byId("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("epl-theme", root.dataset.theme);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    run();
  }
});
for (const tab of document.querySelectorAll('[role="tab"]')) {
  tab.addEventListener("click", () => choose(tab));
  tab.addEventListener("keydown", (event) => {
    const tabs = [...document.querySelectorAll('[role="tab"]')];
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) {
      const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
      choose(next);
      next.focus();
    }
  });
}
addEventListener("hashchange", () => { takeToken(); fromLink(); });

const theme = localStorage.getItem("epl-theme");
if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
takeToken();
await fromLink();
await begin().catch((error) => notice(error.message));
document.documentElement.dataset.ready = "yes";
