/* The page: its head, its findings and verdicts, and one kernel at a time. */

const data = JSON.parse(byId("data").textContent);

class KernelPart {
  constructor(section) {
    this.section = section;
    this.number = 0;
  }

  open(number, runNumber, focus) {
    this.number = number;
    const kernel = data.kernels[number];
    const picture = kernel.picture;
    this.stepper = null;
    this.flow = picture ? new ControlFlow(picture.flow, picture.places) : null;
    this.memory = picture ? new SharedMemory(picture) : null;
    this.stage = el("div", { class: "stage" });
    const tabs = picture ? this.tabs(kernel, picture) : [];
    fill(
      this.section,
      el("div", { class: "kernel-head" }, el("h2", { id: "kernel-title" }, "Kernel ", el("span", { class: "kernel-name", title: kernel.name }, kernel.short)), kernel.verification ? verdictCell(kernel.verification.verdict) : null, this.chooser()),
      el("p", { class: "quiet place" }, [placeText(kernel), kernel.launched].filter((text) => text).join(" · ")),
      picture ? this.runChooser(picture, runNumber) : el("p", { class: "card quiet" }, "This page holds no drawings of this kernel: there are too many kernels. --kernel chooses one."),
      this.stage,
      ...tabs,
    );
    if (picture) this.openRun(runNumber || 0);
    if (focus) {
      this.section.focus({ preventScroll: true });
      this.section.scrollIntoView();
    }
  }

  chooser() {
    if (data.kernels.length < 2) return null;
    const select = el("select", { "aria-label": "Kernel", on: { change: () => this.open(Number(select.value), 0) } }, ...data.kernels.map((kernel, number) => el("option", { value: String(number), selected: number === this.number }, kernel.short)));
    return select;
  }

  runChooser(picture, chosen) {
    if (picture.runs.length < 2) return null;
    const name = (run, number) => (run.message ? `${number + 1}: ${run.message}` : `${number + 1}: ${run.title}`);
    const select = el("select", { class: "runs", on: { change: () => this.openRun(Number(select.value)) } }, ...picture.runs.map((run, number) => el("option", { value: String(number), selected: number === (chosen || 0) }, name(run, number))));
    return el("label", { class: "run-chooser" }, "Run ", select);
  }

  openRun(number) {
    const picture = data.kernels[this.number].picture;
    if (!picture.runs.length) {
      fill(this.stage, el("p", { class: "card quiet" }, `No timeline: ${picture.why}.`));
      this.changed(null);
      return;
    }
    this.stepper = new Stepper(new Run(picture.runs[number], picture.places), (stepper) => this.changed(stepper));
    fill(this.stage, this.stepper.node);
    this.stepper.start();
    this.refreshTable();
  }

  changed(stepper) {
    fill(this.panels.step, ...(stepper ? stepPanels(stepper) : [el("p", { class: "quiet" }, "There is no run to step through.")]));
    this.flow.show(stepper);
    this.memory.show(stepper);
    reachable();
  }

  refreshTable() {
    if (!this.panels.table.hidden) fill(this.panels.table, ...(this.stepper ? runTable(this.stepper).filter((part) => part) : [el("p", { class: "quiet" }, "There is no run.")]));
  }

  tabs(kernel, picture) {
    const parts = [
      ["step", "This step", []],
      ["table", "Run as a table", []],
      ["flow", "Control flow", [this.flow.node]],
      ["memory", "Shared memory", [this.memory.node]],
      ["tensor", "Tensor memory", tensorMemory(picture.tensor, picture.places)],
      ["verdict", "Verdict", verdictDetails(kernel)],
    ].filter(([id]) => id !== "tensor" || picture.tensor);
    this.panels = {};
    const buttons = parts.map(([id, name]) => el("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}`, on: { click: () => choose(id) } }, name));
    for (const [id, , children] of parts) this.panels[id] = el("div", { role: "tabpanel", id: `panel-${id}`, "aria-labelledby": `tab-${id}`, tabindex: "0" }, ...children);
    const choose = (chosen) => {
      parts.forEach(([id], number) => {
        buttons[number].setAttribute("aria-selected", String(id === chosen));
        buttons[number].setAttribute("tabindex", id === chosen ? "0" : "-1");
        this.panels[id].hidden = id !== chosen;
      });
      this.refreshTable();
      reachable();
    };
    const bar = el("div", { class: "tabs", role: "tablist", "aria-label": "About the kernel", on: { keydown: (event) => {
      const shift = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!shift) return;
      const next = buttons[(buttons.indexOf(document.activeElement) + shift + buttons.length) % buttons.length];
      next.focus();
      next.click();
      event.preventDefault();
      event.stopPropagation();
    } } }, ...buttons);
    choose("step");
    return [bar, ...Object.values(this.panels)];
  }
}

function start() {
  const kernel = new KernelPart(byId("kernel"));
  fill(
    byId("top"),
    el("div", { class: "brand" }, "ptxcheck"),
    el("h1", {}, data.title),
    el("p", { class: "summary" }, data.summary),
    el("nav", { "aria-label": "Parts of the page" }, ...[["findings", "Findings"], ["verdicts", "Verdicts"], ["kernel", "Kernel"]].map(([id, name]) => el("a", { href: `#${id}` }, name))),
  );
  fill(byId("bottom"), `ptxcheck ${data.version}. Keys: ← and → step, ↑ and ↓ choose among the events of a step, Home, End, p to the problem, + and − zoom, f fit.`);
  renderFindings(byId("findings"), data, (finding) => kernel.open(data.kernels.findIndex((each) => each.name === finding.kernel), finding.run, true));
  renderVerdicts(byId("verdicts"), data, (number) => kernel.open(number, 0, true));
  const first = data.findings.find((finding) => finding.run !== null);
  const drawn = data.kernels.findIndex((each) => each.picture && each.picture.runs.length);
  if (first) kernel.open(data.kernels.findIndex((each) => each.name === first.kernel), first.run);
  else if (data.kernels.length) kernel.open(Math.max(0, drawn), 0);
  reachable();
  window.addEventListener("resize", reachable);
  document.addEventListener("keydown", (event) => {
    if (!kernel.stepper || event.target.closest("input, select, textarea, [role=tablist], .scroll")) return;
    if (kernel.stepper.key(event)) event.preventDefault();
  });
}

start();
