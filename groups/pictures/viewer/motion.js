"use strict";
// The data of the page, as groups.pictures.page writes them in #motion.

const $ = (id) => document.getElementById(id);

function readMotion() {
  const data = JSON.parse($("motion").textContent);
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
  const floats = (text) => new Float32Array(bytes(text));
  const time = data.time;
  const count = time.length;
  // Bodies are numbered by the mechanism; those that are drawn, by their poses.
  const place = new Map(data.bodies.map((body, k) => [body.index, k]));
  const placed = (part) => ({ ...part, body: place.get(part.body) });
  const tubes = new Set(data.lines.filter(({ kind }) => kind === "tube").map(({ joint }) => joint));
  const readMark = ({ type: [solid, slide, line], bodies, origin, axes, seat, driven, joint }) => {
    const [body, other] = [bodies[seat], bodies[1 - seat]].map((index) => place.get(index));
    return { solid, slide, driven, body, other: other ?? body, at: origin[seat], axes: axes[seat], mouth: tubes.has(joint),
      frame: slide === null && bodies.includes(0) ? origin[bodies.indexOf(0)] : null,
      rod: line === "rod" && other !== undefined ? origin[1 - seat] : null };
  };
  return {
    ...data, time, count,
    lines: data.lines.map(placed),
    marks: data.marks.map(readMark),
    duration: time[count - 1] - time[0],
    poses: floats(data.poses), // frames × bodies × (x, y, z, qw, qx, qy, qz)
    says: new Uint16Array(bytes(data.says)),
    solids: data.solids.map((solid) => ({ ...placed(solid), corners: floats(solid.corners) })),
    curves: data.curves.map((curve) => ({ ...curve, parts: curve.parts.map(floats) })),
    forces: data.forces.map((each) => ({ ...each, at: floats(each.at), force: floats(each.force) })), // frames × (x, y, z)
    paths: data.paths.map((path) => ({ ...placed(path), rates: path.rates.map(floats) })), // frames × (x, y, z)
    frameAt(t) { // the last instant that is not after t
      let low = 0, high = count - 1;
      while (low < high) {
        const half = (low + high + 1) >> 1;
        if (time[half] <= t) low = half; else high = half - 1;
      }
      return low;
    },
  };
}

// Rounding is shown as 0.
const digits = (value, n = 4) => String(Number((Math.abs(value) < 1e-12 ? 0 : value).toPrecision(n)));

function element(kind, properties = {}, ...parts) {
  const made = Object.assign(document.createElement(kind), properties);
  made.append(...parts);
  return made;
}
