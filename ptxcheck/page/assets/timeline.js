/* The picture of one run: lanes of threads, asynchronous units and barriers over the steps of the run. */

const ROLE_HEIGHT = 36;
const BAR_HEIGHT = 15;
const MOST_BARS_HEIGHT = 168;
const BARRIER_HEIGHT = 24;
const HEADING_HEIGHT = 26;
const AXIS_HEIGHT = 26;
const MARGIN = 14;
const ZOOM = { least: 8, most: 130, first: 26, readable: 20 };

/* Names for the numbers of the packed data. */
class Run {
  constructor(data, places) {
    this.data = data;
    this.places = places;
    this.roles = data.roles.map(([name, cta]) => ({ name, cta }));
    this.units = data.units.map(([name, cta]) => ({ name, cta }));
    this.events = data.events.map((e, index) => ({
      index, order: e[0], moment: e[1], lane: e[2], kind: e[3], text: data.texts[e[4]], point: e[5],
      barriers: e[6], phase: e[7], causes: e[8], stuck: e[9] === 1, bad: e[10] === 1,
    }));
    this.work = data.work.map((w, index) => ({
      index, lane: w[0], event: w[1], start: w[2], end: w[3], count: w[4], writes: w[5] === 1,
      touched: data.touched[index],
    }));
    this.barriers = data.barriers.map((b, index) => ({
      index, name: b.name, cta: b.cta, mbarrier: b.mbarrier,
      states: b.states.map((s) => ({
        moment: s[0], phase: s[1], pending: s[2], count: s[3], expected: data.texts[s[4]], completed: data.texts[s[5]],
      })),
    }));
    this.last = data.last;
    this.ctas = [...new Set(this.roles.map((role) => role.cta))].sort((a, b) => a - b);
    this.byMoment = d3.range(this.last + 1).map(() => []);
    this.byLane = this.roles.map(() => []);
    for (const event of this.events) {
      this.byMoment[event.moment].push(event);
      this.byLane[event.lane].push(event);
    }
    for (const events of this.byMoment) events.sort((a, b) => a.lane - b.lane || a.order - b.order);
  }

  get bad() {
    return this.events.find((event) => event.bad) || this.events.find((event) => event.stuck) || null;
  }

  get hangs() {
    return this.events.some((event) => event.stuck);
  }

  stateAt(barrier, moment) {
    const place = d3.bisector((state) => state.moment).right(barrier.states, moment);
    return place ? barrier.states[place - 1] : null;
  }

  /* Work that has started, and that nobody knows to be done. */
  inFlight(moment) {
    return this.work.filter((work) => work.start <= moment && (work.end === null || work.end > moment));
  }

  /* For each role that is blocked after a step, the event that it waits to come to its end. */
  blocked(moment) {
    const found = [];
    for (const events of this.byLane) {
      const next = events.find((event) => event.moment > moment || (event.moment === moment && event.stuck));
      if (!next) continue;
      const before = events.filter((event) => event.moment <= moment && event !== next).pop();
      const waits = ["wait", "meet", "group"].includes(next.kind);
      if (next.stuck && (!before || before.moment <= moment)) {
        const previous = before ? before.moment : -1;
        if (next.moment === moment || moment > previous) found.push(next);
      } else if (waits && before && moment > before.moment) found.push(next);
    }
    return found;
  }

  who(event) {
    return this.roles[event.lane].name;
  }
}

class Timeline {
  constructor(run, select) {
    this.run = run;
    this.select = select;
    this.unit = ZOOM.first;
    this.cta = null;
    this.moment = 0;
    this.event = null;
    this.corner = el("div", { class: "corner", "aria-hidden": "true" }, "step");
    this.labels = el("div", { class: "labels" });
    this.axis = d3.create("svg:svg").attr("class", "axis").attr("aria-hidden", "true");
    this.plot = d3.create("svg:svg").attr("class", "plot").attr("role", "group").attr("aria-label", "Timeline of the run");
    this.node = el(
      "div", { class: "timeline" },
      el("div", { class: "grid" }, this.corner, this.axis.node(), this.labels, this.plot.node()),
    );
    this.node.addEventListener("scroll", hideTooltip, { passive: true });
    this.draw();
  }

  shows(lane) {
    return this.cta === null || lane.cta === this.cta;
  }

  zoom(factor) {
    this.unit = Math.max(ZOOM.least, Math.min(ZOOM.most, this.unit * factor));
    this.draw();
    this.show(this.moment, this.event, true);
  }

  fit(least) {
    const room = this.node.clientWidth - this.labels.offsetWidth - 2 * MARGIN - 4;
    this.unit = Math.max(least || ZOOM.least, Math.min(ZOOM.most, room / (this.run.last + 1)));
    this.draw();
    this.show(this.moment, this.event, true);
  }

  filter(cta) {
    this.cta = cta;
    this.draw();
    this.show(this.moment, this.event, true);
  }

  /* Rows from top to bottom, each with what it shows. */
  layOut() {
    const rows = [];
    let top = 0;
    const add = (row, height) => {
      rows.push({ ...row, top, height });
      top += height;
    };
    const roles = this.run.roles.map((lane, index) => ({ lane, index })).filter(({ lane }) => this.shows(lane));
    const units = this.run.units.map((lane, index) => ({ lane, index })).filter(({ lane }) => this.shows(lane));
    const barriers = this.run.barriers.filter((barrier) => this.shows(barrier));
    this.bars = new Map();
    this.barHeights = new Map();
    add({ kind: "heading", name: "Threads" }, HEADING_HEIGHT);
    for (const { lane, index } of roles) add({ kind: "role", name: lane.name, index }, ROLE_HEIGHT);
    if (units.length) add({ kind: "heading", name: "Asynchronous units" }, HEADING_HEIGHT);
    for (const { lane, index } of units) {
      const count = this.pack(index);
      const tall = Math.max(3, Math.min(BAR_HEIGHT, MOST_BARS_HEIGHT / count));
      this.barHeights.set(index, tall);
      const cta = this.run.ctas.length > 1 ? `CTA ${lane.cta}: ` : "";
      add({ kind: "unit", name: `${cta}${lane.name}`, index }, Math.ceil(count * tall) + 12);
    }
    if (barriers.length) add({ kind: "heading", name: "Barriers" }, HEADING_HEIGHT);
    for (const barrier of barriers) add({ kind: "barrier", name: barrier.name, index: barrier.index }, BARRIER_HEIGHT);
    this.rows = rows;
    this.height = top;
    this.roleRows = new Map(rows.filter((row) => row.kind === "role").map((row) => [row.index, row]));
    this.unitRows = new Map(rows.filter((row) => row.kind === "unit").map((row) => [row.index, row]));
  }

  /* Give the bars of one unit rows of their own where they overlap; return how many there are. */
  pack(unit) {
    const ends = [];
    for (const work of this.run.work.filter((each) => each.lane === unit)) {
      const end = work.end === null ? this.run.last + 1 : work.end;
      let row = ends.findIndex((free) => free <= work.start);
      if (row < 0) row = ends.push(0) - 1;
      ends[row] = Math.max(end, work.start + 0.5);
      this.bars.set(work.index, row);
    }
    return Math.max(1, ends.length);
  }

  draw() {
    this.layOut();
    const run = this.run;
    const width = Math.ceil(2 * MARGIN + this.unit * (run.last + 1));
    this.x = d3.scaleLinear().domain([-0.5, run.last + 0.5]).range([MARGIN, width - MARGIN]);
    this.drawLabels();
    this.drawAxis(width);
    this.plot.attr("width", width).attr("height", this.height).attr("viewBox", `0 0 ${width} ${this.height}`);
    this.plot.selectAll("*").remove();
    this.define();
    this.band = this.plot.append("rect").attr("class", "band").attr("y", 0).attr("height", this.height);
    this.drawRows(width);
    this.about = this.plot.append("g").attr("class", "about");
    this.drawStripes();
    this.drawWaiting();
    this.drawWork();
    this.drawArrows();
    this.drawEvents();
  }

  drawLabels() {
    fill(this.labels, ...this.rows.map((row) => {
      const label = el("div", { class: `lane ${row.kind}`, title: row.name }, el("span", {}, row.name));
      label.style.height = `${row.height}px`;
      return label;
    }));
  }

  drawAxis(width) {
    this.axis.attr("width", width).attr("height", AXIS_HEIGHT).attr("viewBox", `0 0 ${width} ${AXIS_HEIGHT}`);
    this.axis.selectAll("*").remove();
    const every = Math.max(1, Math.ceil(34 / this.unit));
    const ticks = d3.range(0, this.run.last + 1, every);
    const axis = d3.axisTop(this.x).tickValues(ticks).tickFormat((moment) => String(moment + 1)).tickSizeOuter(0);
    this.axis.append("g").attr("transform", `translate(0,${AXIS_HEIGHT - 1})`).call(axis).attr("font-family", null).attr("font-size", null).attr("fill", null);
    this.axis.append("rect").attr("class", "band").attr("y", 0).attr("height", AXIS_HEIGHT);
  }

  define() {
    const defs = this.plot.append("defs");
    for (const name of ["hatch", "hatch-bad"]) {
      const pattern = defs.append("pattern").attr("id", name).attr("width", 6).attr("height", 6).attr("patternUnits", "userSpaceOnUse").attr("patternTransform", "rotate(45)");
      pattern.append("rect").attr("width", 6).attr("height", 6).attr("class", `${name}-ground`);
      pattern.append("line").attr("y2", 6).attr("class", `${name}-line`);
    }
    for (const name of ["tip", "tip-active"]) {
      defs.append("marker").attr("id", name).attr("viewBox", "0 0 8 8").attr("refX", 7).attr("refY", 4).attr("markerWidth", 7).attr("markerHeight", 7).attr("orient", "auto")
        .append("path").attr("d", "M0,0L8,4L0,8z").attr("class", name);
    }
  }

  drawRows(width) {
    this.plot.append("g").attr("class", "rows").selectAll("rect").data(this.rows).enter().append("rect")
      .attr("class", (row) => row.kind).attr("y", (row) => row.top).attr("width", width).attr("height", (row) => row.height);
    this.plot.append("g").attr("class", "threads").selectAll("line").data([...this.roleRows.values()]).enter().append("line")
      .attr("x1", this.x(-0.5)).attr("x2", this.x(this.run.last + 0.5))
      .attr("y1", (row) => row.top + row.height / 2).attr("y2", (row) => row.top + row.height / 2);
  }

  /* Phases of each barrier as stripes, one tint after the other. */
  drawStripes() {
    const stripes = [];
    for (const row of this.rows.filter((each) => each.kind === "barrier")) {
      const barrier = this.run.barriers[row.index];
      let from = barrier.mbarrier ? null : { phase: 0, at: -0.5 };
      const close = (at) => {
        if (from && from.phase !== null && at > from.at) stripes.push({ row, barrier, phase: from.phase, start: from.at, end: at });
      };
      for (const state of barrier.states) {
        if (from && from.phase === state.phase) continue;
        close(state.moment);
        from = { phase: state.phase, at: state.moment };
      }
      close(this.run.last + 0.5);
    }
    const group = this.plot.append("g").attr("class", "stripes").selectAll("g").data(stripes).enter().append("g");
    group.append("rect").attr("class", (s) => (s.phase % 2 ? "odd" : "even"))
      .attr("x", (s) => this.x(s.start)).attr("width", (s) => Math.max(0, this.x(s.end) - this.x(s.start)))
      .attr("y", (s) => s.row.top + 3).attr("height", BARRIER_HEIGHT - 6);
    group.append("text").attr("x", (s) => this.x(s.start) + 5).attr("y", (s) => s.row.top + 16).text((s) => {
      const room = this.x(s.end) - this.x(s.start);
      if (room < 13) return "";
      return room < 62 ? String(s.phase) : `${s.barrier.mbarrier ? "phase" : "round"} ${s.phase}`;
    });
  }

  /* Where threads stand still. */
  drawWaiting() {
    const waits = [];
    for (const [lane, row] of this.roleRows) {
      let before = -0.5;
      for (const event of this.run.byLane[lane]) {
        if (event.stuck) waits.push({ row, from: Math.max(before, -0.5), to: this.run.last + 0.5, stuck: true });
        else if (["wait", "meet", "group"].includes(event.kind) && event.moment - before > 1) waits.push({ row, from: before, to: event.moment, stuck: false });
        before = event.moment;
      }
    }
    this.plot.append("g").attr("class", "waiting").selectAll("rect").data(waits).enter().append("rect")
      .attr("class", (w) => (w.stuck ? "stuck" : "blocked")).attr("fill", (w) => `url(#${w.stuck ? "hatch-bad" : "hatch"})`)
      .attr("x", (w) => this.x(w.from)).attr("width", (w) => Math.max(0, this.x(w.to) - this.x(w.from)))
      .attr("y", (w) => w.row.top + w.row.height / 2 - 6).attr("height", 12);
  }

  barHeight(work) {
    return this.barHeights.get(work.lane);
  }

  barTop(work) {
    return this.unitRows.get(work.lane).top + 6 + this.bars.get(work.index) * this.barHeight(work);
  }

  barEnd(work) {
    const end = work.end === null ? this.run.last + 0.5 : work.end;
    return Math.max(this.x(end), this.x(work.start) + 6);
  }

  drawWork() {
    const shown = this.run.work.filter((work) => this.unitRows.has(work.lane));
    const group = this.plot.append("g").attr("class", "work").selectAll("g").data(shown).enter().append("g");
    group.attr("class", (w) => `bar ${this.run.units[w.lane].name.replace(/[^a-z]+/gi, "-").toLowerCase()}${w.end === null ? " open" : ""}`);
    group.append("rect").attr("x", (w) => this.x(w.start)).attr("width", (w) => this.barEnd(w) - this.x(w.start))
      .attr("y", (w) => this.barTop(w)).attr("height", (w) => this.barHeight(w) - (this.barHeight(w) > 8 ? 3 : 1)).attr("rx", (w) => (this.barHeight(w) > 8 ? 3 : 1));
    group.append("text").attr("x", (w) => this.x(w.start) + 5).attr("y", (w) => this.barTop(w) + 10).text((w) => {
      const room = this.barEnd(w) - this.x(w.start) - 8;
      const barriers = this.run.events[w.event].barriers;
      const name = barriers.length ? this.run.barriers[barriers[0]].name : w.count > 1 ? `×${w.count}` : "";
      return name.length * 6.2 < room && this.barHeight(w) > 12 ? name : "";
    });
    group.on("click", (w) => this.select(this.run.events[w.event].moment, w.event))
      .on("mouseenter", (w, index, nodes) => this.tellWork(w, nodes[index]))
      .on("mouseleave", hideTooltip);
  }

  tellWork(work, node) {
    const event = this.run.events[work.event];
    const until = work.end === null ? "nobody waits for it in this run" : `somebody knows that it is done at step ${work.end + 1}`;
    showTooltip(
      [["strong", this.run.units[work.lane].name], ["", event.text], ["quiet", `from step ${work.start + 1}; ${until}`], ...this.sourceOf(event)],
      node.getBoundingClientRect(),
    );
  }

  /* Arrows from what completes a phase to what waits for it; those of copies start where their bar ends. */
  drawArrows() {
    const byEvent = new Map(this.run.work.map((work) => [work.event, work]));
    const arrows = [];
    for (const event of this.run.events) {
      const to = this.roleRows.get(event.lane);
      for (const cause of to ? event.causes : []) {
        const from = this.run.events[cause];
        const work = byEvent.get(cause);
        const unit = work && this.unitRows.has(work.lane) ? work : null;
        const row = this.roleRows.get(from.lane);
        if (!unit && (!row || from.lane === event.lane)) continue;
        const start = unit ? [this.barEnd(unit), this.barTop(unit) + this.barHeight(unit) / 2] : [this.x(from.moment), row.top + row.height / 2];
        arrows.push({ event, meets: event.kind === "meet", start, end: [this.x(event.moment), to.top + to.height / 2] });
      }
    }
    this.arrows = this.plot.append("g").attr("class", "arrows").attr("aria-hidden", "true").selectAll("path").data(arrows).enter().append("path").attr("class", (arrow) => (arrow.meets ? "meets" : null))
      .attr("d", ({ start, end }) => {
        const down = end[1] > start[1] ? 1 : -1;
        const [x0, y0, x1, y1] = [start[0], start[1] + 5 * down, end[0], end[1] - 9 * down];
        const bend = Math.max(12, Math.abs(x1 - x0) / 2);
        return `M${x0},${y0}C${x0 + bend},${y0} ${x1 - bend / 2},${y1 - 18 * down} ${x1},${y1}`;
      });
  }

  drawEvents() {
    const shown = this.run.events.filter((event) => this.roleRows.has(event.lane));
    const y = (event) => this.roleRows.get(event.lane).top + ROLE_HEIGHT / 2;
    const narrow = Math.min(1, this.unit / 14);
    this.marks = this.plot.append("g").attr("class", "events").selectAll("g").data(shown, (event) => event.index).enter().append("g")
      .attr("class", (event) => `event ${event.kind}${event.stuck ? " stuck" : ""}${event.bad ? " bad" : ""}`)
      .attr("transform", (event) => `translate(${this.x(event.moment)},${y(event)})`)
      .attr("role", "button").attr("tabindex", -1)
      .attr("aria-label", (event) => this.label(event));
    this.marks.append("rect").attr("class", "reach").attr("x", -this.unit / 2).attr("width", this.unit).attr("y", -ROLE_HEIGHT / 2).attr("height", ROLE_HEIGHT);
    this.marks.append("path").attr("d", d3.symbol().type((event) => KINDS[event.kind].symbol).size((event) => (event.stuck || event.bad ? 150 : 84) * narrow));
    this.marks.on("click", (event) => this.select(event.moment, event.index))
      .on("mouseenter", (event, index, nodes) => this.tell(event, nodes[index]))
      .on("mouseleave", hideTooltip)
      .on("blur", hideTooltip);
  }

  label(event) {
    const number = event.stuck ? "" : `, number ${event.order} of the run`;
    return `Step ${event.moment + 1}${number}: ${this.run.who(event)} ${event.text}`;
  }

  sourceOf(event) {
    const place = this.run.places[event.point];
    if (!place) return [];
    const told = place.frames.filter(isToldWhole);
    const frames = told.length > 2 ? [told[0], told[told.length - 1]] : told;
    const lines = frames.map((frame) => ["source", `${placeText({ ...frame, file: shortPath(frame.file) })}  ${frame.text.trim()}`]);
    if (!told.length && place.frames.length) lines.push(["source", placeText(place.frames[0])]);
    lines.push(["source", `PTX ${place.line}  ${place.text.trim()}`]);
    return lines;
  }

  tell(event, node) {
    const number = event.stuck ? "" : ` · number ${event.order} of the run`;
    showTooltip(
      [["strong", this.run.who(event)], ["", event.text], ["quiet", `step ${event.moment + 1}${number}`], ...this.sourceOf(event)],
      node.getBoundingClientRect(),
    );
  }

  /* Mark a step, and one of its events; keep it in sight. */
  show(moment, index, quietly) {
    this.moment = moment;
    this.event = index;
    const left = this.x(moment - 0.5);
    for (const band of [this.band, this.axis.select(".band")]) band.attr("x", left).attr("width", this.unit);
    this.marks.classed("now", (event) => event.moment === moment).classed("selected", (event) => event.index === index)
      .attr("tabindex", (event) => (event.index === index ? 0 : -1));
    this.arrows.classed("active", ({ event }) => event.moment === moment)
      .attr("marker-end", ({ event }) => `url(#${event.moment === moment ? "tip-active" : "tip"})`);
    this.outline(index);
    this.keepInSight(left, index);
    if (!quietly) hideTooltip();
  }

  /* Mark the barriers that an event is about. */
  outline(index) {
    const event = index === null ? null : this.run.events[index];
    const rows = this.rows.filter((row) => row.kind === "barrier" && event && event.barriers.includes(row.index));
    const right = this.x(this.run.last + 0.5);
    this.about.selectAll("rect").remove();
    this.about.selectAll("rect").data(rows).enter().append("rect").attr("class", event && event.stuck ? "stuck" : "")
      .attr("x", 2).attr("width", right + MARGIN - 4).attr("y", (row) => row.top + 1).attr("height", BARRIER_HEIGHT - 2).attr("rx", 4);
  }

  keepInSight(left, index) {
    const labels = this.labels.offsetWidth;
    const room = this.node.clientWidth - labels;
    if (left < this.node.scrollLeft + 20 || left + this.unit > this.node.scrollLeft + room - 20) this.node.scrollLeft = Math.max(0, left - room / 2);
    const row = index === null ? null : this.roleRows.get(this.run.events[index].lane);
    if (row && (row.top < this.node.scrollTop || row.top + row.height > this.node.scrollTop + this.node.clientHeight - AXIS_HEIGHT)) this.node.scrollTop = Math.max(0, row.top - HEADING_HEIGHT);
  }

  focus(index) {
    const mark = this.marks.filter((event) => event.index === index).node();
    if (!mark) return;
    mark.focus({ preventScroll: true });
    this.tell(this.run.events[index], mark);
  }
}

function legend(run) {
  const kinds = Object.keys(KINDS).filter((kind) => run.events.some((event) => event.kind === kind));
  const items = kinds.map((kind) => {
    const svg = d3.create("svg:svg").attr("class", "events").attr("width", 18).attr("height", 18).attr("viewBox", "-9 -9 18 18").attr("aria-hidden", "true");
    svg.append("g").attr("class", `event ${kind}`).append("path").attr("d", d3.symbol().type(KINDS[kind].symbol).size(84));
    return el("li", {}, svg.node(), KINDS[kind].word);
  });
  const swatch = (name) => el("span", { class: `swatch ${name}`, "aria-hidden": "true" });
  items.push(el("li", {}, swatch("blocked"), "stands still"));
  if (run.work.length) items.push(el("li", {}, swatch("work"), "work in flight, until somebody knows that it is done"));
  items.push(el("li", {}, swatch("stripe"), "phases of a barrier"));
  return el("ul", { class: "legend", "aria-label": "Marks" }, ...items);
}
