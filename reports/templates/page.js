// Joins the controls with the view.
const PAGE = 200;
let row = 0;

function element(name, text, parent) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

function pairs(list) {
  const dl = element("dl");
  for (const [name, value] of list) if (value !== "" && value !== undefined) { element("dt", name, dl); element("dd", value, dl); }
  return dl;
}

function choose(i) {
  if (i === undefined) return;
  view.chosen = i;
  const detail = $("tl-detail");
  detail.replaceChildren();
  if (i < 0) { element("p", "No operation chosen.", detail).className = "muted"; redraw(); return; }
  reveal(view.race.begin[i], view.race.end[i]);
  const at = place();
  element("h3", op.agent(i) + ": " + op.call(i) + " → " + op.answer(i), detail);
  detail.append(pairs([
    ["contact", op.contact(i)], ["address", op.text("to", i)], ["began", MS(view.race.begin[i]) + " ms"], ["took", op.took(i)],
    ["code", op.text("why", i)], ["intent", op.text("intent", i)], ["key", op.text("key", i)], ["operation", op.text("id", i)],
    ["place", at < 0 ? "hidden by a filter" : (at + 1).toLocaleString("en-US") + " of " + view.shown.length.toLocaleString("en-US") + " shown"],
  ]));
  view.race.raw.findings.forEach((finding) => { if (finding[4].includes(i)) element("p", finding[1] + ": " + finding[2], detail).className = "word invalid wrap"; });
  redraw();
}

function nextFinding() {
  const all = view.race.raw.findings;
  if (!all.length) return;
  if (view.contact >= 0 || view.code || view.agents.includes(false)) { clearFilters(); refilter(); }
  showFinding((view.finding + 1) % all.length);
  const chosen = view.chosen;
  choose(chosen);
  if (chosen < 0) { const detail = $("tl-detail"); detail.replaceChildren(); element("p", all[view.finding][1] + ": " + all[view.finding][2], detail); }
  status();
}

function clearFilters() {
  view.contact = -1; view.code = ""; view.agents = view.agents.map(() => true);
  $("tl-contact").value = ""; $("tl-code").value = "";
  for (const box of $("tl-agents").querySelectorAll("input")) box.checked = true;
}

function status() {
  const race = view.race, all = race.n.toLocaleString("en-US"), shown = view.shown.length.toLocaleString("en-US");
  const parts = [shown === all ? all + " operations" : shown + " of " + all + " operations"];
  if (race.raw.cut) parts.push("CUT: this race has " + race.raw.cut.toLocaleString("en-US") + "; the rest is in history.jsonl");
  const found = race.raw.findings.length;
  parts.push(found ? (view.finding < 0 ? found + (found === 1 ? " finding" : " findings") : "finding " + (view.finding + 1) + " of " + found) : "no finding");
  if (view.hiddenBands) parts.push(view.hiddenBands + " contacts' cooldowns not drawn: choose a contact");
  $("tl-status").textContent = parts.join(" · ");
  $("tl-finding").disabled = !found;
}

function option(select, value, text, disabled) {
  const made = element("option", text, select);
  made.value = value; made.disabled = Boolean(disabled);
}

function fillRace() {
  const race = view.race, codes = new Set();
  for (let i = 0; i < race.n; i++) if (race.type[i] === 2 && race.code[i] >= 0) codes.add(view.data.codes[race.code[i]]);
  const select = $("tl-code");
  select.replaceChildren();
  option(select, "", "all answers"); option(select, "ok", "accepted"); option(select, "refused", "refused, any code"); option(select, "unknown", "no reply");
  for (const code of [...codes].sort()) option(select, "code:" + code, code);
  const list = $("tl-contacts");
  list.replaceChildren();
  race.raw.contacts.slice(0, 2000).forEach((name) => { element("option", undefined, list).value = name; });
  const agents = $("tl-agents");
  for (const old of agents.querySelectorAll("label")) old.remove();
  race.raw.agents.forEach((name, i) => {
    const box = element("input"), text = element("label", undefined, agents);
    box.type = "checkbox"; box.checked = true;
    box.addEventListener("change", () => { view.agents[i] = box.checked; changed(); });
    text.append(box, name);
  });
  $("tl-contact").value = "";
}

function changed() { row = 0; refilter(); status(); fillRows(); redraw(); }

function fillRows() {
  if (!$("tl-rows").open) return;
  const body = $("tl-body"), total = view.shown.length, to = Math.min(row + PAGE, total);
  body.replaceChildren();
  for (let k = row; k < to; k++) {
    const i = view.shown[k], tr = element("tr", undefined, body);
    const cells = [MS(view.race.begin[i]), op.took(i), op.agent(i), op.call(i), op.contact(i), op.answer(i)];
    cells.forEach((text, c) => { element("td", text, tr).className = c < 2 ? "n" : ""; });
  }
  $("tl-rows-note").textContent = total ? "Operations " + (row + 1).toLocaleString("en-US") + " to " + to.toLocaleString("en-US") + " of " + total.toLocaleString("en-US") + "." : "No operation passes the filter.";
  $("tl-less").disabled = row === 0; $("tl-more").disabled = to >= total;
}

function openRaceAt(index) {
  setRace(index);
  $("tl-race").value = String(index);
  fillRace();
  if (view.race.raw.findings.length) { showFinding(0); choose(view.chosen); } else choose(-1);
  row = 0;
  status(); fillRows(); redraw();
}

function bindControls() {
  const races = $("tl-race");
  view.data.races.forEach((race, i) => option(races, i, race.name + " (" + race.verdict + ")"));
  view.data.left.forEach((name) => option(races, "", name + ": not in this page, see history.jsonl", true));
  races.addEventListener("change", () => openRaceAt(Number(races.value)));
  $("tl-contact").addEventListener("input", () => { const at = view.race.raw.contacts.indexOf($("tl-contact").value); if (at >= 0 || !$("tl-contact").value) { view.contact = at; changed(); } });
  $("tl-code").addEventListener("change", () => { view.code = $("tl-code").value; changed(); });
  $("tl-finding").addEventListener("click", () => { nextFinding(); canvas.focus({ preventScroll: true }); redraw(); });
  $("tl-in").addEventListener("click", () => { zoom(0.5); redraw(); });
  $("tl-out").addEventListener("click", () => { zoom(2); redraw(); });
  $("tl-fit").addEventListener("click", () => { fit(); redraw(); });
  $("tl-rows").addEventListener("toggle", fillRows);
  $("tl-less").addEventListener("click", () => { row = Math.max(0, row - PAGE); fillRows(); });
  $("tl-more").addEventListener("click", () => { row += PAGE; fillRows(); });
  for (const link of document.querySelectorAll("[data-race]"))
    link.addEventListener("click", () => { const at = view.data.races.findIndex((race) => race.name === link.dataset.race); if (at >= 0) openRaceAt(at); });
}

function bindPage() {
  for (const button of document.querySelectorAll(".copy")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const text = button.parentElement.querySelector("code").textContent;
      try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch { button.textContent = "Select and copy"; getSelection().selectAllChildren(button.parentElement.querySelector("code")); }
    });
  }
  const closed = [];
  addEventListener("beforeprint", () => { for (const each of document.querySelectorAll("details:not([open]):not(#tl-rows)")) { each.open = true; closed.push(each); } });
  addEventListener("afterprint", () => { for (const each of closed.splice(0)) each.open = false; });
}

async function start() {
  bindPage();
  try {
    view.data = await readData();
    if (!view.data.races.length) { $("tl-error").textContent = "The history has no operations."; $("tl-error").hidden = false; return; }
    $("tl").hidden = false;
    readColours(); bindControls(); bindPointer(); bindMap(); bindKeys();
    const recolour = () => { readColours(); draw(); };
    for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", recolour);
    new ResizeObserver(redraw).observe($("tl-box"));
    openRaceAt(Math.max(0, view.data.races.findIndex((race) => race.findings.length)));
    draw();
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
  } catch (error) {
    $("tl-error").textContent = "The timeline could not be drawn: " + error.message;
    $("tl-error").hidden = false;
  }
}
start();
