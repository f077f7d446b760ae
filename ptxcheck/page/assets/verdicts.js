/* The table of verdicts: a row for each kernel, a column for each property. */

function verdictCell(kind) {
  const verdict = VERDICTS[kind];
  return el("span", { class: `verdict ${verdict.tone}`, title: verdict.says }, `${verdict.mark} ${kind}`);
}

function renderVerdicts(section, data, choose) {
  const properties = [];
  for (const kernel of data.kernels) {
    for (const each of kernel.verification ? kernel.verification.properties : []) {
      if (!properties.includes(each.property)) properties.push(each.property);
    }
  }
  const rows = data.kernels.map((kernel, number) => {
    const verdicts = new Map((kernel.verification ? kernel.verification.properties : []).map((each) => [each.property, each]));
    const cells = properties.map((property) => el("td", {}, verdicts.has(property) ? verdictCell(verdicts.get(property).verdict) : "–"));
    return el(
      "tr", {},
      el("th", { scope: "row" }, el("button", { type: "button", class: "link", title: kernel.name, on: { click: () => choose(number) } }, kernel.short)),
      el("td", {}, kernel.verification ? verdictCell(kernel.verification.verdict) : el("span", { class: "quiet" }, "not verified")),
      ...cells,
      el("td", { class: "quiet" }, kernel.launched || "–"),
    );
  });
  fill(
    section,
    el("h2", { id: "verdicts-title" }, "Verdicts", el("span", { class: "count" }, String(data.kernels.length))),
    dataTable("Verdicts by kernel and property", ["Kernel", "Answer", ...properties, "Launch"], rows, { class: "verdicts" }),
  );
}

/* Everything that is said of the verdicts on one kernel. */
function verdictDetails(kernel) {
  if (!kernel.verification) return [el("p", {}, "This kernel was not verified as a whole.")];
  const details = kernel.details.length ? kernel.details : [[kernel.verification.verdict, "all properties"]];
  return [
    el("p", {}, verdictCell(kernel.verification.verdict), ` — ${VERDICTS[kernel.verification.verdict].says}.`),
    el("dl", { class: "facts wide" }, el("dt", {}, "launch"), el("dd", {}, kernel.launched), ...details.flatMap(([word, text]) => [el("dt", {}, word), el("dd", {}, text)])),
  ];
}
