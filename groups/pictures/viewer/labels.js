// Names, each at its body, the nearest first, none over another.

function buildLabels(bodies, camera) {
  const labels = bodies.map((body, k) => {
    const span = element("span", { textContent: k ? body.name : "" });
    $("labels").append(span);
    return { span, width: span.offsetWidth, height: span.offsetHeight, at: null };
  });
  const lay = (chosen) => {
    const taken = [];
    const order = bodies.map((body, k) => {
      const at = body.group.localToWorld(body.anchor.clone());
      const depth = at.distanceTo(camera.position);
      return { k, depth: chosen?.has(k) ? -1 : depth, at: at.project(camera) };
    }).sort((a, b) => a.depth - b.depth);
    for (const { k, at } of order) {
      const label = labels[k];
      const { width, height } = label;
      const x = ((at.x + 1) / 2) * innerWidth + 8;
      const y = ((1 - at.y) / 2) * innerHeight - height / 2;
      const boxes = [0, height, -height, 2 * height, -2 * height].map((s) => [x, y + s, x + width, y + s + height]);
      const free = boxes.find((a) => taken.every((b) => a[0] > b[2] || a[2] < b[0] || a[1] > b[3] || a[3] < b[1]));
      const visible = k > 0 && bodies[k].group.visible && free !== undefined && (chosen === null || chosen.has(k));
      label.span.style.visibility = visible ? "visible" : "hidden";
      label.at = visible ? free : null;
      if (!visible) continue;
      taken.push(free);
      label.span.style.transform = `translate(${free[0].toFixed(1)}px, ${free[1].toFixed(1)}px)`;
    }
  };
  const shown = () => labels.filter(({ at }) => at).map(({ span, at }) => ({ text: span.textContent, at }));
  return { lay, shown };
}
