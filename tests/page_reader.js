// Runs the script of a report page on a few lines of a document, sets filters, and prints the rows it shows as JSON:
// node page_reader.js report.html '[["What is remembered", {"true on": "2026-05-03"}], …]'
"use strict";
const fs = require("fs");
class Node {
  constructor(tag, text) { this.tag = tag; this.nodeType = tag === "#text" ? 3 : 1; this.own = text || ""; this.children = []; this.className = ""; this.parent = null; }
  append(...parts) { for (const p of parts) { const n = p && p.nodeType ? p : new Node("#text", String(p)); n.parent = this; this.children.push(n); } }
  after(next) { next.parent = this.parent; this.parent.children.splice(this.parent.children.indexOf(this) + 1, 0, next); }
  remove() { this.parent.children.splice(this.parent.children.indexOf(this), 1); }
  get nextSibling() { return this.parent.children[this.parent.children.indexOf(this) + 1] || null; }
  get textContent() { return this.tag === "#text" ? this.own : this.children.map(c => c.textContent).join(""); }
  set textContent(text) { this.children = []; if (text) this.append(text); }
  // What a reader of English sees.
  get english() { return this.className === "zh" ? "" : this.tag === "#text" ? this.own : this.children.map(c => c.english).join(this.tag === "tr" || this.tag === "dl" ? " | " : ""); }
  find(tag) { return this.children.flatMap(c => [...(c.tag === tag ? [c] : []), ...c.find(tag)]); }
}
const page = fs.readFileSync(process.argv[2], "utf8");
const json = page.match(/<script id="data" type="application\/json">(.*?)<\/script>/s)[1];
const script = page.slice(page.lastIndexOf("<script>") + 8, page.lastIndexOf("</script>"));
const held = { data: new Node("script"), tables: new Node("div"), ask: new Node("ol"), figures: new Node("section") };
held.figures.parent = new Node("body");
held.figures.parent.children.push(held.figures);
held.data.append(json);
global.document = { getElementById: id => held[id], createElement: tag => new Node(tag), body: new Node("body"), documentElement: {} };
global.navigator = { language: "en" };
Node.prototype.scrollIntoView = () => {};
global.Option = class extends Node { constructor(text, value) { super("option"); this.append(text); this.value = value; } };
new Function(script)();
const answers = JSON.parse(process.argv[3]).map(([title, wanted, open]) => {
  const parts = held.tables.children, at = parts.findIndex(p => p.tag === "h2" && p.english === title);
  if (at < 0) throw new Error("no part " + title);
  const filters = parts[at + 2], table = parts[at + 3];
  for (const label of filters.find("label")) {
    const input = label.children[label.children.length - 1];
    input.value = "";
    for (const [name, value] of Object.entries(wanted)) if (label.english.startsWith(name)) input.value = value;
    input.oninput();
  }
  const body = table.find("tbody")[0];
  if (open) for (const row of [...body.children]) row.onclick();
  return body.children.map(row => row.english);
});
console.log(JSON.stringify(answers));
