// Tools of the drawing: what a click or a drag on it does.
import { change, edit, onState, refresh, say, store } from "./api.js";
import { box, draw, fit, linksAt, make, snap, svg, toScreen, toWorld, zoomed } from "./drawing.js";
import { dragInput, poses, rest } from "./move.js";

const TOOLS = [
  ["link", "Link", "L", "Drag from point to point. A link that begins or ends on another is pinned there."],
  ["ternary", "Ternary", "T", "Click three points."],
  ["ground", "Ground", "G", "Click a link, at its end or between, to pin it there to the frame."],
  ["slider", "Slider", "S", "Drag from the end of a link along a guide on the frame; a link that lies along it does not turn."],
  ["slot", "Slot", "O", "Drag from a pin of one link along the slot; the link where you end has it, else the frame."],
  ["gear", "Gear", "R", "Drag from the pivot of one wheel to that of the other."],
  ["cam", "Cam", "C", "Drag from the pivot of the cam to the centre of the roller, the end of a link with a slider or pin on the frame."],
  ["point", "Point", "N", "Click a link to name a point there, on its line and where the grid crosses it."],
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
  // What is drawn is drawn at the reference: a slider or an assembly mode takes the tool that moves.
  onState(() => { if (poses() && tool !== "move") choose("move"); });
}

export function choose(name) {
  tool = name;
  [start, corners] = [null, []];
  for (const [other] of TOOLS) document.getElementById(`tool-${other}`).setAttribute("aria-pressed", other === name);
  document.getElementById("hint").textContent = TOOLS.find(([other]) => other === name)[3];
  if (poses() && name !== "move") { rest(); say("back at the reference, where tools draw", true); }
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
const jointAt = (event, target) => (event.target.dataset?.joint === undefined ? target.joint?.index : Number(event.target.dataset.joint));
// Target of a pointer, not on the links at which the gesture began.
const aim = (event) => snap(store.state, event, [start, ...corners].flatMap((begun) => (begun ? [begun.body, ...linksAt(store.state, begun.at)] : [])));

function down(event) {
  const { state } = store;
  if (!state || state.space !== "planar") return;
  if (event.button === 1 || event.shiftKey) { start = { pan: [event.clientX, event.clientY] }; svg.setPointerCapture(event.pointerId); return; }
  if (event.button !== 0) return;
  const target = aim(event);
  svg.setPointerCapture(event.pointerId);
  if (tool === "move") { start = { body: bodyAt(event), raw: target.raw }; return; }
  if (tool === "ternary") {
    corners.push(target);
    if (corners.length === 3) { edit("add_link", { points: corners.map(({ at }) => at) }); corners = []; }
  } else if (tool === "ground") edit("add_ground", { point: target.at });
  else if (tool === "point") namePoint(target.body ?? bodyAt(event), target.at);
  else if (tool === "drive") drive(jointAt(event, target));
  else if (tool === "delete") remove(jointAt(event, target), bodyAt(event));
  else start = target;
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
  if (tool === "move") { if (start) dragInput(start, toWorld(event)); return; }
  rubber?.remove();
  const points = [...corners, ...(start ? [start] : []), aim(event)].map(({ at }) => at);
  rubber = make("polyline", { class: "rubber", points: points.map(toScreen).join(" ") }, svg);
}

function up(event) {
  rubber?.remove();
  const from = start, to = from?.at && aim(event);
  start = null;
  if (!to || (from.at[0] === to.at[0] && from.at[1] === to.at[1])) return;
  if (tool === "link") edit("add_link", { points: [from.at, to.at] });
  if (tool === "slider") edit("add_slider", { point: from.at, axis: [to.at[0] - from.at[0], to.at[1] - from.at[1]] });
  if (tool === "slot") slot(from, to, event);
  if (tool === "gear") gear(from, to);
  if (tool === "cam") cam(from, to);
  if (tool === "shift") edit("move_point", { before: from.at, after: to.at });
}

function slot(from, to, event) {
  const pin = from.body, under = document.elementsFromPoint(event.clientX, event.clientY).map((each) => Number(each.dataset?.body || 0));
  if (!pin) { say("slot: begin at the end of a link, which is the pin"); return; }
  const holder = [...under, to.body].find((body) => body && body !== pin) ?? 1;
  edit("add_joint", { bodies: [holder, pin], code: "SLOT", point: from.at, axis: [to.at[0] - from.at[0], to.at[1] - from.at[1]] });
}

function gear(from, to) {
  const bodies = [from.body, to.body];
  if (bodies.includes(undefined)) { say("gear: drag from the pivot of one wheel to that of the other"); return; }
  const ratio = Number(prompt("Ratio of the radii or numbers of teeth, second to first; negative for an internal mesh", "1"));
  if (ratio) edit("add_gear", { bodies, centres: [from.at, to.at], ratio });
}

function cam(from, to) {
  const bodies = [from.body, to.body];
  if (bodies.includes(undefined)) { say("cam: drag from the pivot of the cam to the centre of the roller, which are points of links"); return; }
  const given = prompt("Rise of the follower, and radius of the roller; the text has the law and more", "20, 10");
  const [rise, radius] = (given ?? "").split(",").map(Number);
  if (given) edit("add_cam", { bodies, centres: [from.at, to.at], rise: rise || 0, radius: radius || 0 });
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
