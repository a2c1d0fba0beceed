// Mouse, touch and keyboard; every change ends in one redraw a frame.
const $ = (id) => document.getElementById(id), tip = $("tip");
let waiting = false;

function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}

function under(x, y) {
  const lane = view.lanes.find((each) => each.kind === "agent" && y >= each.y && y <= each.y + each.height);
  if (!lane) return -1;
  let best = -1, near = 9;
  for (const i of view.shown) {
    if (view.race.agent[i] !== lane.agent) continue;
    const from = X(view.race.begin[i]), to = view.race.end[i] === Infinity ? gutter + plot : X(view.race.end[i]);
    const away = x < from ? from - x : x > to ? x - to : 0;
    if (away < near || (away === near && best < 0)) { near = away; best = i; }
    if (from > x + 12) break;
  }
  return Math.abs(y - lane.ops) < 18 || best < 0 ? best : -1;
}

function leaseUnder(x, y) {
  const t = T(x);
  return view.leases.find(({ lease, y: top }) => y >= top && y <= top + 14 && t >= lease[3] && t <= lease[4]);
}

function arrivalUnder(x, y) {
  const lane = view.lanes.find((each) => each.kind === "mailbox");
  if (y < lane.y || y > lane.y + lane.height) return null;
  return view.race.raw.arrivals.find((each) => Math.abs(X(each[0]) - x) < 7 && (view.contact < 0 || each[1] === view.contact));
}

function words(x, y) {
  const raw = view.race.raw, i = under(x, y);
  if (i >= 0) return [op.agent(i) + ": " + op.call(i), op.answer(i), op.contact(i), MS(view.race.begin[i]) + " ms, took " + op.took(i)].join("\n");
  const held = leaseUnder(x, y);
  if (held) return "lease of " + raw.agents[held.lease[0]] + ", token " + held.lease[2] + "\n" + raw.contacts[held.lease[1]] + "\n" + MS(held.lease[3]) + " to " + MS(held.lease[4]) + " ms, " + held.lease[5] + (held.lease[6] ? "\nanother grant began while it lived" : "");
  const came = arrivalUnder(x, y);
  return came ? (came[3] > 1 ? "arrived again, copy " + came[3] : "arrived") + "\nintent " + came[5] + "\n" + came[6] + "\nto " + came[7] : "";
}

function hover(event) {
  const box = canvas.getBoundingClientRect(), text = words(event.clientX - box.left, event.clientY - box.top);
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
  const top = event.clientY + 18 + tip.offsetHeight > window.innerHeight ? event.clientY - tip.offsetHeight - 12 : event.clientY + 18;
  tip.style.left = Math.max(4, left) + "px"; tip.style.top = top + "px";
}

function bindPointer() {
  const pointers = new Map();
  let moved = 0, pinch = 0;
  canvas.addEventListener("pointerdown", (event) => { pointers.set(event.pointerId, event); moved = 0; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before) { hover(event); return; }
    tip.hidden = true;
    pointers.set(event.pointerId, event);
    if (pointers.size === 2) {
      const [a, b] = [...pointers.values()], apart = Math.abs(a.clientX - b.clientX);
      if (pinch && apart) zoom(pinch / apart, T((a.clientX + b.clientX) / 2 - canvas.getBoundingClientRect().left));
      pinch = apart;
    } else {
      moved += Math.abs(event.clientX - before.clientX);
      pan(((before.clientX - event.clientX) / plot) * (view.to - view.from));
    }
    redraw();
  });
  const done = (event) => {
    if (pointers.has(event.pointerId) && pointers.size === 1 && moved < 4) {
      const box = canvas.getBoundingClientRect();
      choose(under(event.clientX - box.left, event.clientY - box.top));
    }
    pointers.delete(event.pointerId); pinch = 0;
  };
  canvas.addEventListener("pointerup", done);
  canvas.addEventListener("pointercancel", (event) => { pointers.delete(event.pointerId); pinch = 0; });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("dblclick", (event) => { zoom(0.4, T(event.clientX - canvas.getBoundingClientRect().left)); redraw(); });
  canvas.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.metaKey) zoom(Math.exp(event.deltaY * 0.0022), T(event.clientX - canvas.getBoundingClientRect().left));
    else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) pan(((event.deltaX || event.deltaY) / plot) * (view.to - view.from));
    else return;
    event.preventDefault();
    redraw();
  }, { passive: false });
}

function bindMap() {
  const go = (event) => {
    const box = map.getBoundingClientRect(), middle = ((event.clientX - box.left) / box.width) * view.race.raw.span, half = (view.to - view.from) / 2;
    view.from = middle - half; view.to = middle + half;
    clampView(); redraw();
  };
  map.addEventListener("pointerdown", (event) => { map.setPointerCapture(event.pointerId); go(event); });
  map.addEventListener("pointermove", (event) => { if (event.buttons) go(event); });
}

// The place of the chosen operation among those shown; -1 if none is.
function place() {
  let low = 0, high = view.shown.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (view.shown[middle] === view.chosen) return middle;
    if (view.shown[middle] < view.chosen) low = middle + 1; else high = middle - 1;
  }
  return -1;
}

function step(by) {
  if (!view.shown.length) return;
  const at = place();
  let next = at < 0 ? (by > 0 ? [...view.shown].findIndex((i) => view.race.end[i] >= view.from) : view.shown.length - 1) : at + by;
  next = Math.min(Math.max(next < 0 && at < 0 ? 0 : next, 0), view.shown.length - 1);
  choose(view.shown[next]);
}

function across(by) {
  const lanes = view.lanes.filter((lane) => lane.kind === "agent").map((lane) => lane.agent);
  if (view.chosen < 0) { step(1); return; }
  const agent = lanes[lanes.indexOf(view.race.agent[view.chosen]) + by], t = view.race.begin[view.chosen];
  if (agent === undefined) return;
  let best = -1;
  for (const i of view.shown)
    if (view.race.agent[i] === agent && (best < 0 || Math.abs(view.race.begin[i] - t) < Math.abs(view.race.begin[best] - t))) best = i;
  choose(best);
}

const KEYS = {
  ArrowRight: () => step(1), ArrowLeft: () => step(-1), ArrowDown: () => across(1), ArrowUp: () => across(-1),
  Home: () => choose(view.shown[0]), End: () => choose(view.shown[view.shown.length - 1]),
  "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: fit, f: nextFinding, Escape: () => choose(-1),
};

function bindKeys() {
  canvas.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const span = view.to - view.from;
    if (event.shiftKey && (event.key === "ArrowLeft" || event.key === "ArrowRight")) pan(event.key === "ArrowLeft" ? -span / 4 : span / 4);
    else if (KEYS[event.key]) KEYS[event.key]();
    else return;
    event.preventDefault();
    redraw();
  });
}
