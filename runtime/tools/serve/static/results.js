// The result of a run as elements. Every text is set as text.

import { timelineOf } from "/static/timeline.js";

export function element(name, options = {}, ...children) {
  const made = document.createElement(name);
  const { text, on, ...attributes } = options;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  if (on !== undefined) made.addEventListener("click", on);
  made.append(...children);
  return made;
}

function table(groups) {
  const names = [...new Set(groups.flatMap(([, rows]) => rows.flatMap((row) => row.cells.map(([name]) => name))))];
  const body = groups.flatMap(([kind, rows]) => rows.map((row) => {
    const cells = new Map(row.cells);
    const sign = { insert: "+", remove: "−" }[kind] ?? "";
    return element("tr", { class: kind, title: row.text }, element("td", { text: sign }), ...names.map((name) => element("td", { text: cells.get(name) ?? "" })));
  }));
  return element("div", { class: "scroll" }, element("table", {},
    element("thead", {}, element("tr", {}, element("th", { text: "" }), ...names.map((name) => element("th", { text: name })))),
    element("tbody", {}, ...body)));
}

function block(name, groups) {
  return element("div", { class: "statement" }, element("h4", { text: name }), table(groups));
}

// As EPL Online prints it.
function plainText(outputs) {
  const lines = [];
  for (const { at, statements } of outputs) {
    lines.push(`At: ${at}`);
    for (const { name, insert, remove } of statements) {
      lines.push(`  Statement: ${name}`);
      for (const [title, rows] of [["Insert", insert], ["Remove", remove]]) {
        if (rows.length) lines.push(`    ${title}`, ...rows.map((row) => `      ${row.text}`));
      }
    }
  }
  return lines.join("\n");
}

export function showOutput(panel, result, asText) {
  if (result.outputs.length === 0) {
    panel.replaceChildren(element("p", { class: "empty", text: result.end ? "No statement has emitted a row." : "Nothing was emitted." }));
  } else if (asText) {
    panel.replaceChildren(element("pre", { class: "plain", text: plainText(result.outputs) }));
  } else {
    panel.replaceChildren(...result.outputs.map(({ at, statements }) => element("section", { class: "instant" }, element("h3", { text: at }),
      ...statements.map(({ name, insert, remove }) => block(name, [["insert", insert], ["remove", remove]])))));
  }
}

export function showTimeline(panel, result) {
  const drawn = timelineOf(result, panel.parentElement.clientWidth - 40);
  const key = element("p", { class: "key quiet" }, element("span", { text: "event" }), element("span", { class: "in", text: "insert stream" }),
    element("span", { class: "out", text: "remove stream" }));
  const until = result.lanes?.[0]?.until ?? null;
  if (result.lanes?.some(({ kind }) => kind === "window")) key.append(element("span", { class: "in-window", text: "held by a window, by the event's number" }));
  if (result.lanes?.some(({ kind }) => kind === "partials")) key.append(element("span", { class: "in-part", text: "partial match" }));
  if (until !== null) key.append(element("b", { text: `windows and partial matches up to ${new Date(until).toISOString().slice(11, 23)}` }));
  panel.replaceChildren(...(drawn ? [key, element("div", { class: "scroll" }, drawn)] : [element("p", { class: "empty", text: "Nothing happened." })]));
}

// Pictures are images: nothing in them runs. Halves of characters, which no address can hold, become question marks.
const whole = (text) => new TextDecoder().decode(new TextEncoder().encode(text));

function pictures(result, statement) {
  return result.pictures.filter((picture) => picture.statement === statement).map(({ title, svg }) => element("div", { class: "scroll" },
    element("img", { class: "picture", alt: title, src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(whole(svg))}` })));
}

export function showCurrent(panel, result) {
  const blocks = result.current.map(({ name, rows }) => block(name, [["current-row", rows]]));
  panel.replaceChildren(...(blocks.length ? blocks : [element("p", { class: "empty", text: "No statement holds rows at the end of the run." })]));
}

export function showPlan(panel, result) {
  panel.replaceChildren(...pictures(result, null), ...result.statements.map(({ name, plan, properties }) => element("div", { class: "statement" },
    element("h4", { text: name }), ...pictures(result, name), element("pre", { class: "plain scroll", text: plan, title: properties.map((p) => `${p.name} ${p.type}`).join(", ") }))));
}

// show(pane, place): called where a reader asks for the place of an error.
export function showProblems(box, result, show) {
  const where = { epl: "EPL module", script: "Time and events", start: "Start time" };
  const problem = (title, each, pane, mild) => {
    const parts = [element("b", { text: title })];
    if (each.line) parts.push(element("button", { type: "button", text: `${where[pane]}, line ${each.line} column ${each.column}`, on: () => show(pane, each) }));
    if (each.excerpt?.length) parts.push(element("pre", { text: each.excerpt.join("\n") }));
    if (each.hint) parts.push(element("div", { text: `Hint: ${each.hint}` }));
    return element("div", { class: mild ? "problem mild" : "problem" }, ...parts);
  };
  box.replaceChildren(
    ...result.errors.map((each) => problem(each.message, each, each.pane, false)),
    ...(result.stopped ? [problem(`Stopped: ${result.stopped.message}.`, {}, "epl", true)] : []),
    ...result.faults.map((each) => problem(each.message, each, "epl", true)),
    ...result.warnings.map((text) => problem(text, {}, "epl", true)));
}
