// The page: it joins the parts, and follows what other tabs do.
import { call, change, download, edit, offer, onState, say, show, store, upload } from "./api.js";
import { box, draw, fit, lost, resized, svg, toScreen, underlay } from "./drawing.js";
import { poses, rate, showInputs } from "./move.js";
import { buildTabs, element, showPanel } from "./panels.js";
import { buildTools, zoom } from "./tools.js";

const at = (name) => document.getElementById(name);
window.studio = { store, rate, toScreen, view: box };  // for tests

let shown = "";
onState((state, changed) => {
  at("name").textContent = state.name;
  document.title = `${state.name}, mbssa studio`;
  at("summary").textContent = state.mobility === null ? "not yet a mechanism" : `mobility ${state.mobility}, ${state.inputs.length} driven, ${state.determined ? `${state.groups.length} group${state.groups.length === 1 ? "" : "s"}` : "not determined"}`;
  at("undo").disabled = !state.undo;
  at("redo").disabled = !state.redo;
  showInputs(state);
  if (changed) {
    say(state.note, true);
    player(false);
    // A model that was opened or has another unit is fitted; one that is drawn stays where it is.
    const model = `${state.name} ${state.unit}`;
    if (model !== shown || lost(state)) fit(state);
    shown = model;
  }
  draw(state, poses());
  showPanel(state, changed);
});

// The player of the motion; at rest, a mechanism in space is shown there at its reference, and follows the sliders.
// The page is made before it is opened, so that what cannot be played is a sentence.
let plays = 0;
async function player(playing) {
  const frame = at("player"), { state } = store, play = ++plays;
  const still = !playing && state.space === "spatial" && state.placed;
  at("play").setAttribute("aria-pressed", playing);
  if (!playing && (!still || state.name !== shown)) [frame.hidden, frame.className] = [true, ""];
  if (!playing && !still) return;
  if (playing) say("The motion is computed …", true);
  try {
    await call("play", { still }, true);
  } catch (error) {
    if (play !== plays) return;
    say(error.message);
    at("play").setAttribute("aria-pressed", false);
    return;
  }
  if (play !== plays) return;
  if (playing) say("");
  frame.src = `player?${playing ? "" : "still&"}${state.revision}`;
  frame.className = still ? "still" : "";
  frame.hidden = false;
  frame.onload = () => still && frame.contentWindow.postMessage({ handles: handles(state), view: state.name === viewed.name ? viewed.view : null }, "*");
}

// Points and axes that can be dragged in the view of a mechanism in space, m.
const metres = (at) => at.map((value) => value * store.state.metres);
const handles = (state) => state.joints.filter(({ point }) => point?.length === 3).map(({ index, point, axis }) => ({ joint: index, at: metres(point), axis: Array.isArray(axis) ? axis : null }));
let viewed = {};
addEventListener("message", ({ source, data }) => {
  if (source !== at("player").contentWindow || !data?.field) return;
  const { state } = store, { point } = state.joints[data.joint];
  viewed = { name: state.name, view: data.view };
  if (data.field === "axis") edit("set_field", { index: data.joint, field: "axis", value: data.after });
  else edit("move_point", { before: point, after: point.map((value, i) => value + (data.after[i] - data.before[i]) / state.metres) });
});

async function link() {
  const { link } = await call("link");
  history.replaceState(null, "", link);
  say(`The address now carries the model. In another studio: mbssa studio "${link.slice(0, 24)}…", with the whole of it.`, true);
}

async function gallery() {
  const { names, recent } = await call("examples");
  const card = (name, open, picture) => element("button", { onclick: () => { at("models").close(); change(open, { name }); } },
    ...(picture ? [element("img", { alt: "" })] : []), name);
  at("recent").replaceChildren(...(recent.length ? recent.map((name) => card(name, "recent", false)) : ["none yet"]));
  if (!at("builtin").children.length) at("builtin").append(...names.map((name) => card(name, "example", true)));
  at("models").showModal();
  thumbnails = thumbnails.then(picture);
}

// Pictures of the models come one at a time, those in sight first, while the gallery is open: a browser has six
// connections, and edits need one.
let thumbnails = Promise.resolve();
async function picture() {
  const inSight = (image) => { const { top, bottom } = image.getBoundingClientRect(); return bottom > 0 && top < innerHeight; };
  while (at("models").open) {
    const left = [...at("builtin").querySelectorAll("img:not([src])")];
    const image = left.find(inSight) ?? left[0];
    if (!image) return;
    await new Promise((done) => {
      image.onload = image.onerror = at("models").onclose = done;
      image.src = `thumbnail/${image.parentNode.textContent}/svg`;
    });
    if (!image.complete) image.removeAttribute("src");  // closed: its request ends
  }
}

// A picture to draw over: the width that a person says gives its scale; without a width it goes.
function lay(file) {
  const reader = new FileReader(), picture = new Image();
  reader.onload = () => { picture.src = reader.result; };
  picture.onload = () => {
    const width = Number(prompt(`Width of the whole picture in ${store.state.unit}; its lower left corner is put at the origin`, "200"));
    if (width > 0) Object.assign(underlay, { href: picture.src, width, height: (width * picture.naturalHeight) / picture.naturalWidth });
    else underlay.href = "";
    draw(store.state, poses());
  };
  picture.onerror = () => say(`${file.name}: no picture; choose a PNG, JPEG or SVG`);
  reader.readAsDataURL(file);
}

function save() {
  const kind = at("save").value;
  at("save").value = "";
  if (kind === "svg") {
    const copy = svg.cloneNode(true);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("viewBox", `0 0 ${svg.clientWidth} ${svg.clientHeight}`);
    copy.insertAdjacentHTML("afterbegin", "<style>.grid{stroke:#e9edf1}.ground{fill:none;stroke:#56606b}.pin{fill:#fff;stroke:#1b2128}.driven{stroke:#D55E00;stroke-width:3}text{font:12px sans-serif}</style>");
    offer(`data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`, `${store.state.name}.svg`);
  } else if (kind === "player") download("player", `${store.state.name}.html`);
  else if (kind === "link") link();
  else if (kind) download(`save/${kind}`, `${store.state.name}.${kind}`);
}

buildTools();
buildTabs();
const button = Object.assign(document.createElement("button"), { id: "play", textContent: "▶ Play", title: "Play the motion in 3D, whole, by level or by group", onclick: () => player(button.getAttribute("aria-pressed") !== "true") });
at("tools").append(button);
at("undo").onclick = () => change("undo");
at("redo").onclick = () => change("redo");
at("new").onclick = () => change("new");
at("open").onchange = () => { if (at("open").files[0]) upload(at("open").files[0]); at("open").value = ""; };
at("save").onchange = save;
at("underlay").onchange = () => { if (at("underlay").files[0]) lay(at("underlay").files[0]); at("underlay").value = ""; };
at("gallery").onclick = gallery;
at("theme").onclick = () => { const dark = getComputedStyle(document.documentElement).colorScheme === "dark"; document.documentElement.style.colorScheme = dark ? "light" : "dark"; };
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => { event.preventDefault(); if (event.dataTransfer.files[0]) upload(event.dataTransfer.files[0]); });
at("fit").onclick = () => { fit(store.state); draw(store.state, poses()); };
at("nearer").onclick = () => zoom(1.5);
at("farther").onclick = () => zoom(1 / 1.5);
new ResizeObserver(() => { if (store.state && resized(store.state)) draw(store.state, poses()); }).observe(svg);

show(await call("state"));
if (location.hash.startsWith("#model=")) await change("open_link", { link: location.hash });
let silent = false, asking = false;
setInterval(async () => {
  if (document.hidden || asking) return;
  asking = true;
  try {
    const { revision } = await call("revision");
    if (silent) say("");
    silent = false;
    if (revision <= store.state.revision) return;
    // An edit of this page may have been answered meanwhile; what is being typed there is not to be replaced.
    const state = await call("state");
    if (state.revision > store.state.revision) show(state);
  } catch { silent = true; } finally { asking = false; }
}, 1500);
