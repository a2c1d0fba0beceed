// The data island: base64 of gzip of JSON. Nothing in it is ever put into the page as markup.
async function readData() {
  const text = document.getElementById("data").textContent.trim();
  if (typeof DecompressionStream === "undefined")
    throw new Error("This browser can't unpack the timeline's data; a current one can.");
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// One race with its columns as typed arrays; times are microseconds from its begin.
function openRace(raw) {
  const n = raw.ops.agent.length, begin = new Float64Array(n), end = new Float64Array(n);
  let t = 0;
  for (let i = 0; i < n; i++) {
    t += raw.ops.begin[i];
    begin[i] = t;
    end[i] = raw.ops.took[i] < 0 ? Infinity : t + raw.ops.took[i];
  }
  return {
    raw, n, begin, end,
    agent: Uint16Array.from(raw.ops.agent), contact: Int32Array.from(raw.ops.contact),
    f: Uint8Array.from(raw.ops.f), type: Uint8Array.from(raw.ops.type), code: Int16Array.from(raw.ops.code),
  };
}

const MS = (us) => (us / 1000).toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: us < 10000 ? 3 : 1 });
