/* The control-flow graph: blocks with what they do to barriers and asynchronous units. */

class ControlFlow {
  constructor(flow, places) {
    this.flow = flow;
    this.places = places;
    this.node = el("div", { class: "flow" }, ...this.parts());
  }

  parts() {
    const flow = this.flow;
    const note = flow.shown === flow.all
      ? `${plural(flow.all, "block")}; instructions for barriers and asynchronous work are shown.`
      : `${flow.shown} of ${plural(flow.all, "block")}: those with instructions for barriers and asynchronous work. An arrow stands for all ways between two of them.`;
    const parts = [el("p", { class: "quiet" }, note)];
    if (flow.drawn) parts.push(el("div", { class: "scroll graph", tabindex: "0", role: "region", "aria-label": "Control-flow graph" }, this.draw()));
    else parts.push(el("p", { class: "quiet" }, "These are too many to draw; the table lists them."));
    this.detail = el("div", { class: "block-detail", "aria-live": "polite" });
    parts.push(this.detail, el("details", flow.drawn ? {} : { open: true }, el("summary", {}, "The same as a table"), this.table()));
    return parts;
  }

  draw() {
    const { blocks, edges } = this.flow;
    const margin = 30;
    const at = new Map(blocks.map((block) => [block.index, block.at]));
    const loops = edges.filter((edge) => edge.back).length;
    const width = this.flow.width + 2 * margin + 24 + 10 * Math.min(loops, 12);
    const svg = d3.create("svg:svg").attr("width", width).attr("height", this.flow.height + 2 * margin)
      .attr("viewBox", `${-margin} ${-margin} ${width} ${this.flow.height + 2 * margin}`).attr("role", "group").attr("aria-label", "Control-flow graph");
    svg.append("defs").append("marker").attr("id", "flow-tip").attr("viewBox", "0 0 8 8").attr("refX", 7).attr("refY", 4).attr("markerWidth", 7).attr("markerHeight", 7).attr("orient", "auto")
      .append("path").attr("d", "M0,0L8,4L0,8z").attr("class", "tip");
    const lines = svg.append("g").attr("class", "edges").selectAll("g").data(edges).enter().append("g").attr("class", (edge) => (edge.back ? "edge back" : "edge"));
    let turn = 0;
    lines.append("path").attr("marker-end", "url(#flow-tip)").attr("d", (edge) => {
      const [a, b] = edge.ends.map((end) => at.get(end));
      if (edge.back) return this.around(a, b, turn++);
      const points = [[a[0], a[1] + a[3] / 2], ...edge.bends, [b[0], b[1] - b[3] / 2 - 1]];
      return d3.line().curve(d3.curveMonotoneY)(points);
    });
    lines.append("text").text((edge) => edge.label).attr("x", (edge) => this.labelAt(edge, at)[0]).attr("y", (edge) => this.labelAt(edge, at)[1]);
    this.boxes = svg.append("g").attr("class", "blocks").selectAll("g").data(blocks).enter().append("g").attr("class", (block) => `block${block.rows.length ? "" : " plain"}${block.head ? " head" : ""}`)
      .attr("transform", (block) => `translate(${block.at[0] - block.at[2] / 2},${block.at[1] - block.at[3] / 2})`)
      .attr("tabindex", 0).attr("role", "button").attr("aria-label", (block) => this.name(block))
      .on("click", (block) => this.tell(block)).on("focus", (block) => this.tell(block));
    this.boxes.append("rect").attr("width", (block) => block.at[2]).attr("height", (block) => block.at[3]).attr("rx", 5);
    this.boxes.append("text").attr("class", "title").attr("x", 9).attr("y", 17).text((block) => this.name(block, true));
    this.boxes.each(function (block) {
      const lines = block.rows.map(([, text]) => text);
      if (block.more) lines.push(`… ${block.more} more`);
      if (block.ends.length) lines.push(block.ends.join(", "));
      d3.select(this).selectAll("text.row").data(lines).enter().append("text").attr("class", "row").attr("x", 9).attr("y", (_, row) => 36 + 16 * row).text((text) => text);
    });
    return svg.node();
  }

  around(a, b, turn) {
    const right = Math.max(a[0] + a[2] / 2, b[0] + b[2] / 2) + 16 + 10 * (turn % 12);
    const [y0, y1] = [a[1] + a[3] / 2 - 8, b[1] - b[3] / 2 + 12];
    return `M${a[0] + a[2] / 2},${y0}H${right - 6}Q${right},${y0} ${right},${y0 - 6 * Math.sign(y0 - y1)}V${y1 + 6 * Math.sign(y0 - y1)}Q${right},${y1} ${right - 6},${y1}H${b[0] + b[2] / 2 + 1}`;
  }

  labelAt(edge, at) {
    const [a, b] = edge.ends.map((end) => at.get(end));
    if (edge.back) return [a[0] + a[2] / 2 + 4, a[1] + a[3] / 2 - 12];
    const next = edge.bends.length ? edge.bends[0] : [b[0], b[1] - b[3] / 2];
    const y = a[1] + a[3] / 2;
    return [a[0] + (next[0] - a[0]) * 0.5 + 5, y + (next[1] - y) * 0.5];
  }

  lines(block) {
    const [first, last] = block.points.map((point) => this.places[point].line);
    return first === last ? `line ${first}` : `lines ${first}–${last}`;
  }

  name(block, short) {
    const lines = block.points.length ? this.lines(block) : "empty";
    const loop = block.loop && !short ? `, in ${plural(block.loop, "loop")}` : "";
    return `${block.index}: ${lines}${loop}`;
  }

  tell(block) {
    const rows = block.rows.map(([point]) => sourceLine(this.places[point].line, this.places[point].text, 0, 0));
    fill(this.detail, el("h3", {}, `Block ${this.name(block)}, ${plural(block.count, "instruction")}`), ...(rows.length ? rows : [el("p", { class: "quiet" }, "It does nothing to barriers or asynchronous work.")]),
      ...(block.points.length ? placeBlock(this.places[block.points[0]]) : []));
  }

  table() {
    const rows = this.flow.blocks.map((block) => el(
      "tr", {},
      el("th", { scope: "row" }, String(block.index)),
      el("td", {}, block.points.length ? this.lines(block) : "empty"),
      el("td", {}, String(block.count)),
      el("td", {}, block.loop ? String(block.loop) : ""),
      el("td", {}, [...block.next.map(([target, label]) => (label ? `${target} (${label})` : String(target))), ...block.ends].join(", ")),
      el("td", { class: "code-cell" }, block.rows.map(([, text]) => text).join(" · ") + (block.more ? ` · … ${block.more} more` : "")),
    ));
    return dataTable("Blocks of the kernel", ["Block", "PTX", "Instructions", "Loops around", "Leads to", "Barriers and asynchronous work"], rows, { class: "blocks-table" });
  }

  /* Mark the blocks that the events of a step are in. */
  show(stepper) {
    if (!this.boxes) return;
    const lines = (stepper ? stepper.run.byMoment[stepper.moment] || [] : []).map((event) => event.point);
    this.boxes.classed("now", (block) => block.points.length && lines.some((point) => point >= block.points[0] && point <= block.points[1]));
  }
}
