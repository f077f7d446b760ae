/* Source lines with a caret under the place. */

function sourceLine(number, text, column, width, tone) {
  const block = el("div", { class: "code" }, el("span", { class: "number" }, String(number)), el("code", {}, text));
  if (column > 0) {
    const margin = text.slice(0, column - 1).replace(/[^\t]/g, " ");
    const marks = "^".repeat(Math.max(1, Math.min(width || 1, text.length - column + 1)));
    block.append(
      el("span", { class: "number", "aria-hidden": "true" }, ""),
      el("code", { class: `caret ${tone || "bad"}`, "aria-hidden": "true" }, margin + marks),
    );
  }
  return block;
}

/* The same without the indentation of the line. */
function plainLine(number, text, column, width, tone) {
  const shift = text.length - text.trimStart().length;
  return sourceLine(number, text.slice(shift), column > shift ? column - shift : 0, width, tone);
}

/* The place of a point: the line that its author wrote and those that it was inlined into, then the PTX. */
function placeBlock(place) {
  const parts = [];
  const [shown, others] = [place.frames.filter(isToldWhole), place.frames.filter((frame) => !isToldWhole(frame))];
  for (const frame of shown.length ? shown : place.frames.slice(0, 1)) {
    parts.push(el("p", { class: "at" }, placeText(frame), frame.function ? ` in ${frame.function}` : ""));
    if (frame.text !== null) parts.push(plainLine(frame.line, frame.text, frame.column, 1, "info"));
  }
  parts.push(el("p", { class: "at" }, placeText(place)));
  parts.push(plainLine(place.line, place.text, place.column, place.width, "info"));
  const left = shown.length ? others : place.frames.slice(1);
  if (left.length) {
    const chain = left.map((frame) => el("li", {}, placeText(frame), frame.function ? ` in ${frame.function}` : ""));
    parts.push(el("details", {}, el("summary", {}, "Where it was inlined"), el("ul", { class: "plain" }, ...chain)));
  }
  return parts;
}

function isToldWhole(frame) {
  return frame.text !== null;
}

function shortPlace(place) {
  const own = place.frames[0];
  return own ? placeText({ ...own, file: shortPath(own.file) }) : `PTX line ${place.line}`;
}

function shortPath(path) {
  const parts = path.split("/");
  return path.length > 48 && parts.length > 3 ? `…/${parts.slice(-2).join("/")}` : path;
}
