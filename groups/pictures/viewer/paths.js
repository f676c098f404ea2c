// Paths of points, and arrows of their velocities and accelerations.

function buildPaths(motion, scene, mechanism, drawn) {
  const r = motion.radius;
  const probe = new THREE.Group();
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
    return { ...path, places, line, tip, arrows: ["#009e73", "#cc79a7"].slice(0, path.rates.length).map(drawn.make) };
  });

  const longest = [0, 1].map((level) => Math.max(0, ...paths.map(({ rates }) => (rates[level] ? drawn.largest(rates[level]) : 0))));
  const shown = { paths: true, levels: [false, false] };
  const lay = (f) => {
    for (const { body, places, line, tip, arrows, rates } of paths) {
      const there = places[f] !== null && mechanism.bodies[body].staged;
      line.visible = shown.paths && mechanism.bodies[body].staged;
      tip.visible = line.visible && there;
      if (there) tip.position.copy(places[f]);
      arrows.forEach((made, level) => {
        made.visible = shown.levels[level] && there && longest[level] > 0;
        const rate = vector(rates[level].subarray(3 * f, 3 * f + 3));
        if (made.visible) drawn.lay(made, places[f], rate, longest[level]);
      });
    }
  };
  const paint = (colour) => paths.forEach(({ line, tip }) => {
    line.material.color.set(colour);
    tip.material.color.set(colour);
  });
  return { count: paths.length, longest, shown, lay, paint };
}
