// Play, pause, speed and the time slider.

function buildPlayback(motion, show, ended) {
  const { time, count } = motion;
  let playing = false, last = null, now = time[0], frame = 0;
  const play = (go) => {
    playing = go && count > 1;
    last = null;
    $("play").textContent = playing ? "Pause" : "Play";
  };
  const seek = (f) => {
    play(false);
    frame = Math.max(0, Math.min(count - 1, f));
    now = time[frame];
    show(frame);
  };
  const toggle = () => play(!playing);
  $("play").disabled = count < 2;
  $("play").onclick = toggle;
  $("slider").max = count - 1;
  $("slider").oninput = () => seek(Number($("slider").value));
  const natural = motion.duration >= 1.5 && motion.duration <= 60 ? 1 : Number((motion.duration / 6 || 1).toPrecision(1));
  const speeds = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 10].map((factor) => Number((factor * natural).toPrecision(3)));
  for (const speed of [...new Set([1, ...speeds])].sort((a, b) => a - b)) {
    $("speed").add(new Option(`${speed}×`, speed, speed === natural, speed === natural));
  }

  // Failed instants are marked below the slider.
  const failed = [];
  for (let f = 0; f < count; f++) {
    if (!motion.says[f]) continue;
    const run = failed.at(-1);
    if (run && run[1] === f - 1) run[1] = f; else failed.push([f, f]);
  }
  if (failed.length && failed.length < 400) {
    const stop = (f) => `${((100 * f) / Math.max(count - 1, 1)).toFixed(3)}%`;
    const parts = failed.flatMap(([a, b]) => [`transparent ${stop(a - 0.5)}`, `var(--fault) ${stop(a - 0.5)}`, `var(--fault) ${stop(b + 0.5)}`, `transparent ${stop(b + 0.5)}`]);
    $("track").style.setProperty("--bands", `linear-gradient(to right, ${parts.join(", ")})`);
  }
  const tick = (stamp) => {
    if (!playing) return;
    if (last !== null) {
      now += (Math.min(stamp - last, 250) / 1000) * Number($("speed").value);
      if (now > time[count - 1]) { now = time[0]; ended(); }
      frame = motion.frameAt(now);
      show(frame);
    }
    last = stamp;
  };
  return { play, toggle, seek, tick, step: (by) => seek(frame + by) };
}
