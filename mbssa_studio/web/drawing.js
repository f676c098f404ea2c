// The drawing: bodies as bars between their points in the hue of their group, joints by type, the grid.
import { store } from "./api.js";

const SPACE = "http://www.w3.org/2000/svg";
export const svg = document.getElementById("drawing");
// The view: its lower left corner, pixels a unit, whether it was fitted to the drawing, and moved by the person since.
export const box = { x: -100, y: -100, scale: 2, fitted: false, own: false };

export function make(tag, attributes, parent) {
  const element = document.createElementNS(SPACE, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent?.append(element);
  return element;
}

export const toScreen = ([x, y]) => [(x - box.x) * box.scale, svg.clientHeight - (y - box.y) * box.scale];
export function toWorld(event) {
  const edge = svg.getBoundingClientRect();
  return [(event.clientX - edge.left) / box.scale + box.x, (edge.bottom - event.clientY) / box.scale + box.y];
}

export function cell() {
  const wanted = 12 / box.scale;
  const power = 10 ** Math.floor(Math.log10(wanted));
  return [1, 2, 5, 10].map((k) => k * power).find((size) => size >= wanted);
}

// Points of the drawing, of joints before those of links.
export function places(state) {
  const found = state.joints.filter((joint) => joint.point).map((joint) => ({ at: joint.point, joint }));
  for (const joint of state.joints) for (const at of joint.points) if (at) found.push({ at });
  for (const body of state.bodies) for (const at of Object.values(body.points)) found.push({ at, body });
  return found.filter((place) => place.at.length === 2);
}

export function nearest(state, at, pixels = 12) {
  let best = null, distance = pixels / box.scale;
  for (const place of places(state)) {
    const d = Math.hypot(place.at[0] - at[0], place.at[1] - at[1]);
    if (d < distance) [best, distance] = [place, d];
  }
  return best;
}

const gap = (p, q) => Math.hypot(p[0] - q[0], p[1] - q[1]);
const rounded = (value) => Number((Math.round(value / cell()) * cell()).toPrecision(12));

// Target of a pointer: a point near it, else a place on the link below it, else a node of the grid; with the joint and
// the link that are there. Links of `without` are left out: those at which a gesture began.
export function snap(state, event, without = []) {
  const raw = toWorld(event), near = nearest(state, raw), along = near ? null : onLink(state, raw, without);
  const at = near?.at ?? along?.at ?? raw.map(rounded), place = near ?? nearest(state, at, 1);
  return { raw, at, joint: place?.joint, body: place?.body?.number ?? place?.joint?.bodies.findLast((body) => body > 1) ?? along?.body };
}

export const linksAt = (state, at) => state.bodies.slice(1).filter((body) => pointsOf(state, body).some((p) => gap(p, at) < 1e-6)).map((body) => body.number);

// The nearest place on an edge of a link, where that crosses a line of the grid if it does near by.
function onLink(state, raw, without, pixels = 8) {
  let best = null;
  for (const body of state.bodies.slice(1)) {
    const points = without.includes(body.number) ? [] : pointsOf(state, body);
    points.forEach((p, k) => {
      const q = points[(k + 1) % points.length], d = [q[0] - p[0], q[1] - p[1]], share = (t) => [0, 1].map((i) => Number((p[i] + t * d[i]).toPrecision(12)));
      const foot = ((raw[0] - p[0]) * d[0] + (raw[1] - p[1]) * d[1]) / (d[0] ** 2 + d[1] ** 2);
      if (!(foot > 0 && foot < 1) || gap(share(foot), raw) > pixels / box.scale) return;
      const crossings = [0, 1].map((i) => (rounded(raw[i]) - p[i]) / d[i]).filter((t) => t > 0 && t < 1 && gap(share(t), raw) < cell());
      const at = crossings.map(share).sort((a, b) => gap(a, raw) - gap(b, raw))[0] ?? share(foot);
      if (!best || gap(share(foot), raw) < best.distance) best = { at, body: body.number, distance: gap(share(foot), raw) };
    });
  }
  return best;
}

export function fit(state) {
  const points = [...places(state).map((place) => place.at), ...state.outlines.flatMap((outline) => outline.points)];
  const low = [0, 1].map((k) => Math.min(...points.map((p) => p[k])));
  const high = [0, 1].map((k) => Math.max(...points.map((p) => p[k])));
  const size = Math.max(high[0] - low[0], high[1] - low[1]);
  if (!(size > 0)) {
    const [x, y] = points[0] ?? [0, 0];
    Object.assign(box, { x: x - svg.clientWidth / 4, y: y - svg.clientHeight / 4, scale: 2, fitted: false, own: false });
    return;
  }
  const sliders = document.getElementById("inputs").offsetHeight, height = svg.clientHeight - sliders;
  box.scale = Math.min(svg.clientWidth / (high[0] - low[0] + 0.5 * size), height / (high[1] - low[1] + 0.5 * size));
  box.x = (low[0] + high[0]) / 2 - svg.clientWidth / 2 / box.scale;
  box.y = (low[1] + high[1]) / 2 - (sliders + height / 2) / box.scale;
  [box.fitted, box.own] = [true, false];
}

// Size of the drawing in pixels; 0 if there is none.
function pixels(state) {
  const points = places(state).map((place) => toScreen(place.at));
  return Math.max(0, ...[0, 1].map((k) => Math.max(...points.map((p) => p[k])) - Math.min(...points.map((p) => p[k]))));
}

const side = () => Math.min(svg.clientWidth, svg.clientHeight);

// Whether a drawing is out of sight: a part of it or most of its size, or all of it where the person chose the view.
export function lost(state) {
  const inside = places(state).map((place) => toScreen(place.at)).map(([x, y]) => x >= 0 && y >= 0 && x <= svg.clientWidth && y <= svg.clientHeight);
  if (!inside.length) return false;
  const size = pixels(state), fitted = box.fitted && !box.own;
  return (size > 0 && size < (fitted ? side() / 4 : 12)) || !(box.own ? inside.some(Boolean) : inside.every(Boolean));
}

// Zoom about a place of the screen, from a hundredth of the view to a hundred views.
export function zoomed(state, factor, [x, y] = [svg.clientWidth / 2, svg.clientHeight / 2]) {
  const size = (pixels(state) || 200 * box.scale) / side(), before = box.scale;
  box.scale *= Math.min(Math.max(factor, Math.min(1, 0.01 / size)), Math.max(1, 100 / size));
  box.x += x / before - x / box.scale;
  box.y += (svg.clientHeight - y) / before - (svg.clientHeight - y) / box.scale;
  box.own = true;
  seen = [svg.clientWidth, svg.clientHeight];
}

// Another size of the window: a fitted view is fitted again, another one keeps its centre.
let seen = [0, 0];
export function resized(state) {
  const now = [svg.clientWidth, svg.clientHeight];
  if (!now[0]) return false;  // hidden
  if (box.own) {
    box.x += (seen[0] - now[0]) / 2 / box.scale;
    box.y += (seen[1] - now[1]) / 2 / box.scale;
  }
  seen = now;
  if ((box.fitted && !box.own) || lost(state)) fit(state);
  return true;
}

function grid() {
  const size = cell();
  const lines = make("g", { class: "grid" }, svg);
  for (let at = (Math.ceil(box.x / size) - box.x / size) * size * box.scale; at < svg.clientWidth; at += size * box.scale) {
    make("line", { x1: at, x2: at, y1: 0, y2: svg.clientHeight }, lines);
  }
  for (let at = svg.clientHeight - (Math.ceil(box.y / size) - box.y / size) * size * box.scale; at > 0; at -= size * box.scale) {
    make("line", { y1: at, y2: at, x1: 0, x2: svg.clientWidth }, lines);
  }
}

// Where a point of a body is after its displacement (x, y, angle about the world's origin).
export function moved([x, y], pose) {
  if (!pose) return [x, y];
  const [cos, sin] = [Math.cos(pose[2]), Math.sin(pose[2])];
  return [cos * x - sin * y + pose[0], sin * x + cos * y + pose[1]];
}

function pointsOf(state, body) {
  const found = [...Object.values(body.points)];
  for (const joint of state.joints) if (joint.point && joint.bodies.includes(body.number)) found.push(joint.point);
  const unlike = found.filter((p, k) => p.length === 2 && found.findIndex((q) => gap(p, q) < 1e-6) === k);
  const middle = [0, 1].map((k) => unlike.reduce((sum, p) => sum + p[k], 0) / unlike.length);
  return unlike.sort((a, b) => Math.atan2(a[1] - middle[1], a[0] - middle[0]) - Math.atan2(b[1] - middle[1], b[0] - middle[0]));
}

export function draw(state, poses = null) {
  svg.replaceChildren();
  drawUnderlay();
  grid();
  if (state.space !== "planar") {
    make("text", { x: 20, y: 60 }, svg).textContent = "A spatial mechanism: Play shows it in 3D, the tables edit it.";
    return;
  }
  const pose = (number) => poses?.[number - 1];
  for (const body of state.bodies.slice(1)) {
    const points = pointsOf(state, body).map((p) => toScreen(moved(p, pose(body.number))));
    if (!points.length) continue;
    const lit = store.lit.bodies.includes(body.number) ? " lit" : "";
    make("polygon", {
      class: `bar${lit}`, points: points.join(" "), "data-body": body.number, fill: points.length > 2 ? body.colour : "none",
      "fill-opacity": 0.25, stroke: body.colour, "stroke-width": 7,
    }, svg).append(Object.assign(make("title", {}), { textContent: `${body.number} ${body.name}${body.group ? `, SG-${body.group}` : ""}` }));
  }
  for (const { body, closed, points } of state.outlines) {
    const line = points.map((at) => toScreen(moved(at, pose(body)))).join(" "), colour = state.bodies[body - 1].colour;
    make(closed ? "polygon" : "polyline", { class: "profile", points: line, fill: closed ? colour : "none", "fill-opacity": 0.18, stroke: colour, "stroke-width": 2, "data-body": body }, svg);
  }
  for (const joint of state.joints) {
    if (joint.point?.length === 2) drawJoint(state, joint, pose);
    else if (joint.ratio && joint.points.length === 2 && joint.points.every(Boolean)) drawGear(state, joint, pose);
  }
  drawTrails(state, poses);
  for (const { at, body } of places(state)) {
    if (!body) continue;
    const [cx, cy] = toScreen(moved(at, pose(body.number)));
    make("circle", { cx, cy, r: 2.5, fill: "currentColor", "pointer-events": "none" }, svg);
  }
  for (const body of state.bodies.slice(1)) {
    const points = pointsOf(state, body).map((p) => toScreen(moved(p, pose(body.number))));
    if (!points.length) continue;
    const [x, y] = [0, 1].map((k) => points.reduce((sum, p) => sum + p[k], 0) / points.length);
    make("text", { x: x + 8, y: y - 8 }, svg).textContent = body.number;
  }
}

function drawJoint(state, joint, pose) {
  const onFrame = joint.bodies.includes(1);
  // A slider stays on its first moving body, a pin on any.
  const carrier = Math.max(...joint.bodies, 1);
  const [x, y] = toScreen(moved(joint.point, pose(carrier)));
  const classes = `pin${joint.driven ? " driven" : ""}${store.lit.joints.includes(state.ids[joint.index]) ? " lit" : ""}`;
  const shape = { class: classes, "data-joint": joint.index };
  if (joint.type === "SLOT") {
    // The slot is as long as the pin has come, and a little longer.
    const [dx, dy] = joint.axis ?? [1, 0], size = Math.hypot(dx, dy), holding = pose(joint.bodies[0]);
    const zero = moved(joint.point, holding), along = [0, 1].map((k) => (moved([joint.point[0] + dx / size, joint.point[1] + dy / size], holding)[k] - zero[k]));
    const now = moved(joint.point, pose(joint.bodies[1])), slid = (now[0] - zero[0]) * along[0] + (now[1] - zero[1]) * along[1];
    const ends = [Math.min(0, slid) - 20 / box.scale, Math.max(0, slid) + 20 / box.scale].map((s) => toScreen([zero[0] + s * along[0], zero[1] + s * along[1]]));
    const holder = state.bodies[joint.bodies[0] - 1]?.colour ?? "currentColor";
    for (const [stroke, width] of [[holder, 20], ["var(--back)", 14]]) make("line", { x1: ends[0][0], y1: ends[0][1], x2: ends[1][0], y2: ends[1][1], stroke, "stroke-width": width, "stroke-linecap": "round", "pointer-events": "none" }, svg);
    const [cx, cy] = toScreen(now);
    make("circle", { ...shape, cx, cy, r: 6 }, svg);
  } else if (joint.type === "P") {
    const [dx, dy] = joint.axis ?? [1, 0];
    const turn = (-Math.atan2(dy, dx) * 180) / Math.PI;
    make("rect", { ...shape, x: x - 13, y: y - 8, width: 26, height: 16, transform: `rotate(${turn} ${x} ${y})` }, svg);
    if (onFrame) make("path", { class: "ground", transform: `rotate(${turn} ${x} ${y})`, d: `M${x - 30} ${y + 11}h60m-54 0l-6 7m18-7l-6 7m18-7l-6 7m18-7l-6 7m18-7l-6 7` }, svg);
  } else {
    if (onFrame) make("path", { class: "ground", d: `M${x} ${y}l-10 15h20zm-15 15h30m-26 0l-5 7m13-7l-5 7m13-7l-5 7m13-7l-5 7` }, svg);
    make("circle", { ...shape, cx: x, cy: y, r: 6 }, svg);
  }
}

// Pitch circles of two wheels, each with a radius that turns with it.
function drawGear(state, joint, pose) {
  const distance = Math.hypot(...[0, 1].map((k) => joint.points[1][k] - joint.points[0][k]));
  const first = distance / Math.abs(1 + joint.ratio), radii = [first, first * Math.abs(joint.ratio)];
  radii.forEach((radius, k) => {
    const body = joint.bodies[k], [x, y] = joint.points[k];
    const [cx, cy] = toScreen(moved([x, y], pose(body))), [x2, y2] = toScreen(moved([x + radius, y], pose(body)));
    const look = { stroke: state.bodies[body - 1]?.colour ?? "currentColor", fill: "none", "stroke-width": 2 };
    make("circle", { ...look, cx, cy, r: radius * box.scale, "stroke-dasharray": "9 5", "data-joint": joint.index }, svg);
    make("line", { ...look, x1: cx, y1: cy, x2, y2 }, svg);
  });
}

// Paths of named points that are no joints, as far as the mechanism was moved.
let trails = {}, trailed = -1;
function drawTrails(state, poses) {
  if (trailed !== state.revision) [trails, trailed] = [{}, state.revision];
  if (!poses) return;
  for (const { at, body } of places(state)) {
    if (!body || state.joints.some((joint) => joint.point && Math.hypot(joint.point[0] - at[0], joint.point[1] - at[1]) < 1e-6)) continue;
    const trail = (trails[`${body.number} ${at}`] ??= []), now = moved(at, poses[body.number - 1]);
    if (!trail.length || Math.hypot(now[0] - trail.at(-1)[0], now[1] - trail.at(-1)[1]) > 1 / box.scale) trail.push(now);
    if (trail.length > 4000) trail.shift();
    make("polyline", { class: "trail", points: trail.map(toScreen).join(" "), stroke: body.colour }, svg);
  }
}

// A picture under the drawing, with its lower left corner at the origin.
export const underlay = { href: "", width: 0, height: 0 };
function drawUnderlay() {
  if (!underlay.href) return;
  const [x, y] = toScreen([0, underlay.height]);
  make("image", { href: underlay.href, x, y, width: underlay.width * box.scale, height: underlay.height * box.scale, opacity: 0.45, preserveAspectRatio: "none", "pointer-events": "none" }, svg);
}
