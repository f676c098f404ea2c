// The grid, the camera and its standard views.

function buildGrid(motion, box, size) {
  const cell = motion.cell;
  const middle = box.low.clone().add(box.high).multiplyScalar(0.5);
  const half = cell * Math.ceil((0.65 * size) / cell);
  // A flat mechanism stands before its grid like a drawing on squared paper.
  const all = [0, 1, 2];
  const axes = motion.flat ? all : all.filter((i) => !motion.up[i]).concat(all.filter((i) => motion.up[i]));
  const level = box.low.getComponent(axes[2]) - (motion.flat ? 4 : 3) * motion.radius;
  // Lines at whole multiples of the cell in the model's own coordinates.
  const snap = (i) => cell * Math.round((middle.getComponent(i) + motion.centre[i]) / cell) - motion.centre[i];
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
}

function buildCamera(motion, surface, box, size, redraw) {
  const up = vector(motion.up);
  const middle = box.low.clone().add(box.high).multiplyScalar(0.5);
  const camera = new THREE.PerspectiveCamera(32, 1, size / 500, size * 100);
  camera.up.copy(up);
  const controls = new THREE.OrbitControls(camera, surface);
  const side = new THREE.Vector3(1, 0, 0);
  const front = new THREE.Vector3().crossVectors(side, up);
  const views = {
    start: motion.flat ? front : vector(motion.view), front, side,
    top: up.clone().addScaledVector(front, 1e-3),
    isometric: front.clone().add(side).add(up),
  };
  // From far away, through a narrow angle, lines that are parallel stay so: for planar models and standard views.
  const parallel = () => motion.flat || $("from").value !== "start";
  controls.addEventListener("change", () => {
    const away = camera.position.distanceTo(controls.target);
    camera.near = parallel() ? away / 2 : size / 500;
    camera.far = parallel() ? 2 * (away + size) : size * 100;
    camera.updateProjectionMatrix();
    redraw();
  });
  // What header, list and bar leave free, px.
  const free = () => {
    const panel = $("panel").getBoundingClientRect();
    const beside = $("panel").open && panel.height > 0.3 * innerHeight && panel.width < 0.5 * innerWidth;
    const top = $("top").getBoundingClientRect().bottom;
    const bottom = Math.max($("bottom").getBoundingClientRect().top, top + 0.3 * innerHeight);
    return { left: 8, right: beside ? panel.left : innerWidth - 8, top, bottom };
  };
  const reset = () => {
    camera.fov = parallel() ? 0.5 : 32;
    const { left, right, top, bottom } = free();
    camera.setViewOffset(innerWidth, innerHeight,
      (innerWidth - left - right) / 2, (innerHeight - top - bottom) / 2, innerWidth, innerHeight);
    const toward = views[$("from").value].clone().normalize();
    controls.target.copy(middle);
    // The farthest that the corners of the box reach to the sides decides the distance.
    const across = new THREE.Vector3().crossVectors(up, toward).normalize();
    const upright = new THREE.Vector3().crossVectors(toward, across);
    const tan = Math.tan((camera.fov * Math.PI) / 360);
    const room = [0.88 * tan * ((right - left) / innerHeight), 0.88 * tan * ((bottom - top) / innerHeight)];
    let distance = size * 0.2;
    for (let corner = 0; corner < 8; corner++) {
      const p = vector([0, 1, 2].map((i) => (corner >> i & 1 ? box.high : box.low).getComponent(i))).sub(middle);
      const need = Math.max(Math.abs(p.dot(across)) / room[0], Math.abs(p.dot(upright)) / room[1]);
      distance = Math.max(distance, need + p.dot(toward));
    }
    camera.position.copy(middle).addScaledVector(toward, distance + 4 * motion.radius);
    controls.update();
    controls.dispatchEvent({ type: "change" });
  };
  return { camera, controls, reset };
}
