// Handles on points and axes of joints, which the page that holds this one asks for and gets moved places of.

function buildHandles(motion, scene, camera, controls, surface, size, redraw) {
  const centre = vector(motion.centre);
  const step = 10 ** Math.floor(Math.log10(size / 50));
  const ball = new THREE.SphereGeometry(2.5 * motion.radius, 16, 10);
  let handles = [], held = null;

  // ({ joint, at, axis }) in m; an axis has its handle at its tip.
  const lay = (given) => {
    for (const { mesh, line } of handles) scene.remove(mesh, line);
    handles = given.flatMap(({ joint, at, axis }) => {
      const from = vector(at).sub(centre);
      const one = [{ joint, field: "point", from: from.clone(), at: from }];
      if (axis) one.push({ joint, field: "axis", from, at: from.clone().addScaledVector(vector(axis).normalize(), 0.14 * size) });
      return one;
    });
    for (const handle of handles) {
      const colour = handle.field === "point" ? "#0072b2" : "#009e73";
      handle.mesh = new THREE.Mesh(ball, new THREE.MeshLambertMaterial({ color: colour, transparent: true, opacity: 0.7, depthTest: false }));
      handle.line = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ color: colour }));
      scene.add(handle.mesh, handle.line);
      put(handle);
    }
    redraw();
  };
  const put = ({ mesh, line, from, at }) => {
    mesh.position.copy(at);
    line.geometry.setFromPoints([from, at]);
    redraw();
  };

  const rayAt = (event) => {
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2((2 * event.clientX) / innerWidth - 1, 1 - (2 * event.clientY) / innerHeight), camera);
    return ray;
  };
  const round = (value, start) => Number((start + step * Math.round((value - start) / step)).toPrecision(12));

  surface.addEventListener("pointerdown", (event) => {
    const hit = rayAt(event).intersectObjects(handles.map(({ mesh }) => mesh).filter((mesh) => mesh.visible))[0];
    held = hit ? handles.find(({ mesh }) => mesh === hit.object) : null;
    if (!held) return;
    controls.enabled = false;
    held.before = held.at.clone().add(centre).toArray();
    event.stopImmediatePropagation();
  }, true);
  surface.addEventListener("pointermove", (event) => {
    if (!held) return;
    // In the plane through its place that the camera looks at.
    const { origin, direction } = rayAt(event).ray, away = camera.getWorldDirection(new THREE.Vector3());
    const at = origin.clone().addScaledVector(direction, held.at.clone().sub(origin).dot(away) / direction.dot(away));
    const places = at.add(centre).toArray().map((value, i) => round(value, held.before[i]));
    held.at.copy(vector(places)).sub(centre);
    put(held);
  }, true);
  addEventListener("pointerup", () => {
    if (!held) return;
    const { joint, field, before } = held, after = held.at.clone().add(centre).toArray();
    const axis = held.at.clone().sub(held.from).normalize().toArray().map((value) => Number(value.toFixed(3)));
    const view = [camera.position, controls.target].map((place) => place.toArray());
    held = null;
    controls.enabled = true;
    if (after.every((value, i) => value === before[i])) return;
    parent.postMessage({ joint, field, before, after: field === "axis" ? axis : after, view }, "*");
  });
  // The view that a page had before it was made anew.
  const look = ([place, target]) => {
    camera.position.fromArray(place);
    controls.target.fromArray(target);
    controls.update();
  };
  // Where they are in the window, px.
  const places = () => handles.map(({ joint, field, at }) => {
    const { x, y } = at.clone().project(camera);
    return { joint, field, at: [((1 + x) * innerWidth) / 2, ((1 - y) * innerHeight) / 2] };
  });
  // They are of the reference, and gone while the bodies are elsewhere.
  const show = (on) => { for (const { mesh, line } of handles) mesh.visible = line.visible = on; };
  return { lay, look, places, show };
}
