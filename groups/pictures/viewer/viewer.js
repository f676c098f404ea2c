// Plays a solved motion. Everything it shows comes from the JSON in #motion, made by groups.pictures.page.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("motion").textContent);
  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;
  const time = new Float64Array(bytes(data.time));
  const poses = new Float32Array(bytes(data.poses)); // frames × bodies × (x, y, z, qw, qx, qy, qz)
  const says = new Uint16Array(bytes(data.says));
  const count = time.length;
  const root = document.documentElement;

  $("about").textContent = data.about;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  root.dataset.theme = dark.matches ? "dark" : "light";

  let renderer;
  try {
    renderer = new THREE.WebGLRenderer({ canvas: $("scene"), antialias: true });
  } catch {
    $("status").className = "fault";
    $("status").textContent = "This browser cannot draw the mechanism: WebGL is missing or switched off.";
    return;
  }

  // --- the mechanism -----------------------------------------------------------------------------

  const r = data.radius;
  const scene = new THREE.Scene();
  const up = new THREE.Vector3(...data.up);
  const sky = new THREE.HemisphereLight(0xffffff, 0x99a0a8, 2.2);
  const sun = new THREE.DirectionalLight(0xffffff, 1.6);
  sky.position.copy(up);
  scene.add(sky, sun);

  const colours = new Map();
  const material = (colour, see = 1) => {
    const made = new THREE.MeshLambertMaterial({ color: colour, side: THREE.DoubleSide });
    made.opacity = see;
    made.transparent = see < 1;
    made.depthWrite = see === 1;
    made.userData.see = see;
    return made;
  };
  const bodies = data.bodies.map((body) => {
    const group = new THREE.Group();
    scene.add(group);
    colours.set(group, [material(body.colour), material(body.colour, 0.35), material("#23272c"),
      material("#d55e00"), material("#c9ced4")]);
    return { ...body, group, anchor: new THREE.Vector3(), shown: true };
  });
  const vector = (numbers, lift = 0) => new THREE.Vector3(numbers[0], numbers[1], numbers[2] + lift);
  const lift = (k) => bodies[k].layer * 2.1 * r;

  const mesh = (k, geometry, which) => {
    const made = new THREE.Mesh(geometry, colours.get(bodies[k].group)[which]);
    made.userData.body = k;
    bodies[k].group.add(made);
    return made;
  };
  const Y = new THREE.Vector3(0, 1, 0);
  const bar = (k, from, to, radius, which = 0, open = false) => {
    const along = to.clone().sub(from);
    const made = mesh(k, new THREE.CylinderGeometry(radius, radius, along.length() || 1e-9, 18, 1, open), which);
    made.position.copy(from).addScaledVector(along, 0.5);
    made.quaternion.setFromUnitVectors(Y, along.normalize());
    return made;
  };
  const ball = (k, at, radius, which) => mesh(k, new THREE.SphereGeometry(radius, 24, 16), which).position.copy(at);
  const axle = (k, at, axis, half, radius, which) =>
    bar(k, at.clone().addScaledVector(axis, -half), at.clone().addScaledVector(axis, half), radius, which);
  const block = (k, at, axes, size, which) => {
    const made = mesh(k, new THREE.BoxGeometry(...size), which);
    const [x, y, z] = [0, 1, 2].map((i) => new THREE.Vector3(axes[0][i], axes[1][i], axes[2][i]));
    made.quaternion.setFromRotationMatrix(new THREE.Matrix4().makeBasis(x, y, z));
    made.position.copy(at);
  };

  bodies.forEach((body, k) => {
    const points = body.points.map((point) => vector(point, lift(k)));
    if (points.length) body.anchor.copy(points.reduce((sum, p) => sum.add(p), new THREE.Vector3())).divideScalar(points.length);
    const thin = body.lines.length > 1 ? 0.6 * r : r;
    for (const [a, b] of body.lines) bar(k, points[a], points[b], thin);
    for (const i of new Set(body.lines.flat())) ball(k, points[i], thin, 0);
    if (body.faces.length) {
      const geometry = new THREE.BufferGeometry();
      const corners = body.faces.flat().flatMap((i) => points[i].toArray());
      geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(corners), 3));
      geometry.computeVertexNormals();
      mesh(k, geometry, 1);
    }
    for (const [centre, axis, radius] of body.circles) {
      const wheel = mesh(k, new THREE.TorusGeometry(radius, 0.5 * r, 10, 72), 0);
      wheel.position.copy(vector(centre, lift(k)));
      wheel.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), vector(axis));
    }
    for (const [line, fan] of body.outlines) {
      const rim = line.map((point) => vector(point, lift(k)));
      for (let i = 1; i < rim.length; i++) bar(k, rim[i - 1], rim[i], 0.6 * r);
      if (fan) {
        const middle = rim.reduce((sum, p) => sum.add(p), new THREE.Vector3()).divideScalar(rim.length);
        const corners = rim.slice(1).flatMap((p, i) => [middle, rim[i], p]).flatMap((p) => p.toArray());
        const geometry = new THREE.BufferGeometry();
        geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(corners), 3));
        geometry.computeVertexNormals();
        mesh(k, geometry, 1);
      }
    }
    for (const [from, to, kind] of body.guides) {
      const radius = { rail: 0.45, tube: 1.7, rod: 0.9 }[kind] * r;
      bar(k, vector(from, lift(k)), vector(to, lift(k)), radius);
    }
  });

  for (const mark of data.marks) {
    const k = mark.body;
    // In the plane bodies lie in layers; a pin goes through those of its two bodies.
    const height = (lift(mark.body) + lift(mark.other)) / 2 || 0;
    const reach = Math.abs(lift(mark.body) - lift(mark.other)) / 2;
    const at = vector(mark.at, data.planar ? height : 0);
    const column = (i) => new THREE.Vector3(mark.axes[0][i], mark.axes[1][i], mark.axes[2][i]);
    const which = mark.driven ? 3 : 4;
    const slide = mark.slide === null ? null : [0, 1, 2].map((i) => (i === mark.slide ? 5.2 : 3) * r);
    if (mark.mouth) axle(k, at, column(mark.slide), 0.9 * r, 2.1 * r, which);
    else if (slide) {
      const place = vector(mark.at, data.planar ? lift(mark.body) : 0);
      block(k, place, mark.axes, slide, which);
      if (mark.solid === "rider") {
        if (data.planar) axle(k, at, column(2), reach + 2.4 * r, 0.9 * r, 2);
        else axle(k, place, column(2), 4 * r, 1.1 * r, 2);
      }
    } else if (mark.solid === "axle") {
      axle(k, at, column(2), reach + (data.planar ? 1.5 : 2.6) * r, 1.5 * r, which);
      axle(k, at, column(2), reach + (data.planar ? 1.8 : 3.1) * r, 0.7 * r, 2);
    } else if (mark.solid === "cross") {
      axle(k, at, column(2), 2.6 * r, 0.9 * r, which);
      axle(k, at, column(0), 2.6 * r, 0.9 * r, which);
      ball(k, at, 1.2 * r, 2);
    } else if (mark.solid === "ball") ball(k, at, 1.9 * r, mark.driven ? 3 : 2);
    else if (mark.solid === "plate") axle(k, at, column(2), 0.3 * r, 4 * r, which);
    else if (!mark.rod) mesh(k, new THREE.OctahedronGeometry(2 * r), which).position.copy(at);
    if (mark.frame) {
      const pad = mesh(0, new THREE.BoxGeometry(...data.up.map((u) => (u ? 1 : 5) * r)), 0);
      pad.position.copy(vector(mark.frame)).addScaledVector(up, -2 * r);
      if (data.planar) pad.position.z -= r;
      bar(0, pad.position, vector(mark.frame, data.planar ? -r : 0), 0.8 * r);
    }
  }

  // Rods that are no bodies: a line between points of two bodies, laid anew at every instant.
  const rods = data.marks.filter((mark) => mark.rod).map((mark) => {
    const made = bar(mark.body, new THREE.Vector3(), new THREE.Vector3(0, 1, 0), 0.7 * r, 2);
    made.removeFromParent();
    scene.add(made);
    return { made, ends: [[mark.body, vector(mark.at)], [mark.other, vector(mark.rod)]] };
  });

  // --- poses ------------------------------------------------------------------------------------

  const stride = 7 * bodies.length;
  const place = (f, k, group) => {
    const at = f * stride + 7 * k;
    const sound = Number.isFinite(poses[at]) && Number.isFinite(poses[at + 3]);
    if (sound) {
      group.position.set(poses[at], poses[at + 1], poses[at + 2]);
      group.quaternion.set(poses[at + 4], poses[at + 5], poses[at + 6], poses[at + 3]);
    }
    return sound;
  };
  const probe = new THREE.Group();
  const pathLines = data.paths.map((path, i) => {
    const local = vector(path.at);
    const whole = [];
    for (let f = 0; f < count; f++) {
      const sound = place(f, path.body, probe);
      whole.push(sound ? local.clone().applyQuaternion(probe.quaternion).add(probe.position) : null);
    }
    const pieces = [];
    for (let f = 1; f < count; f++) if (whole[f - 1] && whole[f]) pieces.push(...whole[f - 1].toArray(), ...whole[f].toArray());
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(pieces), 3));
    const line = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ color: path.colour }));
    const tip = new THREE.Mesh(new THREE.SphereGeometry(1.1 * r, 16, 12), new THREE.MeshLambertMaterial({ color: path.colour }));
    scene.add(line, tip);
    return { whole, line, tip };
  });

  // --- the ground ---------------------------------------------------------------------------------

  const box = { low: vector(data.low), high: vector(data.high) };
  const middle = box.low.clone().add(box.high).multiplyScalar(0.5);
  const size = box.low.distanceTo(box.high) || 1;
  const grid = (() => {
    const cell = data.cell;
    const half = cell * Math.ceil((0.65 * size) / cell);
    // A flat mechanism stands before its grid like a drawing on squared paper.
    const axes = data.flat ? [0, 1, 2] : [0, 1, 2].filter((i) => !data.up[i]).concat([0, 1, 2].filter((i) => data.up[i]));
    const level = data.flat ? box.low.getComponent(2) - 4 * r : box.low.getComponent(axes[2]) - 3 * r;
    // Lines at whole multiples of the cell in the model's own coordinates.
    const snap = (i) => cell * Math.round((middle.getComponent(i) + data.centre[i]) / cell) - data.centre[i];
    const corners = [];
    for (let s = -half; s <= half + cell / 2; s += cell) {
      for (const [a, b] of [[0, 1], [1, 0]]) {
        for (const end of [-half, half]) {
          const p = [0, 0, 0];
          p[axes[a]] = snap(axes[a]) + s;
          p[axes[b]] = snap(axes[b]) + end;
          p[axes[2]] = level;
          corners.push(...p);
        }
      }
    }
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(corners), 3));
    return new THREE.LineSegments(geometry, new THREE.LineBasicMaterial());
  })();
  scene.add(grid);

  // --- camera -------------------------------------------------------------------------------------

  const camera = new THREE.PerspectiveCamera(32, 1, size / 500, size * 100);
  camera.up.copy(up);
  const controls = new THREE.OrbitControls(camera, $("scene"));
  let dirty = true;
  const side = new THREE.Vector3(1, 0, 0);
  const front = new THREE.Vector3().crossVectors(side, up);
  const views = {
    start: data.flat ? front : vector(data.view), front, side,
    top: up.clone().addScaledVector(front, 1e-3),
    isometric: front.clone().add(side).add(up),
  };
  // From far away, through a narrow angle, lines that are parallel stay so: for planar models and standard views.
  const parallel = () => data.flat || $("from").value !== "start";
  controls.addEventListener("change", () => {
    const away = camera.position.distanceTo(controls.target);
    camera.near = parallel() ? away / 2 : size / 500;
    camera.far = parallel() ? 2 * (away + size) : size * 100;
    camera.updateProjectionMatrix();
    dirty = true;
  });
  const resetView = () => {
    camera.fov = parallel() ? 0.5 : 32;
    const toward = views[$("from").value].clone().normalize();
    controls.target.copy(middle);
    // The farthest that the corners of the box reach to the sides decides the distance.
    const right = new THREE.Vector3().crossVectors(up, toward).normalize();
    const top = new THREE.Vector3().crossVectors(toward, right);
    const tan = Math.tan((camera.fov * Math.PI) / 360);
    let distance = size * 0.2;
    for (let corner = 0; corner < 8; corner++) {
      const p = new THREE.Vector3(...[0, 1, 2].map((i) => (corner >> i & 1 ? box.high : box.low).getComponent(i))).sub(middle);
      const free = { width: 0.84, height: 0.72 };
      const need = Math.max(Math.abs(p.dot(right)) / (tan * camera.aspect * free.width), Math.abs(p.dot(top)) / (tan * free.height));
      distance = Math.max(distance, need + p.dot(toward));
    }
    camera.position.copy(middle).addScaledVector(toward, distance + 4 * r);
    controls.update();
    controls.dispatchEvent({ type: "change" });
  };

  // --- instants -------------------------------------------------------------------------------------

  let frame = -1;
  let now = time[0];
  const rows = [];
  const show = (f) => {
    if (f === frame) return;
    frame = f;
    bodies.forEach((body, k) => {
      body.shown = place(f, k, body.group);
      body.group.visible = body.shown;
      rows[k]?.classList.toggle("missing", !body.shown);
    });
    for (const { made, ends } of rods) {
      const sound = ends.every(([k]) => bodies[k].shown);
      made.visible = sound;
      if (!sound) continue;
      const [a, b] = ends.map(([k, at]) => at.clone().applyQuaternion(bodies[k].group.quaternion).add(bodies[k].group.position));
      const along = b.clone().sub(a);
      made.scale.set(1, along.length(), 1);
      made.position.copy(a).addScaledVector(along, 0.5);
      made.quaternion.setFromUnitVectors(Y, along.normalize());
    }
    for (const { whole, tip, line } of pathLines) {
      tip.visible = line.visible && whole[f] !== null;
      if (whole[f]) tip.position.copy(whole[f]);
    }
    $("slider").value = f;
    $("clock").textContent = `t = ${Number(time[f].toPrecision(5))} s`;
    const missing = bodies.filter((body) => !body.shown).map((body) => body.name);
    const fault = data.reasons[says[f]];
    $("status").className = fault ? "fault" : "";
    const left = missing.length ? `; not drawn: ${missing.slice(0, 6).join(", ")}${missing.length > 6 ? " …" : ""}` : "";
    const text = fault ? fault + left : data.note || "All groups solved at this instant.";
    if ($("status").textContent !== text) $("status").textContent = text;
    dirty = true;
  };
  const frameAt = (t) => {
    let low = 0, high = count - 1;
    while (low < high) {
      const half = (low + high + 1) >> 1;
      if (time[half] <= t) low = half; else high = half - 1;
    }
    return low;
  };

  // --- controls -------------------------------------------------------------------------------------

  let playing = false;
  let last = null;
  const play = (go) => {
    playing = go && count > 1;
    last = null;
    $("play").textContent = playing ? "Pause" : "Play";
  };
  $("play").disabled = count < 2;
  $("play").onclick = () => play(!playing);
  $("slider").max = count - 1;
  $("slider").oninput = () => { play(false); show(Number($("slider").value)); now = time[frame]; };
  const step = (f) => { play(false); show(Math.max(0, Math.min(count - 1, f))); now = time[frame]; };
  const keys = {
    " ": () => play(!playing), ArrowLeft: () => step(frame - 1), ArrowRight: () => step(frame + 1),
    Home: () => step(0), End: () => step(count - 1),
    f: () => (document.fullscreenElement ? document.exitFullscreen() : root.requestFullscreen()),
  };
  addEventListener("keydown", (event) => {
    const typed = event.target.id === "scene" || event.target === document.body;
    if (!typed || !keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });

  const duration = time[count - 1] - time[0];
  const natural = duration >= 1.5 && duration <= 60 ? 1 : Number((duration / 6 || 1).toPrecision(1));
  const speeds = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 10].map((factor) => Number((factor * natural).toPrecision(3)));
  for (const speed of [...new Set([1, ...speeds])].sort((a, b) => a - b)) {
    $("speed").add(new Option(`${speed}×`, speed, speed === natural, speed === natural));
  }

  const bad = [];
  for (let f = 0; f < count; f++) {
    if (!says[f]) continue;
    const run = bad.at(-1);
    if (run && run[1] === f - 1) run[1] = f; else bad.push([f, f]);
  }
  if (bad.length && bad.length < 400) {
    const stop = (f) => `${((100 * f) / Math.max(count - 1, 1)).toFixed(3)}%`;
    const parts = bad.flatMap(([a, b]) => [`transparent ${stop(a - 0.5)}`, `var(--fault) ${stop(a - 0.5)}`, `var(--fault) ${stop(b + 0.5)}`, `transparent ${stop(b + 0.5)}`]);
    $("track").style.setProperty("--bands", `linear-gradient(to right, ${parts.join(", ")})`);
  }

  let chosen = null; // the bodies that stand out, a set
  const choose = (some) => {
    chosen = chosen && some.length === chosen.size && some.every((k) => chosen.has(k)) ? null : new Set(some);
    bodies.forEach((body, i) => {
      const faded = chosen !== null && !chosen.has(i);
      for (const one of colours.get(body.group)) {
        one.opacity = faded ? 0.12 : one.userData.see;
        one.transparent = one.opacity < 1;
        one.depthWrite = one.opacity === 1;
        one.emissive.copy(one.color).multiplyScalar(chosen?.has(i) ? 0.35 : 0);
        one.needsUpdate = true;
      }
      rows[i].setAttribute("aria-pressed", String(Boolean(chosen?.has(i))));
    });
    dirty = true;
  };
  const listed = (list, colour, label, some) => {
    const row = document.createElement("button");
    row.type = "button";
    row.setAttribute("aria-pressed", "false");
    const swatch = document.createElement("i");
    swatch.style.background = colour;
    row.append(swatch, label);
    row.onclick = () => choose(some);
    const item = document.createElement("li");
    item.append(row);
    list.append(item);
    return row;
  };
  // Each group with its bodies below it; first the frame, and bodies in no group.
  for (const group of [{ number: 0 }, ...data.groups]) {
    const some = [...bodies.keys()].filter((k) => bodies[k].sg === group.number);
    if (group.number) {
      const heading = listed($("bodies"), group.colour, group.label, some);
      heading.className = "group";
      heading.title = `Structural group ${group.number}, level ${group.level}`;
    }
    for (const k of some) rows[k] = listed($("bodies"), bodies[k].colour, bodies[k].label, [k]);
  }
  if (innerWidth < 640) $("panel").open = false;

  let pressed = null;
  $("scene").addEventListener("pointerdown", (event) => { pressed = [event.clientX, event.clientY]; });
  $("scene").addEventListener("pointerup", (event) => {
    if (!pressed || Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) > 4) return;
    const at = new THREE.Vector2((2 * event.clientX) / innerWidth - 1, 1 - (2 * event.clientY) / innerHeight);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, camera);
    const hit = ray.intersectObjects(bodies.filter((body) => body.shown).map((body) => body.group))[0];
    if (hit) choose([hit.object.userData.body]); else if (chosen !== null) choose([...chosen]);
  });

  const pressing = (id, change) => {
    $(id).onclick = () => {
      const on = $(id).getAttribute("aria-pressed") !== "true";
      $(id).setAttribute("aria-pressed", String(on));
      change(on);
      dirty = true;
    };
  };
  pressing("names", (on) => { $("labels").hidden = !on; });
  pressing("paths", (on) => pathLines.forEach(({ line, tip, whole }) => { line.visible = on; tip.visible = on && whole[frame] !== null; }));
  $("paths").hidden = !data.paths.length;
  $("view").onclick = resetView;
  $("from").onchange = resetView;
  $("png").onclick = () => {
    renderer.render(scene, camera);
    const link = document.createElement("a");
    link.href = $("scene").toDataURL("image/png");
    link.download = `${document.title}.png`;
    link.click();
  };

  const paint = () => {
    const style = getComputedStyle(root);
    renderer.setClearColor(new THREE.Color(style.getPropertyValue("--paper").trim()));
    grid.material.color.set(style.getPropertyValue("--grid").trim());
    const night = root.dataset.theme === "dark";
    pathLines.forEach(({ line, tip }, i) => {
      const colour = night ? "#e8ebef" : "#3c434b";
      line.material.color.set(colour);
      tip.material.color.set(colour);
    });
    for (const set of colours.values()) set[2].color.set(night ? "#59626d" : "#23272c");
    dirty = true;
  };
  $("theme").onclick = () => { root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark"; paint(); };
  dark.addEventListener("change", () => { root.dataset.theme = dark.matches ? "dark" : "light"; paint(); });

  // --- names, each at its body, the nearest first, none over another --------------------------------

  const labels = bodies.map((body, k) => {
    const span = document.createElement("span");
    span.textContent = k ? body.name : "";
    $("labels").append(span);
    return { span, width: span.offsetWidth, height: span.offsetHeight };
  });
  const layLabels = () => {
    const taken = [];
    const order = bodies.map((body, k) => {
      const at = body.group.localToWorld(body.anchor.clone());
      const depth = at.distanceTo(camera.position);
      return { k, depth: chosen?.has(k) ? -1 : depth, at: at.project(camera) };
    }).sort((a, b) => a.depth - b.depth);
    for (const { k, at } of order) {
      const { span, width, height } = labels[k];
      const x = ((at.x + 1) / 2) * innerWidth + 8;
      const y = ((1 - at.y) / 2) * innerHeight - height / 2;
      let free = null;
      for (const shift of [0, height, -height, 2 * height, -2 * height]) {
        const box = [x, y + shift, x + width, y + shift + height];
        if (taken.every((b) => box[0] > b[2] || box[2] < b[0] || box[1] > b[3] || box[3] < b[1])) { free = box; break; }
      }
      const visible = k > 0 && bodies[k].shown && free !== null && (chosen === null || chosen.has(k));
      span.style.visibility = visible ? "visible" : "hidden";
      if (!visible) continue;
      taken.push(free);
      span.style.transform = `translate(${free[0].toFixed(1)}px, ${free[1].toFixed(1)}px)`;
    }
  };

  // --- go -------------------------------------------------------------------------------------------

  const fit = () => {
    renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    renderer.setSize(innerWidth, innerHeight, false);
    camera.aspect = innerWidth / innerHeight;
    camera.updateProjectionMatrix();
    dirty = true;
  };
  let turned = false;
  controls.addEventListener("start", () => { turned = true; });
  addEventListener("resize", () => { fit(); if (!turned) resetView(); });
  fit();
  paint();
  show(0);
  resetView();
  const tick = (stamp) => {
    requestAnimationFrame(tick);
    if (playing) {
      if (last !== null) {
        now += (Math.min(stamp - last, 250) / 1000) * Number($("speed").value);
        if (now > time[count - 1]) now = time[0];
        show(frameAt(now));
      }
      last = stamp;
    }
    if (!dirty) return;
    dirty = false;
    sun.position.copy(camera.position).addScaledVector(up, size);
    renderer.render(scene, camera);
    if (!$("labels").hidden) layLabels();
  };
  requestAnimationFrame(tick);
  play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
})();
