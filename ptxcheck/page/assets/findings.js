/* Findings with their source lines, and what could not be checked. */

class Lines {
  constructor(lines) {
    this.texts = new Map(lines.map(([file, line, text]) => [JSON.stringify([file, line]), text]));
  }

  at(position) {
    return this.texts.get(JSON.stringify([position.file, position.line]));
  }

  /* The line of a location; the PTX line where the source itself is not at hand. */
  excerpt(location, tone) {
    const parts = [el("p", { class: "at" }, placeText(location))];
    const isPtx = location.file === location.ptx.file && location.line === location.ptx.line;
    const text = this.at(location);
    const width = location.ptx.end - location.ptx.start;
    if (text !== undefined) {
      parts.push(sourceLine(location.line, text, location.column, isPtx ? width : 1, tone));
    } else if (this.at(location.ptx) !== undefined) {
      parts.push(el("p", { class: "at" }, placeText(location.ptx)));
      parts.push(sourceLine(location.ptx.line, this.at(location.ptx), location.ptx.column, width, tone));
    }
    return [...parts, ...this.chain(location)];
  }

  /* The lines that a place was inlined into. */
  chain(location) {
    const others = location.frames.filter((frame) => frame.file !== location.file || frame.line !== location.line);
    return others.filter((frame) => this.at(frame) !== undefined).flatMap((frame) => [
      el("p", { class: "at" }, `${placeText(frame)}${frame.function ? ` in ${frame.function}` : ""}`),
      sourceLine(frame.line, this.at(frame), frame.column, 1, "info"),
    ]);
  }
}

/* Findings that stand for themselves, each with those that follow from it. */
function mistakes(findings) {
  const key = (finding, fingerprint) => JSON.stringify([finding.kernel, finding.location.file, fingerprint]);
  const known = new Set(findings.map((finding) => key(finding, finding.fingerprint)));
  const isOwn = (finding) => !finding.caused_by || !known.has(key(finding, finding.caused_by));
  return findings.filter(isOwn).map((finding) => [finding, findings.filter((other) => !isOwn(other) && key(other, other.caused_by) === key(finding, finding.fingerprint))]);
}

function findingCard(data, lines, finding, open, follow = []) {
  const tone = SEVERITY_TONES[finding.severity] || "info";
  const rule = data.rules[finding.rule];
  const word = finding.confidence === "possible" ? `possible ${finding.severity}` : finding.severity;
  const facts = [];
  if (finding.kernel) facts.push(["Kernel", finding.short]);
  if (rule) facts.push(["Why", `${rule.consequence} [${rule.section}]`]);
  if (finding.help) facts.push(["Help", finding.help]);
  const related = finding.related.map((each) => el("div", { class: "related" }, el("p", {}, each.message), ...lines.excerpt(each.location, "info")));
  const isRun = finding.run !== null;
  return el(
    "article", { class: `card finding ${tone}` },
    el(
      "h3", {}, badge(word, tone), " ", el("code", {}, finding.rule), " ",
      el("span", { class: "name" }, finding.name),
    ),
    el("p", { class: "message" }, finding.message),
    ...lines.excerpt(finding.location, tone),
    ...related,
    el("dl", { class: "facts" }, ...facts.flatMap(([term, text]) => [el("dt", {}, term), el("dd", {}, text)])),
    isRun ? el("button", { type: "button", class: "main", on: { click: () => open(finding) } }, "Step through this run") : null,
    follow.length ? more(follow.map((each) => () => findingCard(data, lines, each, open)), "more that follow from it") : null,
  );
}

const MOST_CARDS = 100;

/* Cards that are made when they are asked for. */
function more(cards, words) {
  const rest = el("details", {}, el("summary", {}, `${cards.length} ${words}`));
  rest.addEventListener("toggle", () => {
    rest.append(...cards.map((card) => card()));
    reachable();
  }, { once: true });
  return rest;
}

function renderFindings(section, data, open) {
  const lines = new Lines(data.lines);
  const cards = mistakes(data.findings).map(([finding, follow]) => () => findingCard(data, lines, finding, open, follow));
  const problems = data.problems.map((problem) => el(
    "article", { class: "card finding bad" },
    el("h3", {}, badge("not checked", "bad"), " ", problem.message),
    el("p", { class: "at" }, placeText(problem)),
    lines.at(problem) === undefined ? null : sourceLine(problem.line, lines.at(problem), problem.column, 1, "bad"),
    problem.detail ? el("pre", { class: "scroll", tabindex: "0" }, problem.detail) : null,
  ));
  const notes = data.notes.map((note) => el("li", {}, note.message, " ", el("span", { class: "at" }, placeText(note))));
  fill(
    section,
    el("h2", { id: "findings-title" }, "Findings", el("span", { class: "count" }, String(cards.length))),
    ...problems,
    ...cards.slice(0, MOST_CARDS).map((card) => card()),
    cards.length > MOST_CARDS ? more(cards.slice(MOST_CARDS), "more findings") : null,
    data.findings.length + data.problems.length ? null : el("p", { class: "card quiet" }, "No finding. What that says, and what it does not, is in the verdicts."),
    notes.length ? el("details", { class: "card" }, el("summary", {}, plural(notes.length, "note")), el("ul", {}, ...notes)) : null,
  );
}
