// Tools of the drawing: what a click or a drag on it does.
import { change, edit, refresh, say, store } from "./api.js";
import { box, draw, fit, make, nearest, snapped, svg, toScreen, toWorld, zoomed } from "./drawing.js";
import { dragInput, poses } from "./move.js";

const TOOLS = [
  ["link", "Link", "L", "Drag from point to point. A link that begins or ends on another is pinned there."],
  ["ternary", "Ternary", "T", "Click three points."],
  ["ground", "Ground", "G", "Click the end of a link to pin it to the frame."],
  ["slider", "Slider", "S", "Drag from the end of a link along the guide on the frame."],
  ["slot", "Slot", "O", "Drag from a pin of one link along the slot; the link where you end has it, else the frame."],
  ["gear", "Gear", "R", "Drag from the pivot of one wheel to that of the other."],
  ["cam", "Cam", "C", "Drag from the pivot of the cam to the centre of the roller, the end of a link with a slider or pin on the frame."],
  ["point", "Point", "N", "Click a link to name a point there."],
  ["drive", "Driven", "D", "Click a joint to drive it or to release it."],
  ["shift", "Shift", "V", "Drag a point to another place."],
  ["delete", "Delete", "X", "Click a joint or a link."],
  ["move", "Move", "M", "Drag a driven link, or the sliders below."],
];
let tool = "link", start = null, corners = [], rubber = null;

export function buildTools() {
  const bar = document.getElementById("tools");
  for (const [name, label, key, hint] of TOOLS) {
    const button = document.createElement("button");
    Object.assign(button, { textContent: label, title: `${hint} (${key})`, id: `tool-${name}`, onclick: () => choose(name) });
    bar.append(button);
  }
  choose("link");
  svg.addEventListener("pointerdown", down);
  svg.addEventListener("pointermove", move);
  svg.addEventListener("pointerup", up);
  svg.addEventListener("wheel", wheel, { passive: false });
  document.addEventListener("keydown", keys);
}

export function choose(name) {
  tool = name;
  [start, corners] = [null, []];
  for (const [other] of TOOLS) document.getElementById(`tool-${other}`).setAttribute("aria-pressed", other === name);
  document.getElementById("hint").textContent = TOOLS.find(([other]) => other === name)[3];
  if (store.state) refresh();
}

function keys(event) {
  if (event.target.matches("input, textarea, select")) return;
  const key = event.key.toLowerCase();
  if (event.ctrlKey || event.metaKey) {
    if (key === "z" || key === "y") { event.preventDefault(); change(key === "y" || event.shiftKey ? "redo" : "undo"); }
    return;
  }
  const found = TOOLS.find(([, , letter]) => letter.toLowerCase() === key);
  if (found) choose(found[0]);
  if (key === "f" || key === "home") { fit(store.state); refresh(); }
  if (key === "+" || key === "=") zoom(1.5);
  if (key === "-") zoom(1 / 1.5);
  if (key === "escape") { [start, corners] = [null, []]; refresh(); }
}

const bodyAt = (event) => Number(event.target.dataset?.body || 0);
function jointAt(event, at) {
  const own = event.target.dataset?.joint;
  return own !== undefined ? Number(own) : (nearest(store.state, at) ?? nearest(store.state, snapped(store.state, at)))?.joint?.index;
}

function down(event) {
  const { state } = store;
  if (!state || state.space !== "planar") return;
  if (event.button === 1 || event.shiftKey) { start = { pan: [event.clientX, event.clientY] }; svg.setPointerCapture(event.pointerId); return; }
  if (event.button !== 0) return;
  const raw = toWorld(event), at = snapped(state, raw);
  svg.setPointerCapture(event.pointerId);
  if (tool === "move") { start = { body: bodyAt(event), raw }; return; }
  if (tool === "ternary") {
    corners.push(at);
    if (corners.length === 3) { edit("add_link", { points: corners }); corners = []; }
  } else if (tool === "ground") edit("add_ground", { point: at });
  else if (tool === "point") namePoint(bodyAt(event), raw);
  else if (tool === "drive") drive(jointAt(event, raw));
  else if (tool === "delete") remove(jointAt(event, raw), bodyAt(event));
  else start = { at };
}

function namePoint(body, at) {
  if (!body) { say("point: click a link, on which the point is then"); return; }
  const taken = store.state.bodies[body - 1].points;
  let k = 1;
  while (`P${k}` in taken) k += 1;
  edit("add_point", { body, name: `P${k}`, point: at });
}

function drive(index) {
  if (index === undefined) { say("driven: click a joint"); return; }
  edit("set_field", { index, field: "driven", value: store.state.joints[index].driven ? null : true });
}

function remove(joint, body) {
  if (joint !== undefined) edit("delete_joint", { index: joint });
  else if (body) edit("delete_body", { number: body });
}

function move(event) {
  if (!start && !corners.length) return;
  if (start?.pan) {
    box.x -= (event.clientX - start.pan[0]) / box.scale;
    box.y += (event.clientY - start.pan[1]) / box.scale;
    [start.pan, box.own] = [[event.clientX, event.clientY], true];
    refresh();
    return;
  }
  const raw = toWorld(event);
  if (tool === "move") { if (start) dragInput(start, raw); return; }
  rubber?.remove();
  const points = [...corners, ...(start ? [start.at] : []), snapped(store.state, raw)];
  rubber = make("polyline", { class: "rubber", points: points.map(toScreen).join(" ") }, svg);
}

function up(event) {
  rubber?.remove();
  const from = start?.at, to = snapped(store.state, toWorld(event));
  start = null;
  if (!from || (from[0] === to[0] && from[1] === to[1])) return;
  if (tool === "link") edit("add_link", { points: [from, to] });
  if (tool === "slider") edit("add_ground", { point: from, code: "P", axis: [to[0] - from[0], to[1] - from[1]] });
  if (tool === "slot") slot(from, to, event);
  if (tool === "gear") gear(from, to);
  if (tool === "cam") cam(from, to);
  if (tool === "shift") edit("move_point", { before: from, after: to });
}

// The moving body that has a point or a joint here.
function owner(at) {
  const place = nearest(store.state, at);
  return place?.body?.number ?? place?.joint?.bodies.findLast((body) => body > 1);
}

function slot(from, to, event) {
  const pin = owner(from), under = document.elementsFromPoint(event.clientX, event.clientY).map((each) => Number(each.dataset?.body || 0));
  if (!pin) { say("slot: begin at the end of a link, which is the pin"); return; }
  const holder = under.find((body) => body && body !== pin) ?? 1;
  edit("add_joint", { bodies: [holder, pin], code: "SLOT", point: from, axis: [to[0] - from[0], to[1] - from[1]] });
}

function gear(from, to) {
  const bodies = [owner(from), owner(to)];
  if (bodies.includes(undefined)) { say("gear: drag from the pivot of one wheel to that of the other"); return; }
  const ratio = Number(prompt("Ratio of the radii or numbers of teeth, second to first; negative for an internal mesh", "1"));
  if (ratio) edit("add_gear", { bodies, centres: [from, to], ratio });
}

function cam(from, to) {
  const bodies = [owner(from), owner(to)];
  if (bodies.includes(undefined)) { say("cam: drag from the pivot of the cam to the centre of the roller, which are points of links"); return; }
  const given = prompt("Rise of the follower, and radius of the roller; the text has the law and more", "20, 10");
  const [rise, radius] = (given ?? "").split(",").map(Number);
  if (given) edit("add_cam", { bodies, centres: [from, to], rise: rise || 0, radius: radius || 0 });
}

export function zoom(factor, place) {
  zoomed(store.state, factor, place);
  draw(store.state, poses());
}

function wheel(event) {
  event.preventDefault();
  const edge = svg.getBoundingClientRect();
  zoom(Math.exp(-event.deltaY / 600), [event.clientX - edge.left, event.clientY - edge.top]);
}
