// Requests of the session, and the state that all parts of the page show.
export const store = { state: null, findings: null, lit: { bodies: [], joints: [] } };
const listeners = [];

export function onState(listener) { listeners.push(listener); }

export function show(state) {
  const changed = !store.state || store.state.revision !== state.revision;
  store.state = state;
  if (changed) { store.findings = null; store.lit = { bodies: [], joints: [] }; }
  refresh(changed);
}

export function refresh(changed = false) { for (const listener of listeners) listener(store.state, changed); }

export function say(text, note = false) {
  const place = document.getElementById("message");
  place.textContent = text;
  place.hidden = !text;
  place.className = note ? "note" : "";
}

export async function call(name, given = {}, quiet = false) {
  let response;
  try {
    response = await fetch(name, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(given) });
  } catch {
    say("The studio does not answer. Start it again by mbssa studio: the drawing was saved at its last edit.");
    throw new Error("no answer");
  }
  return read(response, quiet);
}

// Text of a file that the studio makes.
export async function get(address) {
  const response = await fetch(address), text = await response.text();
  if (response.ok) return text;
  throw new Error(JSON.parse(text).error);
}

async function read(response, quiet = false) {
  const text = await response.text();
  let found;
  try { found = JSON.parse(text); } catch { found = { error: text }; }
  if (!response.ok || found.error) { if (!quiet) say(found.error || `refused (${response.status})`); throw new Error(found.error); }
  return found;
}

// Edits are made one after another, each on the state that the one before has left.
let last = Promise.resolve();
export function change(name, given = {}) {
  const made = last.then(async () => {
    const state = await call(name, { revision: store.state.revision, ...given });
    show(state);
    return state;
  });
  last = made.catch(() => {});
  return made.catch(() => {});
}

export const edit = (name, args) => change("edit", { name, arguments: args });

export async function upload(file) {
  try {
    const headers = { "Content-Type": "application/octet-stream" };
    show(await read(await fetch(`open?name=${encodeURIComponent(file.name)}`, { method: "POST", headers, body: file })));
  } catch (error) { if (error instanceof TypeError) say(`${file.name}: not read; it may be too large`); }
}
