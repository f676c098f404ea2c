"use strict";
// The data of the page, as groups.pictures.page writes them in #motion.

const $ = (id) => document.getElementById(id);

function readMotion() {
  const data = JSON.parse($("motion").textContent);
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
  const floats = (text) => new Float32Array(bytes(text));
  const time = data.time;
  const count = time.length;
  return {
    ...data, time, count,
    duration: time[count - 1] - time[0],
    poses: floats(data.poses), // frames × bodies × (x, y, z, qw, qx, qy, qz)
    says: new Uint16Array(bytes(data.says)),
    solids: data.solids.map((solid) => ({ ...solid, corners: floats(solid.corners) })),
    curves: data.curves.map((curve) => ({ ...curve, parts: curve.parts.map(floats) })),
    forces: data.forces.map((each) => ({ ...each, at: floats(each.at), force: floats(each.force) })), // frames × (x, y, z)
    paths: data.paths.map((path) => ({ ...path, rates: path.rates.map(floats) })), // frames × (x, y, z)
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
