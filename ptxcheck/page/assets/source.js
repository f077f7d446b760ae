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

/* The place of a point: the line that its author wrote, then the PTX. */
function placeBlock(place) {
  const parts = [];
  const own = place.frames[0];
  if (own) {
    parts.push(el("p", { class: "at" }, placeText(own), own.function ? ` in ${own.function}` : ""));
    if (own.text !== null) parts.push(plainLine(own.line, own.text, own.column, 1, "info"));
  }
  parts.push(el("p", { class: "at" }, placeText(place)));
  parts.push(plainLine(place.line, place.text, place.column, place.width, "info"));
  if (place.frames.length > 1) {
    const chain = place.frames.slice(1).map((frame) => el("li", {}, placeText(frame), frame.function ? ` in ${frame.function}` : ""));
    parts.push(el("details", {}, el("summary", {}, "Where it was inlined"), el("ul", { class: "plain" }, ...chain)));
  }
  return parts;
}

function shortPlace(place) {
  const own = place.frames[0];
  return own ? placeText({ ...own, file: shortPath(own.file) }) : `PTX line ${place.line}`;
}

function shortPath(path) {
  const parts = path.split("/");
  return path.length > 48 && parts.length > 3 ? `…/${parts.slice(-2).join("/")}` : path;
}
