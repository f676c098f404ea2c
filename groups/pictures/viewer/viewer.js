// Plays a solved motion: puts the parts of the page together.

(() => {
  const motion = readMotion();
  const root = document.documentElement;
  $("about").textContent = motion.about;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  root.dataset.theme = dark.matches ? "dark" : "light";

  // --- a surface: WebGL, or without it a drawing of the same scene in SVG ---------------------------

  let renderer = null;
  let solid = true;
  try {
    renderer = new THREE.WebGLRenderer({ canvas: $("scene"), antialias: true });
  } catch {
    solid = false;
    renderer = new THREE.SVGRenderer();
    renderer.setQuality("low");
    for (const name of ["id", "tabindex", "aria-label"]) renderer.domElement.setAttribute(name, $("scene").getAttribute(name));
    $("scene").replaceWith(renderer.domElement);
  }
  const surface = $("scene");
  let dirty = true;
  const redraw = () => { dirty = true; };

  const scene = new THREE.Scene();
  const box = { low: vector(motion.low), high: vector(motion.high) };
  const size = box.low.distanceTo(box.high) || 1;
  const up = vector(motion.up);
  const sky = solid ? new THREE.HemisphereLight(0xffffff, 0x99a0a8, 2.2) : new THREE.AmbientLight(0xffffff, 0.55);
  const sun = new THREE.DirectionalLight(0xffffff, solid ? 1.6 : 0.5);
  sky.position.copy(up);
  scene.add(sky, sun);
  const mechanism = buildMechanism(motion, scene, solid ? 18 : 7);
  const arrows = buildArrows(motion, scene, size);
  const paths = buildPaths(motion, scene, mechanism, arrows);
  const forces = buildForces(motion, arrows);
  const grid = buildGrid(motion, box, size);
  scene.add(grid);
  const { camera, controls, reset } = buildCamera(motion, surface, box, size, redraw);
  const handles = buildHandles(motion, scene, camera, controls, surface, size, redraw);
  window.handles = handles; // for tests
  const panel = buildPanel(motion, mechanism, () => { again(); });
  const labels = buildLabels(mechanism.bodies, camera);

  // --- one instant ----------------------------------------------------------------------------------

  let frame = -1;
  const show = (f) => { if (f !== frame) { frame = f; again(); } };
  const again = () => {
    dirty = true;
    if (frame < 0) return;
    mechanism.lay(frame);
    paths.lay(frame);
    forces.lay(frame);
    panel.mark();
    inputs(frame);
    curves.show(frame);
    $("slider").value = frame;
    $("clock").textContent = `t = ${digits(motion.time[frame], 5)} s`;
    const missing = mechanism.bodies.filter((body) => !body.solved).map((body) => body.name);
    const fault = motion.reasons[motion.says[frame]];
    const left = missing.length ? `; not drawn: ${missing.slice(0, 6).join(", ")}${missing.length > 6 ? " …" : ""}` : "";
    const text = panel.about + (fault ? fault + left : motion.note || "All groups solved at this instant.");
    $("status").className = fault ? "fault" : "";
    if ($("status").textContent !== text) $("status").textContent = text;
  };
  const playback = buildPlayback(motion, show, () => { if (panel.staged) panel.next(); });
  const inputs = buildInputs(motion, playback.seek);
  const curves = buildCurves(motion, playback.seek);

  // --- controls -------------------------------------------------------------------------------------

  const keys = {
    " ": playback.toggle, ArrowLeft: () => playback.step(-1), ArrowRight: () => playback.step(1),
    Home: () => playback.seek(0), End: () => playback.seek(motion.count - 1),
    "[": () => panel.next(-1), "]": () => panel.next(1),
    f: () => (document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen()),
  };
  addEventListener("keydown", (event) => {
    const typed = event.target === surface || event.target === document.body;
    if (!typed || !keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  $("stages").onchange = () => panel.enter(0);

  let pressed = null;
  surface.addEventListener("pointerdown", (event) => { pressed = [event.clientX, event.clientY]; });
  surface.addEventListener("pointerup", (event) => {
    if (!pressed || Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) > 4) return;
    const at = new THREE.Vector2((2 * event.clientX) / innerWidth - 1, 1 - (2 * event.clientY) / innerHeight);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, camera);
    const hit = ray.intersectObjects(mechanism.bodies.filter(({ group }) => group.visible).map(({ group }) => group))[0];
    if (hit) panel.choose([hit.object.userData.body]);
    else if (panel.chosen !== null) panel.choose([...panel.chosen]);
  });

  const pressing = (id, change, there = true) => {
    $(id).hidden = !there;
    $(id).onclick = () => {
      const on = $(id).getAttribute("aria-pressed") !== "true";
      $(id).setAttribute("aria-pressed", String(on));
      change(on);
      again();
    };
  };
  pressing("names", (on) => { $("labels").hidden = !on; });
  pressing("paths", (on) => { paths.shown.paths = on; }, paths.count > 0);
  pressing("forces", (on) => { forces.shown.forces = on; }, forces.count > 0);
  $("forces").title = `Arrows of the forces on bodies at their joints; the longest is ${digits(forces.longest, 3)} N${motion.open ? "; without the components that redundant constraints leave open" : ""}`;
  ["velocity", "acceleration"].forEach((name, level) => {
    pressing(name, (on) => { paths.shown.levels[level] = on; }, paths.longest[level] > 0);
    $(name).title = `Arrows at the points with a path; the longest is ${digits(paths.longest[level], 3)} ${level ? "m/s²" : "m/s"}`;
  });
  $("view").onclick = reset;
  $("from").onchange = reset;
  $("coordinate").onchange = () => { curves.choose($("coordinate").value); again(); if (!turned) reset(); };

  const download = (name, address) => element("a", { href: address, download: name }).click();
  const text = (content, kind) => URL.createObjectURL(new Blob([content], { type: kind }));
  $("model").hidden = !motion.model;
  $("model").onclick = () => download(`${motion.name}.toml`, text(motion.model, "application/toml"));
  $("png").textContent = solid ? "PNG" : "SVG";
  $("png").onclick = () => {
    draw();
    if (!solid) return download(`${motion.name}.svg`, text(new XMLSerializer().serializeToString(surface), "image/svg+xml"));
    const sheet = element("canvas", { width: surface.width, height: surface.height });
    const pen = sheet.getContext("2d");
    const scale = surface.width / innerWidth;
    const style = getComputedStyle(root);
    pen.drawImage(surface, 0, 0);
    pen.scale(scale, scale);
    pen.textBaseline = "top";
    pen.lineJoin = "round";
    const write = (words, x, y, font) => {
      Object.assign(pen, { font, lineWidth: 3, strokeStyle: style.getPropertyValue("--halo"), fillStyle: style.getPropertyValue("--ink") });
      pen.strokeText(words, x, y);
      pen.fillText(words, x, y);
    };
    if (!$("labels").hidden) for (const { text: words, at } of labels.shown()) write(words, at[0], at[1], "12px system-ui, sans-serif");
    write(`${document.title}, ${$("clock").textContent}`, 16, 14, "600 15px system-ui, sans-serif");
    return download(`${motion.name}.png`, sheet.toDataURL("image/png"));
  };

  const paint = () => {
    const style = getComputedStyle(root);
    renderer.setClearColor(new THREE.Color(style.getPropertyValue("--paper").trim()));
    grid.material.color.set(style.getPropertyValue("--grid").trim());
    const night = root.dataset.theme === "dark";
    paths.paint(night ? "#e8ebef" : "#3c434b");
    for (const { materials } of mechanism.bodies) materials[DARK].color.set(night ? "#59626d" : "#23272c");
    redraw();
  };
  $("theme").onclick = () => { root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark"; paint(); };
  dark.addEventListener("change", () => { root.dataset.theme = dark.matches ? "dark" : "light"; paint(); });

  if (motion.count === 1) root.dataset.still = "";
  // The page that holds this one may pose the bodies: (x, y, z, qw, qx, qy, qz) of each, m. It does so where
  // there is one instant, and nothing to play.
  if (motion.count === 1 && parent !== window) $("inputs").hidden = true;
  const rest = motion.poses.slice();
  addEventListener("message", ({ source, data }) => {
    if (source !== parent || source === window || motion.count > 1) return;
    if (data?.handles) handles.lay(data.handles);
    if (data?.view) { turned = true; handles.look(data.view); }
    if (data?.poses?.length !== mechanism.bodies.length) return;
    data.poses.forEach((pose, k) => motion.poses.set(pose.map((c, i) => c - (motion.centre[i] ?? 0)), 7 * k));
    handles.show(motion.poses.every((value, i) => Math.abs(value - rest[i]) < 1e-4 * size));
    again();
  });

  // --- go -------------------------------------------------------------------------------------------

  const fit = () => {
    if (solid) renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    if (solid) renderer.setSize(innerWidth, innerHeight, false); else renderer.setSize(innerWidth, innerHeight);
    camera.aspect = innerWidth / innerHeight;
    camera.updateProjectionMatrix();
    redraw();
  };
  const draw = () => {
    sun.position.copy(camera.position).addScaledVector(up, size);
    renderer.render(scene, camera);
    if (!$("labels").hidden) labels.lay(panel.chosen);
  };
  let turned = false;
  controls.addEventListener("start", () => { turned = true; });
  addEventListener("resize", () => { fit(); if (!turned) reset(); });
  $("panel").addEventListener("toggle", () => { if (!turned) reset(); });
  fit();
  paint();
  show(0);
  reset();
  const tick = (stamp) => {
    requestAnimationFrame(tick);
    playback.tick(stamp);
    if (!dirty) return;
    dirty = false;
    draw();
  };
  requestAnimationFrame(tick);
  playback.play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
})();
