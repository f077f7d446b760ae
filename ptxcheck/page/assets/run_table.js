/* The run as a table: the same as the picture, as text. */

function runTable(stepper) {
  const run = stepper.run;
  const blocks = [];
  for (let moment = 0; moment <= run.last; moment++) {
    for (const event of run.byMoment[moment]) {
      blocks.push(el(
        "tr", { class: event.bad ? "bad-row" : "" },
        el("td", {}, el("button", { type: "button", class: "link", "aria-label": `Go to step ${moment + 1}`, on: { click: () => stepper.go(moment, event.index) } }, String(moment + 1))),
        el("td", {}, event.stuck ? "–" : String(event.order)),
        el("th", { scope: "row" }, run.who(event)),
        el("td", {}, event.text),
        el("td", {}, event.causes.map((cause) => `#${run.events[cause].order}`).join(", ")),
        el("td", { class: "at" }, shortPlace(run.places[event.point])),
      ));
    }
  }
  const work = run.work.map((each) => el(
    "tr", {},
    el("th", { scope: "row" }, run.units[each.lane].name),
    el("td", {}, run.events[each.event].text),
    el("td", {}, String(each.start + 1)),
    el("td", {}, each.end === null ? "nobody waits for it" : String(each.end + 1)),
  ));
  const phases = run.barriers.map((barrier) => el(
    "tr", {},
    el("th", { scope: "row" }, barrier.name),
    el("td", {}, phaseText(barrier)),
  ));
  return [
    el("p", { class: "quiet" }, "Steps of one number are independent of each other. “Number” is that of the whole run, as in the findings; “let pass by” names the steps that a wait waited for."),
    dataTable("Steps of the run", ["Step", "Number", "Who", "What", "Let pass by", "Where"], blocks, { class: "steps" }),
    work.length ? el("h3", {}, "Asynchronous work") : null,
    work.length ? dataTable("Asynchronous work of the run", ["Unit", "Work", "From step", "Known to be done at step"], work, {}) : null,
    el("h3", {}, "Phases of the barriers"),
    dataTable("Phases of the barriers", ["Barrier", "Phase from step"], phases, {}),
  ];
}

function phaseText(barrier) {
  const texts = [];
  let known;
  for (const state of barrier.states) {
    if (state.phase === known) continue;
    known = state.phase;
    texts.push(known === null ? `gone from step ${state.moment + 1}` : `${known} from step ${state.moment + 1}`);
  }
  return texts.join(", ") || "unchanged";
}
