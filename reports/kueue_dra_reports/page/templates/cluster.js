"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const form = document.getElementById("filters");
const list = document.getElementById("tree");
const compares = data.sides.length > 1;
const AT_ONCE = 200, OPENED_BY_A_FILTER = 30;
const [NAMESPACE, NAME, WORKLOAD, EFFECT, WAITS, SIDES] = [0, 1, 2, 3, 4, 5];
const [WORD, REASON, MESSAGE, POSITION, STEPS] = [0, 1, 2, 3, 4];

const nodes = [...list.children].map((element, order) => ({
  element, order,
  toggle: element.querySelector(".toggle"),
  panel: element.querySelector(".panel"),
  name: element.dataset.name,
  isCohort: element.dataset.kind === "Cohort",
  waits: Number(element.dataset.waits),
  work: data.queues[element.id.slice("node-".length)] || [],
  rows: [...element.querySelectorAll(".quotas tbody tr")],
  changes: element.querySelector(".changed") !== null,
  open: false, shown: [], atOnce: AT_ONCE,
}));
const cohorts = new Map(nodes.filter((node) => node.isCohort).map((node) => [node.name, node]));
nodes.forEach((node) => {
  node.above = [];
  for (let at = cohorts.get(node.element.dataset.parent); at && !node.above.includes(at); at = cohorts.get(at.element.dataset.parent)) node.above.push(at);
  const path = node.above.map((each) => `cohort ${each.name}`).join(" ");
  node.text = `${node.element.dataset.kind} ${node.name} ${path}`.toLowerCase();
  node.open = node.isCohort || (data.open && (node.waits > 0 || node.work.some((row) => row[EFFECT])));
});
nodes.forEach((node) => {
  const isEmpty = node.isCohort ? !nodes.some((each) => each.above.includes(node)) : node.work.length === 0;
  node.toggle.disabled = isEmpty;
});

function make(tag, classes, ...content) {
  const found = document.createElement(tag);
  if (classes) found.className = classes;
  found.append(...content);
  return found;
}

const texts = (row) => data.texts[row[NAMESPACE]] + "/" + row[NAME];
const changes = (row) => data.texts[row[EFFECT]] !== "";
function words(row) {
  const sides = row.slice(SIDES).filter(Boolean);
  return [texts(row), row[WORKLOAD], data.texts[row[EFFECT]], ...sides.flatMap((side) => [side[WORD], side[REASON], side[MESSAGE]].map((at) => data.texts[at]))].join(" ").toLowerCase();
}

function decision(side, at) {
  if (!side) return make("div", "decision", make("span", "side", `${data.sides[at]}: `), "does not exist");
  const [word, reason, message] = [side[WORD], side[REASON], side[MESSAGE]].map((each) => data.texts[each]);
  const found = make("div", "decision");
  if (compares) found.append(make("span", "side", `${data.sides[at]}: `));
  found.append(make("span", `badge ${word}`, word));
  if (reason && reason !== message) found.append(make("b", "", reason), message ? ": " : "");
  found.append(message);
  return found;
}

function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function derivation(row) {
  const found = make("div", "derivation");
  const cited = new Set();
  row.slice(SIDES).forEach((side, at) => {
    const section = make("section");
    if (compares) section.append(make("h4", "", data.sides[at]));
    const steps = side ? data.derivations[side[STEPS]] : [];
    const ol = make("ol");
    steps.forEach(([text, ...ids]) => {
      const step = make("li", "", data.texts[text]);
      ids.forEach((id) => cited.add(id));
      if (ids.length) step.append(" ", make("code", "cite", ids.map((id) => data.requirements[id][0]).join(", ")));
      ol.append(step);
    });
    section.append(steps.length ? ol : make("p", "", side ? "Kueue has not tried it." : "It does not exist."));
    found.append(section);
  });
  if (cited.size) {
    const dl = make("dl");
    [...cited].forEach((id) => dl.append(make("dt", "", data.requirements[id][0]), make("dd", "", data.requirements[id][1])));
    found.append(make("details", "", make("summary", "", "What the requirements say"), dl));
  }
  if (data.explain && row[WAITS]) {
    const command = `${data.explain} -n ${quoted(data.texts[row[NAMESPACE]])} ${quoted(row[NAME])}`;
    found.append(make("p", "hint", "What would admit it: ", make("code", "", command)));
  }
  return found;
}

let numbers = 0;
function entry(row) {
  const item = make("li");
  const toggle = make("button", "toggle", texts(row));
  toggle.type = "button";
  toggle.setAttribute("aria-expanded", "false");
  const place = row[SIDES + data.sides.length - 1];
  const about = [row[WORKLOAD] && !row[NAME].endsWith(row[WORKLOAD]) ? `Workload ${row[WORKLOAD]}` : "", place && place[POSITION] ? `number ${place[POSITION]} in the queue` : ""].filter(Boolean);
  if (about.length) toggle.append(make("small", "", about.join(", ")));
  const line = make("div", "entry", make("h3", "", toggle));
  if (changes(row)) line.firstChild.append(" ", make("span", "badge effect", data.texts[row[EFFECT]]));
  row.slice(SIDES).forEach((side, at) => line.append(decision(side, at)));
  item.append(line);
  item.flip = (open) => {
    toggle.setAttribute("aria-expanded", String(open));
    const known = item.querySelector(".derivation");
    if (known) known.hidden = !open;
    else if (open) {
      const found = derivation(row);
      found.id = `steps-${++numbers}`;
      toggle.setAttribute("aria-controls", found.id);
      item.append(found);
    }
  };
  toggle.addEventListener("click", () => item.flip(toggle.getAttribute("aria-expanded") === "false"));
  return item;
}

function fill(node) {
  if (!node.panel) return;
  const open = node.open && node.shown.length > 0;
  node.element.classList.toggle("open", open);
  node.panel.hidden = !open;
  if (!open) return;
  const key = node.shown.slice(0, node.atOnce);
  if (node.filled && node.filled.length === key.length && node.filled.every((row, at) => row === key[at])) return;
  node.filled = key;
  const work = make("ul", "work");
  work.setAttribute("role", "list");
  work.append(...key.map(entry));
  node.panel.replaceChildren(work);
  const more = node.shown.length - key.length;
  if (more > 0) {
    const button = make("button", "more", `Show ${Math.min(more, AT_ONCE)} of ${more} more`);
    button.type = "button";
    button.addEventListener("click", () => {
      const at = node.atOnce;
      node.atOnce += AT_ONCE;
      fill(node);
      node.panel.querySelectorAll(".work > li > .entry .toggle")[at].focus();
    });
    node.panel.append(make("p", "more", button));
  }
}

function selected(node, wanted) {
  const named = wanted.words.every((word) => node.text.includes(word));
  return node.work.filter((row) => {
    if (wanted.waiting && !row[WAITS]) return false;
    if (wanted.changed && !changes(row)) return false;
    if (named) return true;
    node.texts = node.texts || new Map();
    if (!node.texts.has(row)) node.texts.set(row, `${node.text} ${words(row)}`);
    const text = node.texts.get(row);
    return wanted.words.every((word) => text.includes(word));
  });
}

function isWanted(node, wanted) {
  const named = wanted.words.every((word) => node.text.includes(word));
  if (wanted.waiting && !node.shown.length) return false;
  if (wanted.changed && !node.shown.length && !node.changes) return false;
  return named || node.shown.length > 0;
}

function use(node) {
  return Math.max(0, ...node.rows.filter((row) => !row.hidden).map((row) => Number(row.dataset.use)));
}

function isHidden(row, resource) {
  if (resource === "in use") return "idle" in row.dataset;
  return resource !== "" && row.dataset.resource !== resource;
}

const ORDERS = {
  tree: (one, other) => one.order - other.order,
  use: (one, other) => use(other) - use(one) || one.order - other.order,
  waits: (one, other) => other.waits - one.waits || one.order - other.order,
  name: (one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0),
};

function read() {
  const wanted = new FormData(form);
  return {
    words: wanted.get("text").toLowerCase().split(/\s+/).filter(Boolean),
    resource: wanted.get("resource"), sort: wanted.get("sort"),
    waiting: wanted.has("waiting"), changed: wanted.has("changed"),
  };
}

let sorted = "tree/";
function refresh() {
  const wanted = read();
  const isTree = wanted.sort === "tree";
  const isFiltered = wanted.words.length > 0 || wanted.waiting || wanted.changed;
  const queues = nodes.filter((node) => !node.isCohort);
  queues.forEach((node) => { node.shown = selected(node, wanted); node.wanted = isWanted(node, wanted); });
  nodes.filter((node) => node.isCohort).forEach((node) => {
    const named = wanted.words.length > 0 && wanted.words.every((word) => node.text.includes(word));
    node.wanted = !isFiltered || (named && !wanted.waiting && !wanted.changed) || (wanted.changed && node.changes && !wanted.words.length) || queues.some((queue) => queue.wanted && queue.above.includes(node));
  });
  nodes.forEach((node) => {
    node.rows.forEach((row) => { row.hidden = isHidden(row, wanted.resource); });
    const closed = isTree && !wanted.words.length && node.above.some((each) => !each.open);
    node.element.hidden = !node.wanted || closed || (node.isCohort && !isTree);
    node.toggle.setAttribute("aria-expanded", String(node.open));
    fill(node);
  });
  list.classList.toggle("flat", !isTree);
  if (sorted !== `${wanted.sort}/${wanted.resource}`) {
    sorted = `${wanted.sort}/${wanted.resource}`;
    list.append(...[...nodes].sort(ORDERS[wanted.sort]).map((node) => node.element));
  }
  const real = queues.filter((node) => node.element.dataset.kind);
  const shown = real.filter((node) => node.wanted).length;
  document.getElementById("count").textContent = `${shown} of ${real.length} ClusterQueues`;
  document.getElementById("none").hidden = nodes.some((node) => !node.element.hidden);
}

form.addEventListener("input", (event) => {
  if (event.target.name === "scheme") {
    document.documentElement.dataset.scheme = event.target.value;
    return;
  }
  refresh();
  const found = nodes.filter((node) => !node.isCohort && node.wanted);
  const rows = found.reduce((sum, node) => sum + node.shown.length, 0);
  if (event.target.name === "text" && event.target.value.trim() && rows <= OPENED_BY_A_FILTER) {
    found.forEach((node) => { node.open = true; });
    refresh();
  }
});
form.addEventListener("submit", (event) => event.preventDefault());
nodes.forEach((node) => node.toggle.addEventListener("click", () => { node.open = !node.open; refresh(); }));
const flipAll = (open) => () => {
  nodes.forEach((node) => { node.open = open; });
  refresh();
};
document.getElementById("open").addEventListener("click", flipAll(true));
document.getElementById("close").addEventListener("click", flipAll(false));

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  if (event.target.name === "text") {
    event.target.value = "";
    refresh();
  }
  const item = event.target.closest(".work > li");
  const toggle = item && item.querySelector(".toggle");
  if (toggle && toggle.getAttribute("aria-expanded") === "true") {
    item.flip(false);
    toggle.focus();
    return;
  }
  const element = event.target.closest(".node");
  const node = nodes.find((each) => each.element === element);
  if (node && node.open) {
    node.open = false;
    refresh();
    node.toggle.focus();
  }
});

let printed = null;
addEventListener("beforeprint", () => {
  printed = nodes.map((node) => [node.open, node.atOnce]);
  nodes.forEach((node) => {
    node.open = node.open || node.isCohort || node.waits > 0 || node.work.some(changes);
    node.atOnce = Infinity;
  });
  refresh();
});
addEventListener("afterprint", () => {
  nodes.forEach((node, at) => { [node.open, node.atOnce] = printed[at]; });
  refresh();
});
refresh();
