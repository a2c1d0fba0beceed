// What is shown: race, filters, the window of time, the chosen operation, and where lanes lie.
const TYPES = ["invoke", "ok", "fail", "info"];
const ROWS_MAX = 5;
const view = {
  data: null, race: null, from: 0, to: 1, chosen: -1, finding: -1,
  contact: -1, code: "", agents: null, lanes: [], height: 0, shown: null, leases: [], count: 0,
};

function setRace(index) {
  view.race = openRace(view.data.races[index]);
  view.contact = -1; view.code = ""; view.chosen = -1; view.finding = -1;
  view.agents = view.race.raw.agents.map(() => true);
  fit();
  refilter();
}

function fit() { view.from = 0; view.to = Math.max(view.race.raw.span, 1); }

function passes(i) {
  const race = view.race;
  if (!view.agents[race.agent[i]]) return false;
  if (view.contact >= 0 && race.contact[i] !== view.contact) return false;
  if (!view.code) return true;
  if (view.code === "refused") return race.type[i] === 2;
  if (view.code === "unknown") return race.type[i] === 3 || race.type[i] === 0;
  if (view.code === "ok") return race.type[i] === 1;
  return race.code[i] >= 0 && view.data.codes[race.code[i]] === view.code.slice(5);
}

function refilter() {
  const race = view.race, shown = [];
  for (let i = 0; i < race.n; i++) if (passes(i)) shown.push(i);
  view.shown = Int32Array.from(shown);
  if (view.chosen >= 0 && !passes(view.chosen)) view.chosen = -1;
  layOut();
}

// Leases that overlap lie in rows of their own; beyond a few rows they share the last one.
function layOut() {
  const raw = view.race.raw, gap = 10;
  let y = 34;
  view.lanes = []; view.leases = [];
  raw.agents.forEach((name, agent) => {
    if (!view.agents[agent]) return;
    const ends = [], mine = [];
    let shared = 0;
    for (const lease of raw.leases) {
      if (lease[0] !== agent || (view.contact >= 0 && lease[1] !== view.contact)) continue;
      let row = ends.findIndex((end) => end <= lease[3]);
      if (row < 0) row = ends.length < ROWS_MAX ? ends.length : (shared++, ROWS_MAX - 1);
      ends[row] = Math.max(lease[4], ends[row] || 0);
      mine.push([lease, row]);
    }
    const rows = Math.max(1, ends.length), lane = { kind: "agent", agent, name, y, rows, shared };
    lane.ops = y + 8 + rows * 17 + 9;
    lane.height = lane.ops - y + 25;
    for (const [lease, row] of mine) view.leases.push({ lease, y: y + 8 + row * 17, lane });
    view.lanes.push(lane);
    y += lane.height + gap;
  });
  view.lanes.push({ kind: "mailbox", name: "receiving mailbox", y, height: 40 });
  y += 40 + gap;
  const contacts = new Set();
  for (const band of raw.bands) if (view.contact < 0 || band[0] === view.contact) contacts.add(band[0]);
  [...contacts].slice(0, 12).forEach((contact) => {
    view.lanes.push({ kind: "contact", contact, name: raw.contacts[contact], y, height: 24 });
    y += 24 + 4;
  });
  view.hiddenBands = Math.max(0, contacts.size - 12);
  view.height = y + 8;
}

const op = {
  call(i) { const token = view.race.raw.ops.token[i]; return view.data.f[view.race.f[i]] + (token === null ? "" : " " + token); },
  answer(i) { return view.race.raw.strings[view.race.raw.ops.answer[i]]; },
  text(column, i) { const at = view.race.raw.ops[column][i]; return at < 0 ? "" : view.race.raw.strings[at]; },
  agent(i) { return view.race.raw.agents[view.race.agent[i]]; },
  contact(i) { return view.race.contact[i] < 0 ? "" : view.race.raw.contacts[view.race.contact[i]]; },
  took(i) { return view.race.end[i] === Infinity ? "never answered" : MS(view.race.end[i] - view.race.begin[i]) + " ms"; },
};

function zoom(factor, at) {
  const span = view.to - view.from, whole = Math.max(view.race.raw.span, 1);
  const next = Math.min(Math.max(span * factor, 5), whole * 1.1);
  const where = at === undefined ? view.chosen >= 0 ? view.race.begin[view.chosen] : (view.from + view.to) / 2 : at;
  const share = Math.min(1, Math.max(0, (where - view.from) / span));
  view.from = where - next * share;
  view.to = view.from + next;
  clampView();
}

function pan(us) { view.from += us; view.to += us; clampView(); }

function clampView() {
  const span = view.to - view.from, whole = view.race.raw.span;
  const low = -span * 0.05, high = Math.max(whole + span * 0.05 - span, low);
  view.from = Math.min(Math.max(view.from, low), high);
  view.to = view.from + span;
}

function reveal(from, to) {
  const span = view.to - view.from;
  if (from < view.from || to > view.to) {
    const middle = (from + Math.min(to, from + span)) / 2;
    view.from = middle - span / 2; view.to = middle + span / 2;
    clampView();
  }
}

// The window that holds a finding's operations, with room on both sides.
function showFinding(index) {
  const finding = view.race.raw.findings[index];
  if (!finding) return;
  view.finding = index;
  let from = finding[0], to = finding[0];
  for (const i of finding[4]) {
    from = Math.min(from, view.race.begin[i]);
    if (view.race.end[i] !== Infinity) to = Math.max(to, view.race.end[i]);
  }
  const room = Math.max((to - from) * 0.15, 200);
  view.from = from - room; view.to = to + room;
  clampView();
  if (finding[4].length) view.chosen = finding[4][finding[4].length - 1];
}
