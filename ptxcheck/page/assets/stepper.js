/* Going through a run step by step: buttons, keys, and what holds at each step. */

class Stepper {
  constructor(run, changed) {
    this.run = run;
    this.changed = changed;
    this.timeline = new Timeline(run, (moment, event) => this.go(moment, event));
    this.bad = run.bad;
    this.moment = 0;
    this.node = el("div", { class: "stepper" }, this.told(), this.controls(), this.timeline.node, legend(run));
  }

  start() {
    if (this.run.ctas.length > 2) this.choose.value = String(this.bad ? this.run.roles[this.bad.lane].cta : this.run.ctas[0]);
    if (this.choose) this.timeline.filter(this.chosen());
    this.timeline.fit(ZOOM.readable);
    this.go(this.bad ? this.bad.moment : 0, this.bad ? this.bad.index : null);
  }

  told() {
    const data = this.run.data;
    const parts = [];
    if (data.message) {
      const head = data.certain ? badge(this.run.hangs ? "hangs" : "goes wrong", "bad") : badge("may go wrong", "warn");
      parts.push(el("p", { class: "message" }, head, " ", data.message));
    }
    parts.push(el("p", { class: "quiet" }, data.title));
    if (data.left_out) parts.push(el("p", { class: "warn-text" }, this.run.hangs ? `${plural(data.left_out, "step")} before the end: not drawn.` : `${plural(data.left_out, "step")} at the end: not drawn.`));
    return el("div", { class: "told" }, ...parts);
  }

  controls() {
    const button = (text, name, keys, run) => el("button", { type: "button", title: `${name} (${keys})`, "aria-keyshortcuts": keys, on: { click: run } }, text);
    const last = this.run.last;
    this.slider = el("input", {
      type: "range", min: "1", max: String(last + 1), value: "1", "aria-label": "Step",
      on: { input: () => this.go(Number(this.slider.value) - 1, null) },
    });
    this.counter = el("output", { class: "counter" });
    const parts = [
      button("|◀ First", "First step", "Home", () => this.go(0, null)),
      button("◀ Back", "Step back", "ArrowLeft", () => this.go(this.moment - 1, null)),
      button("Next ▶", "Next step", "ArrowRight", () => this.go(this.moment + 1, null)),
      button("Last ▶|", "Last step", "End", () => this.go(last, null)),
    ];
    if (this.bad) parts.push(el("button", { type: "button", class: "main", id: "to-the-problem", title: "To the problem (p)", "aria-keyshortcuts": "p", on: { click: () => this.toTheProblem() } }, this.run.hangs ? "To the hang" : "To the problem"));
    parts.push(this.counter, this.slider);
    const view = [
      button("−", "Narrower", "-", () => this.timeline.zoom(1 / 1.4)),
      button("+", "Wider", "+", () => this.timeline.zoom(1.4)),
      button("Fit", "Fit the width", "f", () => this.timeline.fit()),
    ];
    if (this.run.ctas.length > 1) {
      this.choose = el("select", { "aria-label": "CTA", on: { change: () => this.filter() } },
        el("option", { value: "all" }, "all CTAs"), ...this.run.ctas.map((cta) => el("option", { value: String(cta) }, `CTA ${cta}`)));
      view.push(this.choose);
    }
    return el("div", { class: "controls", role: "toolbar", "aria-label": "Steps of the run" }, ...parts, el("span", { class: "spring" }), ...view);
  }

  chosen() {
    return this.choose.value === "all" ? null : Number(this.choose.value);
  }

  filter() {
    this.timeline.filter(this.chosen());
    this.go(this.moment, null);
  }

  /* The events of a step in the CTAs that are shown. */
  here(moment) {
    return (this.run.byMoment[moment] || []).filter((event) => this.timeline.shows(this.run.roles[event.lane]));
  }

  toTheProblem() {
    if (this.bad) this.go(this.bad.moment, this.bad.index);
  }

  go(moment, index) {
    this.moment = Math.max(0, Math.min(this.run.last, moment));
    const here = this.here(this.moment);
    const chosen = index === null || index === undefined ? here.find((event) => event.bad) || here[0] : this.run.events[index];
    this.event = chosen || null;
    this.slider.value = String(this.moment + 1);
    this.counter.textContent = `Step ${this.moment + 1} of ${this.run.last + 1}`;
    this.slider.setAttribute("aria-valuetext", this.counter.textContent);
    this.timeline.show(this.moment, chosen ? chosen.index : null);
    say(`${this.counter.textContent}. ${here.map((event) => `${this.run.who(event)} ${event.text}`).join(". ")}`);
    this.changed(this);
  }

  /* To the next or the one before among the events of this step. */
  among(shift) {
    const here = this.here(this.moment);
    if (!here.length) return;
    const place = here.indexOf(this.event);
    this.go(this.moment, here[(place + shift + here.length) % here.length].index);
  }

  key(event) {
    const moves = {
      ArrowLeft: () => this.go(this.moment - 1, null), ArrowRight: () => this.go(this.moment + 1, null),
      ArrowUp: () => this.among(-1), ArrowDown: () => this.among(1),
      Home: () => this.go(0, null), End: () => this.go(this.run.last, null),
      p: () => this.toTheProblem(), f: () => this.timeline.fit(),
      "+": () => this.timeline.zoom(1.4), "-": () => this.timeline.zoom(1 / 1.4), Escape: hideTooltip,
    };
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return false;
    const inside = this.node.contains(document.activeElement);
    if (!inside && !["ArrowLeft", "ArrowRight", "Escape"].includes(event.key)) return false;
    const onMark = this.timeline.plot.node().contains(document.activeElement);
    if (["ArrowUp", "ArrowDown"].includes(event.key) && !onMark) return false;
    move();
    if (onMark && this.event && event.key !== "Escape") this.timeline.focus(this.event.index);
    return true;
  }
}

/* What holds at a step, in three parts. */

function stepPanels(stepper) {
  const run = stepper.run;
  const moment = stepper.moment;
  return [
    el("div", { class: "panels" }, happening(stepper), barrierPanel(stepper), placePanel(stepper)),
    moment === (stepper.bad ? stepper.bad.moment : -1) ? verdictOfRun(run) : null,
  ].filter((part) => part);
}

function verdictOfRun(run) {
  const data = run.data;
  const facts = [...data.state.map((text) => ["State", text])];
  if (data.needed) facts.push(["Needed", data.needed]);
  if (!facts.length) return null;
  return el("div", { class: "card finding bad" }, el("h3", { class: "strong" }, run.hangs ? "Nobody goes on from here" : "This must not happen"),
    el("dl", { class: "facts" }, ...facts.flatMap(([term, text]) => [el("dt", {}, term), el("dd", {}, text)])));
}

function happening(stepper) {
  const run = stepper.run;
  const items = stepper.here(stepper.moment).map((event) => el(
    "li", { class: event === stepper.event ? "chosen" : "" },
    el("button", { type: "button", class: `link${event.bad ? " bad-text" : ""}`, "aria-pressed": String(event === stepper.event), on: { click: () => stepper.go(stepper.moment, event.index) } },
      el("strong", {}, run.who(event)), ` ${event.text}`),
    el("span", { class: "at" }, event.stuck ? "" : `#${event.order} · `, shortPlace(run.places[event.point])),
  ));
  const others = (run.byMoment[stepper.moment] || []).length - items.length;
  if (others) items.push(el("li", { class: "quiet" }, `and ${plural(others, "step")} of other CTAs`));
  const flying = run.inFlight(stepper.moment).filter((work) => stepper.timeline.shows(run.units[work.lane])).map((work) => el("li", {}, `${run.units[work.lane].name}: ${run.events[work.event].text}, since step ${work.start + 1}`));
  return el("section", { class: "panel", "aria-label": "At this step" },
    el("h3", {}, `At step ${stepper.moment + 1}`), el("ul", { class: "plain events-here" }, ...items),
    flying.length ? el("h4", {}, "In flight") : null, flying.length ? el("ul", { class: "plain quiet-list" }, ...flying.slice(0, 12), flying.length > 12 ? el("li", {}, `and ${flying.length - 12} more`) : null) : null);
}

function barrierPanel(stepper) {
  const { run, moment } = stepper;
  const blocked = run.blocked(moment);
  const rows = run.barriers.filter((barrier) => stepper.timeline.shows(barrier)).map((barrier) => {
    const state = run.stateAt(barrier, moment);
    const waiting = blocked.filter((event) => event.barriers.includes(barrier.index));
    const changed = state !== null && state.moment === moment;
    const known = state !== null && state.phase !== null;
    const bytes = known && state.expected !== "" ? `${state.completed} of ${state.expected}` : "";
    return { waiting, known, changed, row: el(
      "tr", { class: changed ? "changed" : "" },
      el("th", { scope: "row" }, barrier.name),
      el("td", {}, known ? String(state.phase) : barrier.mbarrier ? "–" : "0"),
      el("td", {}, known ? `${state.count - state.pending} of ${state.count}` : barrier.mbarrier ? "not initialised" : "nobody yet"),
      el("td", {}, bytes),
      el("td", { class: waiting.some((event) => event.stuck) ? "bad-text" : "" }, waiting.map((event) => run.who(event) + (event.stuck ? ", for ever" : "")).join("; ")),
    ) };
  });
  const shown = rows.length > 40 ? rows.filter(({ waiting, changed }) => waiting.length || changed) : rows;
  const left = rows.length - shown.length;
  return el("section", { class: "panel", "aria-label": "Barriers" }, el("h3", {}, "Barriers after this step"),
    dataTable("Barriers after this step", ["Barrier", "Phase", "Arrived", "Bytes", "Waited for by"], shown.map(({ row }) => row), { class: "barriers" }),
    left ? el("p", { class: "quiet" }, `${left} that do not change here and that nobody waits for are not listed.`) : null);
}

function placePanel(stepper) {
  const place = stepper.event ? stepper.run.places[stepper.event.point] : null;
  return el("section", { class: "panel source", "aria-label": "Source" }, el("h3", {}, "Source"),
    ...(place ? [el("p", { class: "quiet" }, `${stepper.run.who(stepper.event)} ${stepper.event.text}`), ...placeBlock(place)] : [el("p", { class: "quiet" }, "Nothing happens at this step.")]));
}
