// The timeline of a run: a lane for each event type and each statement, time from left to right.

const SVG = "http://www.w3.org/2000/svg";
const LEFT = 150, RIGHT = 30, TOP = 30, LANE = 44;

function shape(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

function clock(ms, span) {
  const text = new Date(ms).toISOString();
  return span > 86_400_000 ? text.slice(5, 16).replace("T", " ") : span < 5_000 ? text.slice(17, 23) : text.slice(11, 19);
}

const STEPS = [1, 5, 10, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5];

// At most eight round times.
function* ticks(first, span) {
  const step = STEPS.find((each) => span / each <= 8) ?? 864e5 * Math.ceil(span / 864e5 / 8);
  for (let time = Math.ceil(first / step) * step; time <= first + span; time += step) yield time;
}

// `room`: how wide it should be at least. `most`: so many events and instants are drawn.
export function timelineOf(result, room, most = 3000) {
  const lanes = new Map();
  const lane = (name, kind) => lanes.get(`${kind} ${name}`) ?? lanes.set(`${kind} ${name}`, { name, kind, marks: [] }).get(`${kind} ${name}`);
  const times = [];
  for (const { time, type, line } of result.events.slice(0, most)) {
    lane(type, "event").marks.push({ time, title: `${type}, line ${line}` });
    times.push(time);
  }
  for (const { time, at, statements } of result.outputs.slice(0, most)) {
    times.push(time);
    for (const { name, insert, remove } of statements) {
      lane(name, "statement").marks.push({ time, insert: insert.length, remove: remove.length, title: [
        `${name} at ${at}`, ...insert.slice(0, 8).map((row) => `+ ${row.text}`), ...remove.slice(0, 8).map((row) => `- ${row.text}`),
      ].join("\n") });
    }
  }
  if (times.length === 0) return null;
  const first = Math.min(...times), last = Math.max(...times, result.end?.time ?? first), span = last - first;
  const width = Math.max(480, room, Math.min(2400, LEFT + RIGHT + new Set(times).size * 34)), height = TOP + lanes.size * LANE + 14;
  const x = (time) => LEFT + (span === 0 ? 0.5 : (time - first) / span) * (width - LEFT - RIGHT);
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "Timeline of events and output" });
  for (const time of span === 0 ? [first] : ticks(first, span)) {
    svg.append(shape("line", { class: "grid", x1: x(time), x2: x(time), y1: TOP - 6, y2: height - 8 }),
               shape("text", { class: "tick", x: x(time), y: 16, "text-anchor": "middle" }, clock(time, span)));
  }
  [...lanes.values()].sort((a, b) => (a.kind > b.kind) - (a.kind < b.kind)).forEach(({ name, kind, marks }, index) => {
    const y = TOP + index * LANE + LANE / 2;
    const short = name.length > 19 ? `${name.slice(0, 18)}…` : name;
    svg.append(shape("line", { class: "lane", x1: LEFT, x2: width - RIGHT / 2, y1: y, y2: y }), shape("text", { class: "name", x: 6, y: y + 4 }, short));
    const seen = new Map();
    for (const mark of marks) {
      const before = seen.get(mark.time) ?? 0;
      seen.set(mark.time, before + 1);
      svg.append(...(kind === "event" ? [dot(x(mark.time) + Math.min(before * 5, 20), y, mark)] : bars(x(mark.time), y, mark)));
    }
  });
  return svg;
}

function titled(element, text) {
  element.append(shape("title", {}, text));
  return element;
}

function dot(x, y, mark) {
  return titled(shape("circle", { class: "event hot", cx: x, cy: y, r: 5 }), mark.title);
}

function bars(x, y, { insert, remove, title }) {
  const length = (rows) => Math.min(5 + rows * 3, LANE / 2 - 3);
  const drawn = [];
  if (insert) drawn.push(titled(shape("rect", { class: "insert hot", x: x - 3, y: y - length(insert), width: 6, height: length(insert), rx: 1 }), title));
  if (remove) drawn.push(titled(shape("rect", { class: "remove hot", x: x - 3, y, width: 6, height: length(remove), rx: 1 }), title));
  return drawn;
}
