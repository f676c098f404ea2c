// Paths of points, and arrows of their velocities and accelerations.

function buildPaths(motion, scene, mechanism, size) {
  const r = motion.radius;
  const probe = new THREE.Group();
  const arrow = (colour) => {
    const material = new THREE.MeshLambertMaterial({ color: colour, depthTest: false }); // over the bodies
    const made = new THREE.Group();
    made.add(new THREE.Mesh(new THREE.CylinderGeometry(0.4 * r, 0.4 * r, 1, 10), material),
      new THREE.Mesh(new THREE.ConeGeometry(1.1 * r, 3 * r, 14), material));
    for (const part of made.children) part.renderOrder = 1;
    scene.add(made);
    return made;
  };
  const paths = motion.paths.map((path) => {
    const local = vector(path.at);
    const places = []; // at each instant, null where the body was not solved
    for (let f = 0; f < motion.count; f++) {
      const solved = mechanism.pose(f, path.body, probe);
      places.push(solved ? local.clone().applyQuaternion(probe.quaternion).add(probe.position) : null);
    }
    const pieces = [];
    for (let f = 1; f < motion.count; f++) {
      if (places[f - 1] && places[f]) pieces.push(...places[f - 1].toArray(), ...places[f].toArray());
    }
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(pieces), 3));
    const line = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial());
    const tip = new THREE.Mesh(new THREE.SphereGeometry(1.1 * r, 16, 12), new THREE.MeshLambertMaterial());
    scene.add(line, tip);
    return { ...path, places, line, tip, arrows: ["#009e73", "#cc79a7"].slice(0, path.rates.length).map(arrow) };
  });

  // The longest arrow of each kind is a quarter of the mechanism.
  const longest = [0, 1].map((level) => Math.max(0, ...paths.map(({ rates, places }) => {
    if (!rates[level]) return 0;
    let most = 0;
    for (let f = 0; f < places.length; f++) {
      const square = rates[level][3 * f] ** 2 + rates[level][3 * f + 1] ** 2 + rates[level][3 * f + 2] ** 2;
      if (square > most) most = square;
    }
    return Math.sqrt(most);
  })));
  const shown = { paths: true, levels: [false, false] };
  const layArrow = (made, at, rate, most) => {
    const length = (0.25 * size * rate.length()) / most;
    made.visible = length > 0.2 * r;
    if (!made.visible) return;
    const [shaft, head] = made.children;
    const tip = Math.min(3 * r, 0.6 * length);
    head.scale.setScalar(tip / (3 * r));
    head.position.y = length - tip / 2;
    shaft.scale.y = length - tip || 1e-9;
    shaft.position.y = (length - tip) / 2;
    made.position.copy(at);
    made.quaternion.setFromUnitVectors(Y, rate.normalize());
  };
  const lay = (f) => {
    for (const { body, places, line, tip, arrows, rates } of paths) {
      const there = places[f] !== null && mechanism.bodies[body].staged;
      line.visible = shown.paths && mechanism.bodies[body].staged;
      tip.visible = line.visible && there;
      if (there) tip.position.copy(places[f]);
      arrows.forEach((made, level) => {
        made.visible = shown.levels[level] && there && longest[level] > 0;
        const rate = vector(rates[level].subarray(3 * f, 3 * f + 3));
        if (made.visible && Number.isFinite(rate.x)) layArrow(made, places[f], rate, longest[level]);
        else made.visible = false;
      });
    }
  };
  const paint = (colour) => paths.forEach(({ line, tip }) => {
    line.material.color.set(colour);
    tip.material.color.set(colour);
  });
  return { count: paths.length, longest, shown, lay, paint };
}
