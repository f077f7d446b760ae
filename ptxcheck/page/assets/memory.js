/* Shared memory by stage, with what is in flight at a step; and the columns of tensor memory. */

/* Put an element at a place and width in per cent of what it is in. */
function placed(node, left, width) {
  node.style.left = `${left}%`;
  if (width !== undefined) node.style.width = `${width}%`;
  return node;
}

function unitName(unit) {
  return unit.name === "tensor core" ? "the tensor core" : unit.name;
}

function ticks(x, values) {
  return el("div", { class: "ticks", "aria-hidden": "true" }, ...values.map((value) => placed(el("span", {}, String(value)), x(value))));
}

class SharedMemory {
  constructor(picture) {
    this.picture = picture;
    this.node = el("div", { class: "memory" });
    this.show(null);
  }

  show(stepper) {
    const placement = el("details", stepper ? {} : { open: true }, el("summary", {}, "Placement, from the code alone"), el("pre", { class: "scroll", tabindex: "0" }, this.picture.placement.map((line) => line.replace(/^ {2}/, "")).join("\n")));
    if (!stepper) {
      fill(this.node, el("p", { class: "quiet" }, "There is no run whose buffers could be shown."), placement);
      return;
    }
    const run = stepper.run;
    const cta = stepper.event ? run.roles[stepper.event.lane].cta : run.ctas[0];
    const buffers = run.data.memory[cta] || [];
    const flying = run.inFlight(stepper.moment);
    const stateOf = (buffer, stage) => flying.filter((work) => work.touched.some(([c, b, s]) => c === cta && b === buffer && s === stage));
    fill(
      this.node,
      el("p", { class: "quiet" }, `${run.ctas.length > 1 ? `CTA ${cta}. ` : ""}After step ${stepper.moment + 1}. Offsets are in bytes from the start of shared memory, whose first 1024 the system keeps.`),
      buffers.length ? this.strip(buffers, stateOf) : el("p", { class: "quiet" }, "Asynchronous work touches no shared memory at a known place."),
      buffers.length ? this.table(run, buffers, stateOf) : null,
      placement,
    );
  }

  strip(buffers, stateOf) {
    const low = Math.min(1024, d3.min(buffers, (buffer) => buffer.starts[0]));
    const high = d3.max(buffers, (buffer) => buffer.starts[buffer.starts.length - 1] + Math.max(buffer.size, 1));
    const x = d3.scaleLinear().domain([low, high]).range([0, 100]);
    const starts = buffers.flatMap((buffer) => buffer.starts).sort((a, b) => a - b);
    const cells = buffers.flatMap((buffer, number) => buffer.starts.map((start, stage) => {
      const next = starts[d3.bisectRight(starts, start)];
      const end = buffer.exact || next === undefined ? start + buffer.size : next;
      const works = stateOf(number, stage);
      const isBarrier = buffer.uses.includes("mbarrier");
      const state = isBarrier ? "barrier" : works.some((work) => work.writes) ? "filled" : works.length ? "read" : stage % 2 ? "odd" : "even";
      const name = isBarrier || x(end) - x(start) < 2.5 ? "" : buffer.starts.length > 1 ? String(stage) : "●";
      return placed(el("div", { class: `cell ${state}`, title: `${buffer.name}, stage ${stage}` }, name), x(start), x(end) - x(start));
    }));
    return el("figure", {},
      el("div", { class: "strip", role: "img", "aria-label": "Map of shared memory; the table says the same" }, ...cells),
      ticks(x, x.ticks(5)),
      el("figcaption", { class: "quiet" }, "Numbers are stages. ", el("span", { class: "swatch filled" }), " being filled ", el("span", { class: "swatch read" }), " being read ", el("span", { class: "swatch barrier" }), " mbarriers"));
  }

  table(run, buffers, stateOf) {
    const most = Math.min(16, d3.max(buffers, (buffer) => buffer.starts.length));
    const rows = buffers.map((buffer, number) => {
      const cells = d3.range(most).map((stage) => {
        if (stage >= buffer.starts.length) return el("td", { class: "none" }, "");
        const works = stateOf(number, stage);
        const writes = works.filter((work) => work.writes);
        const state = writes.length ? `being filled by ${unitName(run.units[writes[0].lane])}` : works.length ? `being read by ${unitName(run.units[works[0].lane])}` : "";
        return el("td", { class: writes.length ? "filled" : works.length ? "read" : "" }, String(buffer.starts[stage]), state ? el("div", { class: "state" }, state) : null);
      });
      const pieces = buffer.pieces > 1 ? `, in ${buffer.pieces} pieces` : "";
      return el("tr", {}, el("th", { scope: "row" }, buffer.name), el("td", {}, buffer.uses.join(", ") + pieces), el("td", {}, buffer.exact ? String(buffer.size) : `at least ${buffer.size}`), ...cells,
        most < buffer.starts.length ? el("td", {}, `and ${buffer.starts.length - most} more`) : null);
    });
    return dataTable("Shared memory by stage", ["Buffer", "Use", "Bytes of a stage", ...d3.range(most).map((stage) => `Stage ${stage}`)], rows, { class: "stages" });
  }
}

function tensorMemory(tensor, places) {
  if (!tensor) return [el("p", { class: "quiet" }, "This kernel allocates no tensor memory.")];
  const x = d3.scaleLinear().domain([0, tensor.columns]).range([0, 100]);
  let at = 0;
  const blocks = tensor.allocations.map((one, number) => {
    const cell = placed(el("div", { class: `cell ${number % 2 ? "odd" : "even"}` }, String(one.most)), x(at), x(one.most));
    at += one.most;
    return cell;
  });
  const ranges = tensor.ranges.slice(0, 12).map((range) => el("div", { class: "strip thin" }, placed(el("div", { class: `cell ${range.what}` }), x(range.first), x(range.count))));
  const allocated = tensor.allocations.map((one) => el("tr", {}, el("th", { scope: "row" }, one.least === one.most ? String(one.least) : `${one.least} to ${one.most}`), el("td", {}, one.pair ? "both CTAs of a pair" : "this CTA"), el("td", { class: "at" }, shortPlace(places[one.point]))));
  const used = tensor.ranges.map((range) => el("tr", {}, el("th", { scope: "row" }, range.what), el("td", {}, `${range.first}–${range.first + range.count - 1}`), el("td", {}, range.absolute ? "absolute" : "of the allocation"), el("td", { class: "at" }, shortPlace(places[range.point]))));
  return [
    el("figure", {}, el("div", { role: "img", "aria-label": "Columns of tensor memory; the tables say the same" }, el("div", { class: "strip tensor" }, ...blocks), ...ranges), ticks(x, d3.range(0, tensor.columns + 1, 128)),
      el("figcaption", { class: "quiet" }, `${tensor.columns} columns. Where the hardware puts an allocation is not known before the run; it is drawn from column 0.`)),
    dataTable("Allocations of tensor memory", ["Columns", "In", "Where"], allocated, {}),
    used.length ? dataTable("Columns that instructions name", ["Use", "Columns", "Counted", "First at"], used, {}) : el("p", { class: "quiet" }, "Which columns instructions name could not be followed."),
  ];
}
