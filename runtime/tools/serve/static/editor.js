// An editor: a text area whose own text is transparent, over the same text in colours. Nothing is ever parsed as HTML.

const EPL = /(?<comment>\/\/[^\n]*|\/\*[^]*?(?:\*\/|$))|(?<string>"""[^]*?(?:"""|$)|'(?:[^'\\\n]|\\.)*'?|"(?:[^"\\\n]|\\.)*"?)|(?<annotation>@\w+)|(?<stream>#[\w:]+)|(?<number>\b\d[\w.]*)|(?<word>[A-Za-z_$][\w$]*(?:-distinct|-union|-intersection)?)|[^]/y;
const SCRIPT = /(?<comment>\/\/[^\n]*)|(?<string>'(?:[^'\\\n]|\\.)*'?|"(?:[^"\\\n]|\\.)*"?)|(?<number>\b\d[\w.]*)|(?<keyword>\bt(?:\.plus)?\b(?=\s*[=(+])|\bt\b(?=\s*\+))|(?<stream>^[A-Za-z_$][\w$.]*(?=\s*=\s*\{))|(?<plain>[A-Za-z_$][\w$.]*)|[^]/my;

let keywords = new Set();

export function setKeywords(words) {
  keywords = new Set(words);
}

function* tokens(language, text) {
  const pattern = language === "epl" ? EPL : SCRIPT;
  pattern.lastIndex = 0;
  let match;
  while ((match = pattern.exec(text)) !== null) {
    const groups = match.groups;
    let kind = Object.keys(groups).find((name) => groups[name] !== undefined);
    if (kind === "word") kind = keywords.has(groups.word.toLowerCase()) ? "keyword" : "plain";
    yield [kind ?? "plain", match[0], match.index];
  }
}

export class Editor {
  constructor(box) {
    this.area = box.querySelector("textarea");
    this.colours = box.querySelector(".colours");
    this.numbers = box.querySelector(".numbers");
    this.language = box.dataset.language;
    this.marks = [];
    this.area.addEventListener("input", () => { this.marks = []; this.draw(); });
    this.area.addEventListener("scroll", () => this.follow());
    this.area.addEventListener("keydown", (event) => this.indent(event));
    this.draw();
  }

  get text() { return this.area.value; }

  set text(value) {
    this.area.value = value;
    this.marks = [];
    this.draw();
  }

  // Marks: {line, column, end_line, end_column}, from 1.
  mark(places) {
    this.marks = places.filter((place) => place.line);
    this.draw();
  }

  offset(line, column) {
    const lines = this.text.split("\n").slice(0, line - 1);
    return lines.reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
  }

  show(place) {
    const begin = this.offset(place.line, place.column);
    this.area.focus();
    this.area.setSelectionRange(begin, Math.max(begin + 1, this.offset(place.end_line, place.end_column)));
    this.area.scrollTop = Math.max(0, (place.line - 4) * this.lineHeight());
  }

  lineHeight() { return parseFloat(getComputedStyle(this.area).lineHeight); }

  // A tab indents; after Escape it leaves the editor, for readers without a mouse.
  indent(event) {
    if (event.key === "Escape") this.leaves = true;
    else if (event.key !== "Tab") this.leaves = false;
    if (event.key !== "Tab" || event.shiftKey || this.leaves) return;
    event.preventDefault();
    this.area.setRangeText("  ", this.area.selectionStart, this.area.selectionEnd, "end");
    this.area.dispatchEvent(new Event("input"));
  }

  follow() {
    this.colours.scrollTop = this.numbers.scrollTop = this.area.scrollTop;
    this.colours.scrollLeft = this.area.scrollLeft;
  }

  draw() {
    const spots = this.marks.map((place) => {
      const begin = this.offset(place.line, place.column);
      return [begin, Math.max(begin + 1, this.offset(place.end_line, place.end_column))];
    });
    const parts = [];
    for (const [kind, text, at] of tokens(this.language, this.text)) {
      const cuts = spots.flat().filter((cut) => cut > at && cut < at + text.length).map((cut) => cut - at).sort((a, b) => a - b);
      let begin = 0;
      for (const end of [...cuts, text.length]) {
        const wrong = spots.some(([from, to]) => at + begin >= from && at + begin < to);
        parts.push(part(text.slice(begin, end), kind, wrong));
        begin = end;
      }
    }
    this.colours.replaceChildren(...parts, document.createTextNode("\n "));
    const wrong = new Set(this.marks.map((place) => place.line));
    const count = this.text.split("\n").length;
    this.numbers.replaceChildren(...Array.from({ length: count }, (_, index) => part(`${index + 1}\n`, wrong.has(index + 1) ? "wrong" : "plain")));
    this.numbers.append("\n\n");
    this.follow();
  }
}

function part(text, kind, wrong = false) {
  if (kind === "plain" && !wrong) return document.createTextNode(text);
  const element = document.createElement("span");
  element.className = wrong ? `${kind} wrong-place` : kind;
  element.textContent = text;
  return element;
}
