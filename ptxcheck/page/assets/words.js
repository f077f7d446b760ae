/* Words and marks for what the data names. */

const VERDICTS = {
  "proved": { mark: "✓", tone: "good", says: "holds for every schedule and every number of rounds" },
  "proved-bounded": { mark: "✓", tone: "good", says: "holds for every schedule of the runs that were made" },
  "assumes": { mark: "≈", tone: "info", says: "holds if what is listed is true" },
  "violated": { mark: "✗", tone: "bad", says: "does not hold: there is a run that goes wrong" },
  "unknown": { mark: "?", tone: "warn", says: "not decided" },
};

const SEVERITY_TONES = {
  "error": "bad", "hang": "bad", "undefined": "bad", "wrong-result": "bad", "launch-error": "bad",
  "slow": "warn", "note": "info",
};

const KINDS = {
  "setup": { word: "sets up", symbol: d3.symbolDiamond },
  "arrive": { word: "arrives", symbol: d3.symbolTriangle },
  "wait": { word: "waits", symbol: d3.symbolCircle },
  "issue": { word: "starts asynchronous work", symbol: d3.symbolSquare },
  "group": { word: "closes or awaits a group", symbol: d3.symbolCross },
  "meet": { word: "meets at a barrier", symbol: d3.symbolWye },
  "fence": { word: "fence", symbol: d3.symbolStar },
  "access": { word: "touches the bytes in question", symbol: d3.symbolCircle },
};

function plural(count, word) {
  return count === 1 ? `1 ${word}` : `${count} ${word}s`;
}

function placeText(position) {
  let text = position.file;
  if (position.line) text += `:${position.line}`;
  if (position.line && position.column) text += `:${position.column}`;
  return text;
}
