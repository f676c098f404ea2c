// Bodies, joints and rods as meshes; lay(f) puts them where they are at an instant.

const vector = (numbers, lift = 0) => new THREE.Vector3(numbers[0], numbers[1], numbers[2] + lift);
const [MAIN, FACE, DARK, DRIVEN, LIGHT] = [0, 1, 2, 3, 4]; // materials of a body
const Y = new THREE.Vector3(0, 1, 0);

function trianglesOf(corners) {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(corners), 3));
  geometry.computeVertexNormals();
  return geometry;
}

// Corners of triangles that fill a polygon in a plane, seen along the axis in which it is thinnest.
function filled(rim) {
  const extent = [0, 1, 2].map((i) => {
    const values = rim.map((p) => p.getComponent(i));
    return Math.max(...values) - Math.min(...values);
  });
  const [a, b] = [0, 1, 2].filter((i) => i !== extent.indexOf(Math.min(...extent)));
  const flat = rim.map((p) => new THREE.Vector2(p.getComponent(a), p.getComponent(b)));
  return THREE.ShapeUtils.triangulateShape(flat, []).flat().flatMap((i) => rim[i].toArray());
}

// `fine` tells how many sides a cylinder has.
function buildMechanism(motion, scene, fine) {
  const r = motion.radius;
  const up = vector(motion.up);
  const material = (colour, see = 1) => {
    const made = new THREE.MeshLambertMaterial({ color: colour, side: THREE.DoubleSide });
    made.opacity = see;
    made.transparent = see < 1;
    made.depthWrite = see === 1;
    made.userData.see = see;
    return made;
  };
  const bodies = motion.bodies.map((body) => {
    const group = new THREE.Group();
    scene.add(group);
    const materials = [material(body.colour), material(body.colour, 0.35), material("#23272c"),
      material("#d55e00"), material("#c9ced4")];
    return { ...body, group, materials, anchor: new THREE.Vector3(), solved: true, staged: true };
  });
  const lift = (k) => bodies[k].layer * 2.1 * r;

  const mesh = (k, geometry, which) => {
    const made = new THREE.Mesh(geometry, bodies[k].materials[which]);
    made.userData.body = k;
    bodies[k].group.add(made);
    return made;
  };
  const bar = (k, from, to, radius, which = MAIN) => {
    const along = to.clone().sub(from);
    const made = mesh(k, new THREE.CylinderGeometry(radius, radius, along.length() || 1e-9, fine), which);
    made.position.copy(from).addScaledVector(along, 0.5);
    made.quaternion.setFromUnitVectors(Y, along.normalize());
    return made;
  };
  const ball = (k, at, radius, which) =>
    mesh(k, new THREE.SphereGeometry(radius, fine, Math.ceil(fine / 1.5)), which).position.copy(at);
  const axle = (k, at, axis, half, radius, which) =>
    bar(k, at.clone().addScaledVector(axis, -half), at.clone().addScaledVector(axis, half), radius, which);
  const block = (k, at, axes, size, which) => {
    const made = mesh(k, new THREE.BoxGeometry(...size), which);
    const [x, y, z] = [0, 1, 2].map((i) => new THREE.Vector3(axes[0][i], axes[1][i], axes[2][i]));
    made.quaternion.setFromRotationMatrix(new THREE.Matrix4().makeBasis(x, y, z));
    made.position.copy(at);
  };

  const drawBody = (body, k) => {
    const points = body.points.map((point) => vector(point, lift(k)));
    if (points.length) body.anchor.copy(points.reduce((sum, p) => sum.add(p), new THREE.Vector3())).divideScalar(points.length);
    const corners = [], ends = new Map(); // of faces; of links and edges
    for (const { points: line, kind, closed, across } of motion.lines.filter((one) => one.body === k)) {
      const rim = line.map((point) => vector(point, lift(k)));
      if (closed) {
        if (kind) corners.push(...rim.slice(2, -1).flatMap((last, i) => [rim[0], rim[i + 1], last].flatMap((p) => p.toArray())));
        else mesh(k, trianglesOf(filled(rim.slice(1))), FACE);
      }
      if (kind === "facet") continue;
      const length = rim.reduce((sum, p, i) => sum + (i ? p.distanceTo(rim[i - 1]) : 0), 0);
      const thick = Math.min(0.6 * r, (0.35 * length) / rim.length); // teeth are finer than cams
      const radius = kind ? { link: 1, edge: 0.6, rail: 0.45, slot: 0.5, track: 0.45, tube: 1.7, rod: 0.9 }[kind] * r : thick;
      const side = kind === "slot" ? vector(across).multiplyScalar(2 * r) : null;
      for (const sign of side ? [-1, 1] : [0]) {
        const shifted = rim.map((p) => (side ? p.clone().addScaledVector(side, sign) : p));
        for (let i = 1; i < rim.length; i++) bar(k, shifted[i - 1], shifted[i], radius);
      }
      if (side) for (const end of rim) bar(k, end.clone().sub(side), end.clone().add(side), radius);
      if (kind === "link" || kind === "edge") rim.forEach((p, i) => ends.set(String(line[i]), [p, radius]));
    }
    for (const [p, radius] of ends.values()) ball(k, p, radius, MAIN);
    if (corners.length) mesh(k, trianglesOf(corners), FACE);
  };

  const drawJoint = (mark) => {
    const k = mark.body;
    // In the plane bodies lie in layers; a pin goes through those of its two bodies.
    const height = (lift(mark.body) + lift(mark.other)) / 2 || 0;
    const reach = Math.abs(lift(mark.body) - lift(mark.other)) / 2;
    const at = vector(mark.at, motion.planar ? height : 0);
    const column = (i) => new THREE.Vector3(mark.axes[0][i], mark.axes[1][i], mark.axes[2][i]);
    const which = mark.driven ? DRIVEN : LIGHT;
    const slide = mark.slide === null ? null : [0, 1, 2].map((i) => (i === mark.slide ? 5.2 : 3) * r);
    if (mark.mouth) axle(k, at, column(mark.slide), 0.9 * r, 2.1 * r, which);
    else if (slide) {
      const place = vector(mark.at, motion.planar ? lift(mark.body) : 0);
      if (mark.solid !== "rider") block(k, place, mark.axes, slide, which);
      else if (motion.planar) axle(k, at, column(2), reach + 2.4 * r, 1.5 * r, mark.driven ? DRIVEN : DARK);
      else axle(k, place, column(2), 4 * r, 1.5 * r, mark.driven ? DRIVEN : DARK);
    } else if (mark.solid === "axle") {
      axle(k, at, column(2), reach + (motion.planar ? 1.5 : 2.6) * r, 1.5 * r, which);
      axle(k, at, column(2), reach + (motion.planar ? 1.8 : 3.1) * r, 0.7 * r, DARK);
    } else if (mark.solid === "cross") {
      axle(k, at, column(2), 2.6 * r, 0.9 * r, which);
      axle(k, at, column(0), 2.6 * r, 0.9 * r, which);
      ball(k, at, 1.2 * r, DARK);
    } else if (mark.solid === "ball") ball(k, at, 1.9 * r, mark.driven ? DRIVEN : DARK);
    else if (mark.solid === "plate") axle(k, at, column(2), 0.3 * r, 4 * r, which);
    else if (!mark.rod) mesh(k, new THREE.OctahedronGeometry(2 * r), which).position.copy(at);
    if (mark.frame) {
      const pad = mesh(0, new THREE.BoxGeometry(...motion.up.map((u) => (u ? 1 : 5) * r)), MAIN);
      pad.position.copy(vector(mark.frame)).addScaledVector(up, -2 * r);
      if (motion.planar) pad.position.z -= r;
      bar(0, pad.position, vector(mark.frame, motion.planar ? -r : 0), 0.8 * r);
    }
  };

  bodies.forEach(drawBody);
  for (const { body, corners } of motion.solids) mesh(body, trianglesOf(corners), MAIN);
  motion.marks.forEach(drawJoint);
  // Rods that are no bodies: a line between points of two bodies, laid anew at every instant.
  const rods = motion.marks.filter((mark) => mark.rod).map((mark) => {
    const made = bar(mark.body, new THREE.Vector3(), new THREE.Vector3(0, 1, 0), 0.7 * r, DARK);
    made.removeFromParent();
    scene.add(made);
    return { made, ends: [[mark.body, vector(mark.at)], [mark.other, vector(mark.rod)]] };
  });

  const pose = (f, k, group) => {
    const p = motion.poses;
    const at = 7 * (f * bodies.length + k);
    const solved = Number.isFinite(p[at]) && Number.isFinite(p[at + 3]);
    if (solved) {
      group.position.set(p[at], p[at + 1], p[at + 2]);
      group.quaternion.set(p[at + 4], p[at + 5], p[at + 6], p[at + 3]);
    }
    return solved;
  };
  const layRod = ({ made, ends }) => {
    made.visible = ends.every(([k]) => bodies[k].group.visible);
    if (!made.visible) return;
    const [a, b] = ends.map(([k, at]) => at.clone().applyQuaternion(bodies[k].group.quaternion).add(bodies[k].group.position));
    const along = b.clone().sub(a);
    made.scale.set(1, along.length(), 1);
    made.position.copy(a).addScaledVector(along, 0.5);
    made.quaternion.setFromUnitVectors(Y, along.normalize());
  };
  const lay = (f) => {
    bodies.forEach((body, k) => {
      body.solved = pose(f, k, body.group);
      body.group.visible = body.solved && body.staged;
    });
    rods.forEach(layRod);
  };
  const stand = (chosen) => { // those of a set stand out
    bodies.forEach((body, k) => {
      const faded = chosen !== null && !chosen.has(k);
      for (const one of body.materials) {
        one.opacity = faded ? 0.12 : one.userData.see;
        one.transparent = one.opacity < 1;
        one.depthWrite = one.opacity === 1;
        one.emissive.copy(one.color).multiplyScalar(chosen?.has(k) ? 0.35 : 0);
        one.needsUpdate = true;
      }
    });
  };
  return { bodies, pose, lay, stand };
}
