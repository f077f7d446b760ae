/* Elements. Whatever comes from the data goes in as text: nothing here parses markup. */

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "on") {
      for (const [event, run] of Object.entries(value)) node.addEventListener(event, run);
    } else if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function fill(node, ...children) {
  node.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function byId(id) {
  return document.getElementById(id);
}

function badge(text, tone) {
  return el("span", { class: `badge ${tone}` }, text);
}

function dataTable(caption, head, rows, attributes) {
  return el(
    "div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el(
      "table", attributes || {},
      el("caption", { class: "unseen" }, caption),
      el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { scope: "col" }, text)))),
      el("tbody", {}, ...rows),
    ),
  );
}

/* Let the keyboard scroll what is wider than its place. */
function reachable() {
  for (const node of document.querySelectorAll(".code")) {
    if (node.scrollWidth > node.clientWidth) node.setAttribute("tabindex", "0");
    else node.removeAttribute("tabindex");
  }
}

/* One tooltip, for the pointer and the keyboard alike. */

function showTooltip(lines, box) {
  const tip = byId("tooltip");
  fill(tip, ...lines.map(([tone, text]) => el("div", { class: tone }, text)));
  tip.hidden = false;
  tip.style.left = "0px";
  const room = document.documentElement.clientWidth;
  const left = Math.max(8, Math.min(box.left, room - tip.offsetWidth - 8));
  const below = box.bottom + 8;
  const fits = below + tip.offsetHeight < window.innerHeight;
  tip.style.left = `${left + window.scrollX}px`;
  tip.style.top = `${(fits ? below : Math.max(8, box.top - tip.offsetHeight - 8)) + window.scrollY}px`;
}

function hideTooltip() {
  byId("tooltip").hidden = true;
}

function say(text) {
  byId("said").textContent = text;
}
