// The page: it joins the parts, and follows what other tabs do.
import { call, change, onState, say, show, store, upload } from "./api.js";
import { draw, fit, places, svg, toScreen } from "./drawing.js";
import { poses, rate, showInputs } from "./move.js";
import { buildTabs, showPanel } from "./panels.js";
import { buildTools } from "./tools.js";

const at = (name) => document.getElementById(name);
window.studio = { store, rate };  // for tests

let shown = "";
onState((state, changed) => {
  at("name").textContent = state.name;
  document.title = `${state.name}, mbssa studio`;
  at("summary").textContent = state.mobility === null ? "not yet a mechanism" : `mobility ${state.mobility}, ${state.inputs.length} driven, ${state.determined ? `${state.groups.length} group${state.groups.length === 1 ? "" : "s"}` : "not determined"}`;
  at("undo").disabled = !state.undo;
  at("redo").disabled = !state.redo;
  if (changed) {
    say(state.note, true);
    at("player").hidden = true;
    at("play").setAttribute("aria-pressed", false);
    // A model that was opened is fitted; one that is drawn stays where it is.
    const outside = places(state).some((place) => { const [x, y] = toScreen(place.at); return x < 0 || y < 0 || x > svg.clientWidth || y > svg.clientHeight; });
    if (state.name !== shown || outside) fit(state);
    shown = state.name;
  }
  draw(state, poses());
  showInputs(state);
  showPanel(state, changed);
});

function play() {
  const frame = at("player"), on = frame.hidden;
  if (on) frame.src = `player?${store.state.revision}`;
  frame.hidden = !on;
  at("play").setAttribute("aria-pressed", on);
}

function download(address, name) {
  const link = document.createElement("a");
  Object.assign(link, { href: address, download: name });
  link.click();
}

function save() {
  const kind = at("save").value;
  at("save").value = "";
  if (kind === "svg") {
    const copy = svg.cloneNode(true);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("viewBox", `0 0 ${svg.clientWidth} ${svg.clientHeight}`);
    copy.insertAdjacentHTML("afterbegin", "<style>.grid{stroke:#e9edf1}.ground{fill:none;stroke:#56606b}.pin{fill:#fff;stroke:#1b2128}.driven{stroke:#D55E00;stroke-width:3}text{font:12px sans-serif}</style>");
    download(`data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`, `${store.state.name}.svg`);
  } else if (kind === "player") download("player", `${store.state.name}.html`);
  else if (kind) download(`save/${kind}`, `${store.state.name}.${kind}`);
}

buildTools();
buildTabs();
const button = Object.assign(document.createElement("button"), { id: "play", textContent: "▶ Play", title: "Play the motion in 3D, whole, by level or by group", onclick: play });
at("tools").append(button);
at("undo").onclick = () => change("undo");
at("redo").onclick = () => change("redo");
at("new").onclick = () => change("new");
at("open").onchange = () => { if (at("open").files[0]) upload(at("open").files[0]); at("open").value = ""; };
at("save").onchange = save;
at("examples").onchange = () => { if (at("examples").value) change("example", { name: at("examples").value }); at("examples").value = ""; };
at("theme").onclick = () => { const dark = getComputedStyle(document.documentElement).colorScheme === "dark"; document.documentElement.style.colorScheme = dark ? "light" : "dark"; };
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => { event.preventDefault(); if (event.dataTransfer.files[0]) upload(event.dataTransfer.files[0]); });
new ResizeObserver(() => store.state && draw(store.state, poses())).observe(svg);

show(await call("state"));
for (const name of (await call("examples")).names) at("examples").append(new Option(name, name));
let silent = false;
setInterval(async () => {
  if (document.hidden) return;
  try {
    const { revision } = await call("revision");
    if (silent) say("");
    silent = false;
    if (revision <= store.state.revision) return;
    // An edit of this page may have been answered meanwhile; what is being typed there is not to be replaced.
    const state = await call("state");
    if (state.revision > store.state.revision) show(state);
  } catch { silent = true; }
}, 1500);
