// Draws the view on the canvas. What would fall on a pixel already drawn in the same colour is skipped.
const canvas = document.getElementById("tl-canvas"), map = document.getElementById("tl-map");
let colours = {}, gutter = 130, plot = 600;

function readColours() {
  const style = getComputedStyle(document.documentElement), get = (name) => style.getPropertyValue("--" + name).trim();
  colours = {};
  for (const name of ["bg", "card", "ink", "muted", "line", "lane", "invalid", "ok", "no", "un", "pause", "cool", "sup", "on", "focus"]) colours[name] = get(name);
  colours.agents = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => get("a" + i));
}

const X = (us) => gutter + ((us - view.from) / (view.to - view.from)) * plot;
const T = (x) => view.from + ((x - gutter) / plot) * (view.to - view.from);

function sized(element, height) {
  const width = element.clientWidth, scale = window.devicePixelRatio || 1;
  element.style.height = height + "px";
  element.width = Math.round(width * scale); element.height = Math.round(height * scale);
  const pen = element.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  return [pen, width];
}

function draw() {
  const [pen, width] = sized(canvas, view.height);
  gutter = width < 560 ? 84 : 140; plot = Math.max(width - gutter - 10, 40);
  pen.font = "12px system-ui, 'DejaVu Sans', sans-serif"; pen.textBaseline = "middle";
  drawLanes(pen, width);
  drawAxis(pen, width);
  pen.save();
  pen.beginPath(); pen.rect(gutter, 0, plot + 10, view.height); pen.clip();
  drawFaults(pen); drawLeases(pen); drawBands(pen); drawOps(pen); drawArrivals(pen); drawPins(pen); drawChosen(pen);
  pen.restore();
  drawMap();
}

function fitText(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  let cut = text;
  while (cut && pen.measureText(cut + "…").width > room) cut = cut.slice(0, -1);
  return cut + "…";
}

function drawLanes(pen, width) {
  for (const lane of view.lanes) {
    pen.fillStyle = colours.lane;
    pen.fillRect(gutter, lane.y, width - gutter, lane.height);
    pen.fillStyle = lane.kind === "agent" ? colours.agents[lane.agent % 8] : colours.ink;
    pen.font = "600 12px system-ui, 'DejaVu Sans', sans-serif";
    pen.fillText(fitText(pen, lane.name, gutter - 16), 8, lane.y + Math.min(lane.height / 2, 18));
    pen.font = "12px system-ui, 'DejaVu Sans', sans-serif";
    if (lane.shared) { pen.fillStyle = colours.muted; pen.fillText(lane.shared + " share the last row", 8, lane.y + 34, gutter - 12); }
  }
}

function drawAxis(pen, width) {
  const span = view.to - view.from, raw = span / Math.max(2, plot / 110);
  const power = Math.pow(10, Math.floor(Math.log10(raw))), step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= raw);
  pen.strokeStyle = colours.line; pen.fillStyle = colours.muted; pen.lineWidth = 1;
  for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
    const x = Math.round(X(t)) + 0.5;
    pen.beginPath(); pen.moveTo(x, 24); pen.lineTo(x, view.height - 4); pen.stroke();
    const text = (t / 1000).toLocaleString("en-US", { maximumFractionDigits: Math.max(0, 3 - Math.floor(Math.log10(step))), signDisplay: "negative" }) + " ms";
    if (x + pen.measureText(text).width / 2 < width) { pen.textAlign = "center"; pen.fillText(text, x, 13); }
  }
  pen.textAlign = "left";
}

function drawFaults(pen) {
  const names = { pause: "paused", crash: "down", hold: "held" };
  for (const fault of view.race.raw.faults) {
    const lane = view.lanes.find((each) => each.kind === "agent" && each.agent === fault[0]);
    if (!lane) continue;
    const from = Math.max(X(fault[2]), gutter), to = Math.min(X(fault[3] < 0 ? view.race.raw.span : fault[3]), gutter + plot + 10);
    if (to < gutter || from > gutter + plot) continue;
    if (names[fault[1]]) {
      pen.fillStyle = colours.pause; pen.globalAlpha = 0.22; pen.fillRect(from, lane.y, Math.max(to - from, 1.5), lane.height); pen.globalAlpha = 0.5;
      pen.save(); pen.beginPath(); pen.rect(from, lane.y, to - from, lane.height); pen.clip();
      pen.strokeStyle = colours.pause; pen.lineWidth = 1; pen.beginPath();
      for (let x = from - lane.height - ((from - lane.height) % 8); x < to; x += 8) { pen.moveTo(x, lane.y + lane.height); pen.lineTo(x + lane.height, lane.y); }
      pen.stroke(); pen.restore(); pen.globalAlpha = 1;
      const text = names[fault[1]] + (fault[4] ? " at " + fault[4] : "");
      if (pen.measureText(text).width + 14 < to - from) label(pen, text, (from + to) / 2, lane.ops, colours.ink);
    } else {
      pen.fillStyle = colours.un; pen.fillText(fault[5] || fault[1].replace("_", " "), from + 3, lane.y + lane.height - 6);
    }
  }
}

function label(pen, text, x, y, colour) {
  const width = pen.measureText(text).width + 8;
  pen.fillStyle = colours.card; pen.globalAlpha = 0.9; pen.fillRect(x - width / 2, y - 8, width, 16); pen.globalAlpha = 1;
  pen.fillStyle = colour; pen.textAlign = "center"; pen.fillText(text, x, y + 0.5); pen.textAlign = "left";
}

function drawLeases(pen) {
  const last = new Map();
  for (const { lease, y, lane } of view.leases) {
    const from = X(lease[3]), to = X(lease[4]);
    if (to < gutter || from > gutter + plot + 10) continue;
    const wide = Math.max(to - from, 1), pixel = Math.round(to);
    if (wide < 1.5 && last.get(y) === pixel && !lease[6]) continue;
    last.set(y, pixel);
    pen.fillStyle = colours.agents[lane.agent % 8];
    pen.fillRect(from, y, wide, 14);
    if (lease[6]) { pen.strokeStyle = colours.invalid; pen.lineWidth = 2; pen.strokeRect(from, y, wide, 14); }
    pen.fillStyle = colours.on;
    for (const at of lease[7]) pen.fillRect(X(at) - 1, y + 1, 2, 12);
    const left = Math.max(from, gutter), right = Math.min(to, gutter + plot), text = right - left > 70 ? "token " + lease[2] : "" + lease[2];
    if (pen.measureText(text).width + 4 < right - left) { pen.textAlign = "center"; pen.fillText(text, (left + right) / 2, y + 7.5); pen.textAlign = "left"; }
  }
}

const KIND = (i) => { const race = view.race; return race.type[i] === 2 ? "no" : race.type[i] !== 1 ? "un" : view.data.f[race.f[i]] === "send" ? "ok" : "call"; };

function drawOps(pen) {
  const race = view.race, lanes = new Map(view.lanes.filter((lane) => lane.kind === "agent").map((lane) => [lane.agent, lane]));
  const last = new Map(), proof = new Set(view.finding >= 0 ? race.raw.findings[view.finding][4] : []), free = new Map();
  for (const i of view.shown) {
    const from = X(race.begin[i]), to = race.end[i] === Infinity ? gutter + plot + 10 : X(race.end[i]);
    if (to < gutter - 6 || from > gutter + plot + 10) continue;
    const lane = lanes.get(race.agent[i]), kind = KIND(i), key = lane.agent + kind, pixel = Math.round(to / 2);
    if (last.get(key) === pixel && to - from < 2 && !proof.has(i)) continue;
    last.set(key, pixel);
    const colour = proof.has(i) && kind === "ok" ? colours.invalid : kind === "call" ? colours.ink : colours[kind];
    mark(pen, kind, from, to, lane.ops, colour, race.end[i] === Infinity);
    const text = kind === "no" ? op.text("why", i) || "refused" : kind === "un" ? "no reply" : kind === "ok" ? op.call(i) : "";
    const wide = text && view.shown.length < 4000 ? pen.measureText(text).width : 0;
    if (wide && to - wide / 2 > (free.get(lane.agent) || 0)) {
      pen.fillStyle = colour; pen.fillText(text, to - wide / 2, lane.ops + 15);
      free.set(lane.agent, to + wide / 2 + 6);
    }
  }
}

function mark(pen, kind, from, to, y, colour, open) {
  pen.strokeStyle = pen.fillStyle = colour; pen.lineWidth = 3; pen.globalAlpha = 0.55;
  pen.beginPath(); pen.moveTo(from, y); pen.lineTo(Math.max(to, from + 1), y); pen.stroke(); pen.globalAlpha = 1;
  if (open) return;
  pen.lineWidth = 2; pen.beginPath();
  if (kind === "ok") { pen.arc(to, y, 4.5, 0, 7); pen.fill(); }
  else if (kind === "no") { pen.moveTo(to - 4, y - 4); pen.lineTo(to + 4, y + 4); pen.moveTo(to + 4, y - 4); pen.lineTo(to - 4, y + 4); pen.stroke(); }
  else if (kind === "un") { pen.moveTo(to, y - 5); pen.lineTo(to + 5, y); pen.lineTo(to, y + 5); pen.lineTo(to - 5, y); pen.closePath(); pen.stroke(); }
  else { pen.moveTo(to, y - 4); pen.lineTo(to, y + 4); pen.stroke(); }
}

function drawArrivals(pen) {
  const lane = view.lanes.find((each) => each.kind === "mailbox"), last = new Map();
  const few = view.race.raw.arrivals.filter((each) => each[0] >= view.from && each[0] <= view.to).length < 150;
  let free = 0;
  for (const arrival of view.race.raw.arrivals) {
    if (view.contact >= 0 && arrival[1] !== view.contact) continue;
    const x = X(arrival[0]), again = arrival[3] > 1, pixel = Math.round(x / 2);
    if (x < gutter - 6 || x > gutter + plot + 10 || (last.get(again) === pixel && !again)) continue;
    last.set(again, pixel);
    pen.fillStyle = again ? colours.invalid : colours.ok;
    pen.beginPath(); pen.moveTo(x - 6, lane.y + 6); pen.lineTo(x + 6, lane.y + 6); pen.lineTo(x, lane.y + 16); pen.fill();
    const text = (again ? "copy " + arrival[3] : arrival[2] < 0 ? "?" : view.race.raw.agents[arrival[2]]) + (arrival[4] ? "" : ", reply lost");
    const wide = pen.measureText(text).width;
    if ((few || again) && x - wide / 2 > free) { pen.fillText(text, x - wide / 2, lane.y + 28); free = x + wide / 2 + 6; }
  }
}

function drawBands(pen) {
  for (const lane of view.lanes) {
    if (lane.kind !== "contact") continue;
    for (const band of view.race.raw.bands) {
      if (band[0] !== lane.contact) continue;
      const from = Math.max(X(band[2]), gutter), to = Math.min(X(band[3]), gutter + plot + 10);
      if (to < gutter || from > gutter + plot + 10) continue;
      pen.fillStyle = band[1] === "cooldown" ? colours.cool : colours.sup;
      pen.fillRect(from, lane.y + 5, Math.max(to - from, 1.5), 14);
      if (pen.measureText(band[1]).width + 8 < to - from) { pen.fillStyle = colours.on; pen.textAlign = "center"; pen.fillText(band[1], (from + to) / 2, lane.y + 12.5); pen.textAlign = "left"; }
    }
  }
}

function drawPins(pen) {
  view.race.raw.findings.forEach((finding, index) => {
    const x = X(finding[0]);
    if (x < gutter - 2 || x > gutter + plot + 10) return;
    const now = index === view.finding;
    pen.strokeStyle = pen.fillStyle = colours.invalid; pen.lineWidth = now ? 2.5 : 1; pen.globalAlpha = now ? 1 : 0.5;
    pen.beginPath(); pen.moveTo(x, 24); pen.lineTo(x, view.height); pen.stroke(); pen.globalAlpha = 1;
    if (!now) return;
    const wide = pen.measureText(finding[1]).width + 10, left = Math.min(Math.max(x - wide / 2, gutter), gutter + plot + 8 - wide);
    pen.fillRect(left, 18, wide, 16); pen.fillStyle = colours.on; pen.fillText(finding[1], left + 5, 26.5);
  });
}

function drawChosen(pen) {
  if (view.chosen < 0) return;
  const lane = view.lanes.find((each) => each.kind === "agent" && each.agent === view.race.agent[view.chosen]);
  if (!lane) return;
  const from = X(view.race.begin[view.chosen]), to = view.race.end[view.chosen] === Infinity ? gutter + plot : X(view.race.end[view.chosen]);
  pen.strokeStyle = colours.focus; pen.lineWidth = 2.5;
  pen.strokeRect(from - 8, lane.ops - 9, Math.max(to - from, 0) + 16, 18);
}

function drawMap() {
  const [pen, width] = sized(map, 30), race = view.race, whole = Math.max(race.raw.span, 1), bins = new Uint32Array(width);
  for (const i of view.shown) bins[Math.min(width - 1, Math.floor((race.begin[i] / whole) * width))]++;
  const most = bins.reduce((a, b) => Math.max(a, b), 1);
  pen.fillStyle = colours.muted;
  for (let x = 0; x < width; x++) if (bins[x]) { const h = 3 + 21 * (bins[x] / most); pen.fillRect(x, 28 - h, 1, h); }
  pen.fillStyle = colours.invalid;
  for (const finding of race.raw.findings) pen.fillRect(Math.min(width - 2, (finding[0] / whole) * width) - 1, 0, 2, 30);
  const left = (view.from / whole) * width, right = (view.to / whole) * width;
  pen.strokeStyle = colours.focus; pen.lineWidth = 2; pen.strokeRect(Math.max(left, 1), 1, Math.max(Math.min(right, width - 1) - Math.max(left, 1), 3), 28);
  pen.fillStyle = colours.focus; pen.globalAlpha = 0.12; pen.fillRect(left, 1, right - left, 28); pen.globalAlpha = 1;
}
