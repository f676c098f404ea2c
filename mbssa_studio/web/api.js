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

const SILENT = "The studio does not answer. Start it again by mbssa studio: the drawing was saved at its last edit.";

// A lasting request is made even if the page is left meanwhile, for which a browser sets a limit of 64 kB.
export async function call(name, given = {}, quiet = false, lasting = false) {
  let response;
  const body = JSON.stringify(given);
  try {
    response = await fetch(name, { method: "POST", headers: { "Content-Type": "application/json" }, body, keepalive: lasting && body.length < 15_000 });
  } catch {
    say(SILENT);
    throw new Error(SILENT);
  }
  return read(response, quiet);
}

// A file that the studio makes.
export async function get(address, signal) {
  const response = await fetch(address, { signal });
  if (response.ok) return response;
  throw new Error(JSON.parse(await response.text()).error);
}

export function offer(address, name) {
  const link = document.createElement("a");
  Object.assign(link, { href: address, download: name });
  link.click();
}

// Save a file that the studio makes, or say why there is none.
export async function download(address, name) {
  try {
    const response = await get(address), lost = JSON.parse(response.headers.get("x-lost") ?? "[]");
    const made = URL.createObjectURL(await response.blob());
    offer(made, name);
    setTimeout(() => URL.revokeObjectURL(made), 60_000);
    if (lost.length) say(`${name} does not keep: ${lost.join("; ")}`, true);
  } catch (error) { say(error instanceof TypeError ? SILENT : error.message); }
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
    const state = await call(name, { revision: store.state.revision, ...given }, false, true);
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
