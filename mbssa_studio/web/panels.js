// Panels beside the drawing: groups, findings, pairs, matrix, text, inputs, comparison.
import { call, change, download, edit, get, refresh, say, store } from "./api.js";
import { shown } from "./move.js";

const TABS = ["Groups", "Findings", "Pairs", "Matrix", "Text", "Inputs", "Modes", "Pictures", "Compare"];
const PICTURES = { mechanism: "Mechanism", findings: "Findings", graph: "Structural graph", diagram: "Structural diagram", coordinates: "Coordinates over time", paths: "Paths of points", workspace: "Workspace", routes: "Routes through the groups", gantt: "Gantt chart of the fastest plans" };
let tab = "Groups", result = {};
const panel = document.getElementById("panel");

export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

export function buildTabs() {
  const bar = document.getElementById("tabs");
  for (const name of TABS) bar.append(element("button", { textContent: name, id: `tab-${name}`, role: "tab", onclick: () => choose(name) }));
}

export function choose(name) { tab = name; showPanel(store.state, true); }

export function showPanel(state, changed) {
  for (const name of TABS) document.getElementById(`tab-${name}`).setAttribute("aria-selected", name === tab);
  if (!changed) return;
  if (result.revision !== state.revision) result = { revision: state.revision };
  panel.replaceChildren(...PANELS[tab](state));
}

function light(bodies, joints) { store.lit = { bodies, joints }; refresh(); }

const faultsOf = (state) => state.faults.map((fault) => element("div", { className: "card fatal", textContent: [fault.where, fault.what].filter(Boolean).join(": ") }));

function groups(state) {
  if (state.bodies.length === 1) return [element("p", { textContent: "Draw a link: drag on the grid. Begin the next one on its end, pin ends to the frame by Ground, drive a joint by Driven. Each group then has a hue of its own." })];
  if (state.faults.length) return faultsOf(state);
  const cards = state.groups.map((group) => {
    const card = element("button", { className: "card group", onclick: () => light(group.bodies, []) }, `SG-${group.number} {${group.bodies.join(", ")}}  ${group.type}`,
      element("small", { textContent: `level ${group.level}${group.needs.length ? `, needs ${group.needs.map((n) => `SG-${n}`).join(", ")}` : ""}` }));
    card.style.setProperty("--hue", group.colour);
    return card;
  });
  if (!state.determined) cards.push(element("div", { className: "card fatal", textContent: `Not determined: mobility ${state.mobility} by count, ${state.inputs.length} driven. Findings has proposals.` }));
  if (state.space === "spatial") cards.push(element("p", { textContent: "Drag a blue handle to move a joint, a green one to turn its axis; Pairs and Text have the rest." }));
  return [...cards, graph(state)];
}

// The structural graph: groups by level from left to right, arrows to those that need them.
function graph(state) {
  const space = "http://www.w3.org/2000/svg", make = (tag, attributes) => {
    const made = document.createElementNS(space, tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const rows = {}, at = {};
  for (const group of state.groups) at[group.number] = [40 + (group.level - 1) * 90, 26 + 46 * (rows[group.level] = (rows[group.level] ?? -1) + 1)];
  const deepest = Math.max(0, ...Object.values(rows)) + 1, levels = Math.max(1, ...state.groups.map((group) => group.level));
  const picture = make("svg", { id: "graph", viewBox: `0 0 ${levels * 90} ${deepest * 46 + 8}`, role: "img", "aria-label": "Structural graph" });
  picture.style.maxWidth = `${levels * 90}px`;
  for (const group of state.groups) for (const need of group.needs) picture.append(make("line", { x1: at[need][0] + 16, y1: at[need][1], x2: at[group.number][0] - 16, y2: at[group.number][1], stroke: "currentColor", opacity: 0.5 }));
  for (const group of state.groups) {
    const [cx, cy] = at[group.number];
    picture.append(make("circle", { cx, cy, r: 16, fill: group.colour }));
    const label = make("text", { x: cx, y: cy + 4, "text-anchor": "middle", class: "inside" });
    label.textContent = group.number;
    picture.append(label);
  }
  return picture;
}

async function work(kind) {
  result[kind] = "running";
  choose(tab);
  try {
    const answer = await call("work", { kind });
    if (answer.revision !== undefined && answer.revision !== store.state.revision) return;
    result[kind] = answer.cancelled ? null : answer;
  } catch { result[kind] = null; }
  choose(tab);
}

function worked(state, kind, label, shown) {
  if (state.faults.length) return faultsOf(state);
  if (result[kind] === "running") return [element("p", { textContent: "Computing … " }), element("button", { textContent: "Cancel", onclick: () => call("cancel") })];
  const again = element("button", { textContent: label, id: `work-${kind}`, onclick: () => work(kind) });
  return result[kind] ? [again, element("p"), ...shown(result[kind])] : [again];
}

function findings(state) {
  if (!state.faults.length && result.check === undefined) { work("check"); return []; }
  return worked(state, "check", "Check again", (found) => [
    element("p", { id: "verdict", textContent: found.solvable ? "Can be solved as given." : "Cannot be solved as given." }),
    ...found.findings.map((each) => element("button", { className: `card finding${each.fatal ? " fatal" : ""}`, textContent: each.text, onclick: () => light(each.bodies, each.joints) })),
    ...found.proposals.map((each) => element("div", { className: "card proposal" }, `${each.text} `, element("button", { textContent: "apply", onclick: () => change("apply", each) }))),
  ]);
}

function cellOf(value, fault, commit, label) {
  const input = element("input", { value, onchange: () => commit(input.value) });
  input.setAttribute("aria-label", label);
  const cell = element("td", {}, input);
  if (fault) { cell.className = "bad"; cell.dataset.fault = fault.what; }
  return cell;
}

const parsed = (text) => { const plain = text.trim(); if (!plain) return null; try { return JSON.parse(plain); } catch { return plain.includes(",") ? plain.split(",").map((part) => { const value = part.trim(); return value !== "" && !isNaN(value) ? Number(value) : value; }) : plain; } };
const written = (value) => (value === null || value === undefined || value === false ? "" : typeof value === "string" ? value : Array.isArray(value) ? value.join(", ") : JSON.stringify(value));

function pairs(state) {
  const columns = [["bodies", "bodies"], ["type", "type"], ["driven", "driven"], ["point", `point (${state.unit})`], ["axis", "axis"]];
  const table = element("table", { id: "pairs" }, element("tr", {}, element("th", { textContent: "joint" }), ...columns.map(([, title]) => element("th", { textContent: title }))));
  for (const joint of state.joints) {
    const row = element("tr", {}, element("td", { textContent: state.ids.length === state.joints.length ? state.ids[joint.index] : joint.index + 1 }));
    const own = state.faults.filter((each) => each.joint === joint.index);
    for (const [field] of columns) {
      const value = field === "bodies" ? joint.written : joint[field];
      const fault = own.find((each) => each.field === field || (!columns.some(([name]) => name === each.field) && field === "type"));
      row.append(cellOf(written(value), fault, (text) => edit("set_field", { index: joint.index, field, value: field === "type" ? text.trim() : parsed(text) }), `${field} of joint ${joint.index + 1}`));
    }
    table.append(row);
  }
  const rest = faultsOf({ faults: state.faults.filter((fault) => fault.joint === null) });
  return [element("p", { textContent: `Types: ${state.types.join(", ")}` }), table, ...rest, ...dimensions(state)];
}

// Coordinates of the points of each link, and its length where it has two.
function dimensions(state) {
  const links = state.bodies.slice(1).filter((body) => Object.keys(body.points).length);
  if (state.space !== "planar" || !links.length) return [];
  const table = element("table", { id: "dimensions" }, element("tr", {}, ...["link", "point", `x (${state.unit})`, `y (${state.unit})`, `length (${state.unit})`].map((title) => element("th", { textContent: title }))));
  for (const body of links) {
    const points = Object.entries(body.points);
    const length = points.length === 2 ? Math.hypot(...[0, 1].map((k) => points[1][1][k] - points[0][1][k])) : null;
    points.forEach(([name, at], row) => {
      const move = (after) => { if (after.every(Number.isFinite)) edit("move_point", { before: at, after }); else say("dimension: write a number"); };
      const cells = [0, 1].map((k) => cellOf(String(at[k]), null, (text) => move(at.map((c, i) => (i === k ? Number(text) : c))), `${"xy"[k]} of ${body.name}.${name}`));
      const from = points[0][1];
      const longer = (text) => (Number(text) > 0 ? move(from.map((c, k) => c + ((at[k] - c) * Number(text)) / length)) : say("dimension: write a length"));
      const last = row === 1 && length ? cellOf(String(Number(length.toPrecision(9))), null, longer, `length of ${body.name}`) : element("td");
      table.append(element("tr", {}, element("td", { textContent: row ? "" : body.name }), element("td", { textContent: name }), ...cells, last));
    });
  }
  return [element("h3", { textContent: "Dimensions" }), table];
}

function matrix(state) {
  if (!state.matrix) return [element("p", { textContent: "Too many bodies for a matrix." })];
  const names = state.bodies.map((body) => body.number);
  const table = element("table", {}, element("tr", {}, element("th"), ...names.map((n) => element("th", { textContent: n }))));
  state.matrix.forEach((cells, i) => {
    const head = element("th", { textContent: names[i] });
    head.style.background = `color-mix(in srgb, ${state.bodies[i].colour} 55%, var(--back))`;
    const wrong = (j) => state.faults.find((f) => f.joint !== null && [i + 1, j + 1].every((n) => state.joints[f.joint]?.bodies.includes(n)));
    table.append(element("tr", {}, head, ...cells.map((value, j) => (i === j ? element("td", { textContent: "–" }) : cellOf(value, wrong(j), (codes) => edit("set_cell", { i: i + 1, j: j + 1, codes }), `M ${i + 1}, ${j + 1}`)))));
  });
  return [element("div", { className: "matrix" }, table)];
}

function text(state) {
  const area = element("textarea", { id: "text", value: state.text, spellcheck: false });
  area.setAttribute("aria-label", "Model file");
  const apply = () => change("text", { text: area.value });
  area.onchange = apply;
  return [...faultsOf(state), area, element("p", {}, element("button", { textContent: "Apply", onclick: apply }))];
}

function inputs(state) {
  return worked(state, "transform", "Find the best inputs", (found) => {
    const table = element("table", { id: "transform" }, element("tr", {}, ...["inputs", "groups", "largest", "levels", "cost (µs)", ""].map((title, k) => {
      const head = element("th", { textContent: title });
      head.onclick = () => { const key = ["inputs", "n_groups", "largest", "levels", "cost"][k]; if (key) { found.rows.sort((a, b) => (a[key] > b[key] ? 1 : a[key] < b[key] ? -1 : 0)); choose(tab); } };
      return head;
    })));
    const lines = [], count = element("p");
    const filter = element("input", { id: "filter", type: "search", placeholder: "filter: 1-2 groups>=9", value: found.filter ?? "", oninput: () => sift() });
    filter.setAttribute("aria-label", "Filter of the table");
    const sift = () => {
      found.filter = filter.value;
      const shown = lines.filter(({ row, line }) => !(line.hidden = !passes(row, filter.value)));
      count.textContent = `${shown.length} of ${lines.length} sets of inputs; now ${state.groups.length} groups.`;
    };
    for (const row of found.rows) {
      const use = element("button", { textContent: "use these inputs", onclick: () => change("use", { inputs: row.inputs, pairs: row.pairs }) });
      const compared = element("button", { textContent: "compare", title: "The groups now and with these inputs, side by side", onclick: () => preview(state, row) });
      const line = element("tr", {}, ...[row.inputs.join(", "), row.n_groups, row.largest, row.levels, row.cost.toFixed(2)].map((value) => element("td", { textContent: value })), element("td", {}, use, compared));
      lines.push({ row, line });
      table.append(line);
    }
    sift();
    return [filter, count, element("div", { id: "sides" }), table];
  });
}

// Whether a row has all words of a filter among its inputs, and meets its conditions: groups>=9 largest<4.
const FIGURES = { groups: "n_groups", largest: "largest", levels: "levels", cost: "cost" };
const MEETS = { "<=": (a, b) => a <= b, ">=": (a, b) => a >= b, "<": (a, b) => a < b, ">": (a, b) => a > b, "=": (a, b) => a === b };
const passes = (row, filter) => filter.trim().split(/\s+/).every((word) => {
  const [, name, sign, value] = /^(\w+)(<=|>=|<|>|=)([\d.]+)$/.exec(word) ?? [];
  return name in FIGURES ? MEETS[sign](row[FIGURES[name]], Number(value)) : row.inputs.join(", ").includes(word);
});

// The structural graph now, and with other inputs.
async function preview(state, row) {
  const found = await call("preview", { inputs: row.inputs, pairs: row.pairs });
  const side = (title, groups) => element("figure", {}, element("figcaption", { textContent: `${title}: ${groups.length} groups` }), graph({ groups }));
  document.getElementById("sides").replaceChildren(side("Now", state.groups), side(row.inputs.join(", "), found.groups));
}

const image = (svg, alt) => element("img", { src: `data:image/svg+xml,${encodeURIComponent(svg)}`, alt });

const modes = (state) => worked(state, "modes", "Find the assembly modes", (found) => [
  element("p", { textContent: found.groups.length ? "Each group stands in one of its modes; a button puts it into another, until the model changes." : "Each group has one mode." }),
  ...found.groups.flatMap((group) => [
    image(group.picture, `Assembly modes of SG-${group.group}`),
    element("div", { className: "row" }, `SG-${group.group}`, ...Array.from({ length: group.count }, (_, k) => element("button", {
      textContent: `mode ${k + 1}${k + 1 === group.reference ? ", reference" : ""}`,
      onclick: async () => shown(await call("mode", { group: group.group, mode: k + 1 })),
    }))),
  ]),
]);

let picture = "mechanism", drawing = new AbortController();
function pictures(state) {
  if (state.faults.length) return faultsOf(state);
  const choice = element("select", { id: "picture" }, ...Object.entries(PICTURES).map(([name, title]) => new Option(title, name, false, name === picture)));
  choice.setAttribute("aria-label", "Picture");
  const place = element("div", { className: "picture" }), links = element("div", { className: "row" });
  const drawn = async () => {
    picture = choice.value;
    drawing.abort();  // one at a time: a browser has six connections, and edits need one
    drawing = new AbortController();
    const file = (address, name) => element("a", { textContent: name.split(".").at(-1).toUpperCase(), href: address, onclick: (event) => { event.preventDefault(); download(address, name); } });
    links.replaceChildren("Save as ", ...["svg", "png", "pdf"].map((ending) => file(`picture/${picture}/${ending}`, `${state.name}-${picture}.${ending}`)),
      " and its motion as ", ...["csv", "parquet"].map((ending) => file(`motion/all/${ending}`, `${state.name}.${ending}`)));
    place.replaceChildren("Drawing … ", element("button", { textContent: "Cancel", onclick: () => call("cancel") }));
    const asked = picture, { signal } = drawing;
    try {
      const svg = await (await get(`picture/${asked}/svg`, signal)).text();
      if (!signal.aborted) place.replaceChildren(image(svg, PICTURES[asked]));
    } catch (error) { if (!signal.aborted) place.replaceChildren(error.message); }
  };
  choice.onchange = drawn;
  drawn();
  return [choice, place, links];
}

const compare = (state) => worked(state, "routes", "Compare groups with loops", (found) => [element("p", { textContent: found.routes }), element("pre", { textContent: found.loops })]);

const PANELS = { Groups: groups, Findings: findings, Pairs: pairs, Matrix: matrix, Text: text, Inputs: inputs, Modes: modes, Pictures: pictures, Compare: compare };
