// Moving the mechanism: sliders of the driven coordinates, and dragging a driven link.
import { call, edit, refresh, say, store } from "./api.js";
import { moved } from "./drawing.js";

let found = null, revision = -1, wanted = null, busy = false, returns = 0;
export const rate = { frames: 0 };

const current = () => (found && revision === store.state?.revision ? found : null);
export const poses = () => current()?.poses ?? null;

// Show the reference again: answers that are on their way are late.
export function rest() {
  [found, wanted] = [null, null];
  returns += 1;
  for (const range of document.querySelectorAll("#inputs input")) range.value = 0;
}

// One request at a time; the newest wish replaces those that were not sent yet.
export async function pose(values) {
  wanted = values;
  if (busy) return;
  busy = true;
  try {
    while (wanted) {
      const values = wanted, asked = store.state.revision, before = returns;
      wanted = null;
      const answer = await call("pose", { values });
      if (asked !== store.state.revision || before !== returns) continue;
      shown(answer, asked);
    }
  } catch { wanted = null; } finally { busy = false; }
}

// Show an answer: in the drawing, or in the player of a mechanism in space.
export function shown(answer, asked = store.state.revision) {
  if (answer.failed) { say(answer.failed.join("; ")); return; }
  say("");
  [found, revision] = [answer, asked];
  rate.frames += 1;
  if (answer.placed) document.getElementById("player").contentWindow?.postMessage({ poses: answer.placed }, "*");
  refresh();
}

export function dragInput(start, at) {
  const { state } = store;
  const input = state.inputs.find((each) => each.bodies.includes(start.body)) ?? (state.inputs.length === 1 ? state.inputs[0] : null);
  if (!input) { say("move: drag a driven link, or a slider below"); return; }
  if (!poses()) { pose({}); return; }
  const joint = state.joints.find((each) => each.driven && input.bodies.every((body) => each.bodies.includes(body)));
  const before = found.values[input.name];
  start.value ??= before;
  const pivot = moved(joint.point, poses()[input.bodies[0] - 1]);
  let step;
  if (input.coordinate === "angle") {
    const angle = ([x, y]) => Math.atan2(y - pivot[1], x - pivot[0]);
    step = angle(at) - angle(start.raw);
    step -= 2 * Math.PI * Math.round(step / (2 * Math.PI));
  } else {
    const axis = joint.axis ?? [1, 0], length = Math.hypot(...axis);
    step = ((at[0] - start.raw[0]) * axis[0] + (at[1] - start.raw[1]) * axis[1]) / length * state.metres;
  }
  start.value += step;
  start.raw = at;
  pose({ ...found.values, [input.name]: start.value });
}

let sliders = -1, marked = Promise.resolve();  // one range at a time: a browser has six connections, and poses need one
export function showInputs(state) {
  const place = document.getElementById("inputs");
  if (sliders !== state.revision) {
    sliders = state.revision;
    place.replaceChildren();
    if (!state.determined) return;
    for (const input of state.inputs) place.append(slider(input, state));
    const take = document.createElement("button");
    Object.assign(take, { id: "reference", textContent: "Make this the reference", onclick: () => edit("take_pose", { poses: poses() }) });
    place.append(take);
  }
  const take = document.getElementById("reference");
  if (take) take.hidden = !poses();
  for (const range of place.querySelectorAll("input")) {
    if (current() && document.activeElement !== range) range.value = found.values[range.name] - found.reference[range.name];
  }
}

function slider(input, state) {
  const label = document.createElement("label"), range = document.createElement("input");
  const turns = input.coordinate.startsWith("angle"), reach = turns ? Math.PI : state.reach;
  Object.assign(range, { type: "range", min: -reach, max: reach, step: reach / 360, value: 0, name: input.name });
  range.title = "from the reference, half a turn or half the size to each side";
  range.oninput = async () => {
    const step = Number(range.value);  // an answer sets the sliders
    if (!current()) await pose({});
    if (current()) pose({ ...found.values, [input.name]: found.reference[input.name] + step });
  };
  const column = document.createElement("span");
  column.append(range, document.createElement("i"));
  label.append(input.name, column);
  marked = marked.then(() => mark(range, input, state.revision));
  return label;
}

// How far the input goes is a band below its slider, orange where joints are beyond their limits: outside are
// dead points, or what cannot be assembled.
async function mark(range, { name, unit, scale }, revision) {
  let low, high, least, most;
  if (revision !== store.state.revision) return;
  try { ({ low, high, least, most } = await call("reach", { name }, true)); } catch { return; }  // Findings say why
  if (revision !== store.state.revision) return;
  const shown = (value) => (value / scale).toPrecision(4);
  const place = (value) => `${(100 * (value - range.min)) / (range.max - range.min)}%`;
  range.nextSibling.style.setProperty("--low", place(low));
  range.nextSibling.style.setProperty("--high", place(high));
  range.nextSibling.style.setProperty("--least", place(least));
  range.nextSibling.style.setProperty("--most", place(most));
  if (least > low || most < high) range.title += `; limits of joints are kept from ${shown(least)} to ${shown(most)} ${unit}`;
  range.dataset.reach = `${low} ${high}`;
  range.title += `; the groups can be solved from ${shown(low)} to ${shown(high)} ${unit}`;
}
