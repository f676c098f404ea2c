// The list of levels, groups and bodies, and the stages in which a motion is shown.

function buildPanel(motion, mechanism, redraw) {
  const { bodies } = mechanism;
  const rows = [];
  let chosen = null; // the bodies that stand out, a set
  const choose = (some) => {
    const again = chosen && some.length === chosen.size && some.every((k) => chosen.has(k));
    chosen = again || !some.length ? null : new Set(some);
    mechanism.stand(chosen);
    rows.forEach((row, k) => row.setAttribute("aria-pressed", String(Boolean(chosen?.has(k)))));
    redraw();
  };
  const row = (label, some, colour, kind) => {
    const made = element("button", { type: "button", className: kind }, label);
    made.setAttribute("aria-pressed", "false");
    if (colour) {
      const swatch = element("i");
      swatch.style.background = colour;
      made.prepend(swatch);
    }
    made.onclick = () => choose(some);
    $("bodies").append(element("li", {}, made));
    return made;
  };
  const membersOf = (number) => [...bodies.keys()].filter((k) => bodies[k].sg === number);
  const levels = [...new Set(motion.groups.map((group) => group.level))].sort((a, b) => a - b);
  // First the frame and bodies in no group; then each level, its groups, and the bodies of each.
  for (const k of membersOf(0)) rows[k] = row(bodies[k].label, [k], bodies[k].colour, "");
  for (const level of levels) {
    const groups = motion.groups.filter((group) => group.level === level);
    if (levels.length > 1) row(`Level ${level}`, groups.flatMap((group) => membersOf(group.number)), null, "level");
    for (const group of groups) {
      row(group.label, membersOf(group.number), group.colour, "group").title = `Structural group ${group.number}, level ${level}`;
      for (const k of membersOf(group.number)) rows[k] = row(bodies[k].label, [k], bodies[k].colour, "");
    }
  }
  if (innerWidth < 640) $("panel").open = false;

  // A stage shows what is solved up to a level or a group, which stands out.
  const byNumber = [...motion.groups].sort((a, b) => a.number - b.number);
  const stages = {
    whole: [],
    level: levels.map((level) => ({ name: `Level ${level}`, of: motion.groups.filter((group) => group.level === level) })),
    group: byNumber.map((group) => ({ name: `${group.label}, level ${group.level}`, of: [group] })),
  };
  let stage = 0;
  const list = () => stages[$("stages").value];
  const enter = (number) => {
    const all = list();
    stage = all.length ? (number + all.length) % all.length : 0;
    const before = new Set(all.slice(0, stage + 1).flatMap(({ of }) => of.map((group) => group.number)));
    for (const body of bodies) body.staged = !all.length || body.sg === 0 || before.has(body.sg);
    chosen = null;
    if (all.length) choose(all[stage].of.flatMap((group) => membersOf(group.number)));
    else choose([]);
  };
  $("stages").hidden = motion.groups.length < 2;
  if (levels.length < 2) $("stages").querySelector("[value=level]").remove();
  return {
    choose,
    enter,
    next: (by = 1) => enter(stage + by),
    get chosen() { return chosen; },
    get staged() { return list().length > 0; },
    get about() { return list().length ? `${stage + 1} of ${list().length}: ${list()[stage].name}. ` : ""; },
    mark() { rows.forEach((one, k) => one.classList.toggle("missing", !bodies[k].solved)); },
  };
}
