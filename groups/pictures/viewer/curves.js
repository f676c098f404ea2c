// Sliders of the driven coordinates, and curves of one coordinate over time with a cursor.

function buildInputs(motion, seek) {
  const driven = motion.curves.filter((curve) => curve.driven);
  $("inputs").hidden = !driven.length;
  const sliders = driven.map((curve) => {
    const values = curve.parts[0].filter(Number.isFinite);
    const low = values.reduce((a, b) => Math.min(a, b), Infinity), high = values.reduce((a, b) => Math.max(a, b), -Infinity);
    const slider = element("input", { type: "range", min: low, max: high, step: (high - low) / 1000 || 1, disabled: !(high > low) });
    slider.setAttribute("aria-label", `${curve.label} (${curve.unit})`);
    const value = element("output");
    $("inputs").append(element("label", {}, element("span", {}, element("b", { textContent: curve.label }), value), slider));
    // The nearest instant at which the coordinate is nearest to what was set.
    slider.oninput = () => {
      const wanted = Number(slider.value), from = frame;
      let best = from, least = Infinity;
      for (let f = 0; f < motion.count; f++) {
        const away = Math.abs(curve.parts[0][f] - wanted);
        if (away < least - 1e-9 * (high - low) || (away <= least && Math.abs(f - from) < Math.abs(best - from))) {
          [best, least] = [f, away];
        }
      }
      seek(best);
    };
    return { curve, slider, value };
  });
  let frame = 0;
  return (f) => {
    frame = f;
    for (const { curve, slider, value } of sliders) {
      if (document.activeElement !== slider) slider.value = curve.parts[0][f];
      value.textContent = `${digits(curve.parts[0][f])} ${curve.unit}`;
    }
  };
}

function buildCurves(motion, seek) {
  $("coordinate").append(new Option("No curves", ""), ...motion.curves.map((curve, i) => new Option(curve.label, i)));
  $("coordinate").hidden = !motion.curves.length;
  const across = (f) => (100 * (motion.time[f] - motion.time[0])) / (motion.duration || 1);
  const panelOf = (values, title) => {
    const known = values.filter(Number.isFinite);
    let low = known.reduce((a, b) => Math.min(a, b), Infinity), high = known.reduce((a, b) => Math.max(a, b), -Infinity);
    // What is constant but for rounding is a straight line.
    if (!(high - low > 1e-6 * Math.max(Math.abs(low), Math.abs(high)))) [low, high] = [low - 1, high + 1];
    const place = (f) => `${across(f).toFixed(3)} ${(((high - values[f]) * 100) / (high - low)).toFixed(3)}`;
    let line = "", pen = "M";
    for (let f = 0; f < values.length; f++) {
      if (!Number.isFinite(values[f])) { pen = "M"; continue; }
      line += pen + place(f);
      pen = "L";
    }
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 100 100");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.innerHTML = `<path d="${line}"/><line y1="0" y2="100"/>`;
    const value = element("output");
    const figure = element("figure", {}, element("figcaption", {}, element("span", { textContent: title }), value),
      element("small", { className: "high", textContent: digits(high) }), svg,
      element("small", { className: "low", textContent: digits(low) }));
    const go = (event) => {
      const { left, width } = svg.getBoundingClientRect();
      const part = Math.min(Math.max((event.clientX - left) / width, 0), 1);
      seek(motion.frameAt(motion.time[0] + part * motion.duration));
    };
    svg.onpointerdown = (event) => { svg.setPointerCapture(event.pointerId); go(event); };
    svg.onpointermove = (event) => { if (event.buttons) go(event); };
    $("curves").append(figure);
    const cursor = svg.querySelector("line");
    return (f) => {
      cursor.setAttribute("x1", across(f));
      cursor.setAttribute("x2", across(f));
      value.textContent = Number.isFinite(values[f]) ? digits(values[f]) : "not solved";
    };
  };
  let panels = [];
  const choose = (i) => {
    $("curves").replaceChildren();
    const curve = motion.curves[i];
    panels = curve ? curve.parts.map((part, level) => panelOf(part, curve.titles[level])) : [];
  };
  return { choose, show: (f) => panels.forEach((panel) => panel(f)) };
}
