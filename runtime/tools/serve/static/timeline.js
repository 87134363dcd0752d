// The timeline of a run: a lane for each event type, window and statement, and for partial matches; time from left to right.

const SVG = "http://www.w3.org/2000/svg";
const LEFT = 150, RIGHT = 42, TOP = 30, LANE = 44, ROW = 18, LETTER = 6.7;

function shape(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

const cut = (text, most) => (text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text);

function clock(ms, span) {
  const text = new Date(ms).toISOString();
  return span > 86_400_000 ? text.slice(5, 16).replace("T", " ") : span < 5_000 ? text.slice(17, 23) : text.slice(11, 19);
}

const STEPS = [1, 5, 10, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5];

// At most eight round times, and no more than their texts have room for.
function* ticks(first, span, room) {
  const most = Math.max(1, Math.min(8, Math.floor(room / ((clock(first, span).length + 2) * LETTER)) - 1));
  const step = STEPS.find((each) => span / each <= most) ?? 864e5 * Math.ceil(span / 864e5 / most);
  for (let time = Math.ceil(first / step) * step; time <= first + span; time += step) yield time;
}

// Lanes by kind and name, in the order in which they are drawn: events, what windows hold, partial matches, output.
function lanesOf(result, most) {
  const lanes = new Map();
  const lane = (name, kind) => lanes.get(`${kind} ${name}`) ?? lanes.set(`${kind} ${name}`, { name, kind, rows: 1, marks: [] }).get(`${kind} ${name}`);
  const recorded = new Map();
  for (const { kind, title, rows, hidden, until, bars, marks } of result.lanes ?? []) {
    if (kind === "events") recorded.set(title, until ?? Infinity);
    const named = hidden ? `${title}, ${hidden} rows more` : title;
    Object.assign(lane(named, kind === "events" ? "event" : kind), { rows, bars, marks: marks.map((mark) => ({ ...mark, title: mark.text })) });
  }
  for (const { time, type, line } of result.events.slice(0, most)) {
    if (time > (recorded.get(type) ?? -Infinity)) lane(type, "event").marks.push({ time, title: `${type}, line ${line}` });
  }
  for (const { time, at, statements } of result.outputs.slice(0, most)) {
    for (const { name, insert, remove } of statements) {
      lane(name, "statement").marks.push({ time, insert: insert.length, remove: remove.length, title: [
        `${name} at ${at}`, ...insert.slice(0, 8).map((row) => `+ ${row.text}`), ...remove.slice(0, 8).map((row) => `- ${row.text}`),
      ].join("\n") });
    }
  }
  const order = ["event", "window", "partials", "statement"];
  return [...lanes.values()].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}

// `room`: how wide it should be at least. `most`: so many events and instants are drawn.
export function timelineOf(result, room, most = 3000) {
  const lanes = lanesOf(result, most);
  const times = lanes.flatMap(({ marks, bars = [] }) => [...marks.map((mark) => mark.time), ...bars.map((bar) => bar.begins)]);
  if (times.length === 0) return null;
  const first = times.reduce((a, b) => Math.min(a, b)), last = times.reduce((a, b) => Math.max(a, b), result.end?.time ?? first), span = last - first;
  const height = (lane) => Math.max(LANE, lane.rows * ROW + 8);
  const width = Math.max(480, room, Math.min(2400, LEFT + RIGHT + new Set(times).size * 34));
  const full = TOP + lanes.reduce((sum, lane) => sum + height(lane), 0) + 14;
  const x = (time) => LEFT + (span === 0 ? 0.5 : (time - first) / span) * (width - LEFT - RIGHT);
  const svg = shape("svg", { viewBox: `0 0 ${width} ${full}`, width, height: full, role: "img",
                             "aria-label": `Timeline of ${lanes.map(({ name, kind }) => `${kind} ${name}`).join(", ")}` });
  for (const time of span === 0 ? [first] : ticks(first, span, width - LEFT - RIGHT)) {
    svg.append(shape("line", { class: "grid", x1: x(time), x2: x(time), y1: TOP - 6, y2: full - 8 }),
               shape("text", { class: "tick", x: x(time), y: 16, "text-anchor": "middle" }, clock(time, span)));
  }
  let top = TOP;
  for (const lane of lanes) {
    const middle = top + height(lane) / 2, right = width - RIGHT / 2;
    svg.append(titled(shape("text", { class: "name", x: 6, y: middle + 4 }, cut(lane.name, 20)), lane.name));
    if (lane.kind === "window" || lane.kind === "partials") {
      svg.append(shape("line", { class: "lane", x1: 6, x2: right, y1: top, y2: top }), ...spans(lane, x, top + (height(lane) - lane.rows * ROW) / 2, right));
    } else {
      svg.append(shape("line", { class: "lane", x1: LEFT, x2: right, y1: middle, y2: middle }), ...moments(lane, x, middle));
    }
    top += height(lane);
  }
  return svg;
}

function moments({ kind, marks }, x, y) {
  const seen = new Map();
  return marks.flatMap((mark) => {
    const before = seen.get(mark.time) ?? 0;
    seen.set(mark.time, before + 1);
    return kind === "event" ? dot(x(mark.time) + Math.min(before * 9, 36), y, mark) : bars(x(mark.time), y, mark);
  });
}

// Bars from where an event or a match begins to where it ends; those that have no end go to the right edge.
function spans({ kind, bars: all, marks }, x, top, right) {
  const y = (row) => top + row * ROW + ROW / 2;
  const drawn = all.map(({ row, begins, ends, text, outcome }) => {
    const from = x(begins), to = Math.max(from + 3, ends === null ? right : x(ends));
    if (kind === "partials") return titled(shape("line", { class: `partial ${outcome.replace(" ", "-")}`, x1: from, x2: to, y1: y(row), y2: y(row) }), outcome);
    return titled(shape("rect", { class: "held hot", x: from, y: y(row) - 7, width: to - from, height: 14, rx: 2 }), text);
  });
  const texts = kind === "partials" ? marks.map(({ row, time, text, outcome }) => [x(time) + 2, row, text, `step ${outcome.replace(" ", "-")}`])
    : all.map(({ row, begins, ends, text }) => {
      const letters = Math.floor(((ends === null ? right : x(ends)) - x(begins) - 6) / LETTER);
      return [x(begins) + 4, row, letters < Math.min(2, text.length) ? "" : cut(text, letters), "label"];
    });
  return [...drawn, ...texts.map(([left, row, text, kind]) => shape("text", { class: kind, x: left, y: y(row) + (kind === "label" ? 4 : -1) }, text))];
}

function titled(element, text) {
  element.append(shape("title", {}, text));
  return element;
}

// The number by which windows and partial matches name the event is above it, where it is known.
function dot(x, y, mark) {
  const number = mark.text?.match(/^\d+(?=:)/)?.[0];
  const drawn = titled(shape("circle", { class: "event hot", cx: x, cy: y, r: 4 }), mark.title);
  return number ? [drawn, shape("text", { class: "label", x, y: y - 7, "text-anchor": "middle" }, number)] : [drawn];
}

function bars(x, y, { insert, remove, title }) {
  const length = (rows) => Math.min(5 + rows * 3, LANE / 2 - 3);
  const drawn = [];
  if (insert) drawn.push(titled(shape("rect", { class: "insert hot", x: x - 3, y: y - length(insert), width: 6, height: length(insert), rx: 1 }), title));
  if (remove) drawn.push(titled(shape("rect", { class: "remove hot", x: x - 3, y, width: 6, height: length(remove), rx: 1 }), title));
  return drawn;
}
