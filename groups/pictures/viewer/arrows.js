// Arrows of vectors: velocities and accelerations of points, forces in joints.

function buildArrows(motion, scene, size) {
  const r = motion.radius;
  const make = (colour) => {
    const material = new THREE.MeshLambertMaterial({ color: colour, depthTest: false }); // over the bodies
    const made = new THREE.Group();
    made.add(new THREE.Mesh(new THREE.CylinderGeometry(0.4 * r, 0.4 * r, 1, 10), material),
      new THREE.Mesh(new THREE.ConeGeometry(1.1 * r, 3 * r, 14), material));
    for (const part of made.children) part.renderOrder = 1;
    made.visible = false;
    scene.add(made);
    return made;
  };
  // From a place, a quarter of the mechanism long where the vector is as large as the largest.
  const lay = (made, at, value, most) => {
    const length = (0.25 * size * value.length()) / most;
    made.visible = length > 0.2 * r; // not where it is NaN
    if (!made.visible) return;
    const [shaft, head] = made.children;
    const tip = Math.min(3 * r, 0.6 * length);
    head.scale.setScalar(tip / (3 * r));
    head.position.y = length - tip / 2;
    shaft.scale.y = length - tip || 1e-9;
    shaft.position.y = (length - tip) / 2;
    made.position.copy(at);
    made.quaternion.setFromUnitVectors(Y, value.normalize());
  };
  // The length of the longest of these vectors (x, y, z one after another).
  const largest = (vectors) => {
    let most = 0;
    for (let k = 0; k < vectors.length; k += 3) {
      const square = vectors[k] ** 2 + vectors[k + 1] ** 2 + vectors[k + 2] ** 2;
      if (square > most) most = square;
    }
    return Math.sqrt(most);
  };
  return { make, lay, largest };
}

// Forces that joints exert, at the joints.
function buildForces(motion, arrows) {
  const forces = motion.forces.map((each) => ({ ...each, arrow: arrows.make("#d55e00") }));
  const longest = Math.max(0, ...forces.map(({ force }) => arrows.largest(force)));
  const shown = { forces: forces.length > 0 };
  const lay = (f) => {
    for (const { at, force, arrow } of forces) {
      const value = vector(force.subarray(3 * f, 3 * f + 3));
      arrow.visible = false;
      if (shown.forces && longest > 0) arrows.lay(arrow, vector(at.subarray(3 * f, 3 * f + 3)), value, longest);
    }
  };
  return { count: forces.length, longest, shown, lay };
}
