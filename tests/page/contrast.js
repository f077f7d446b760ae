() => {
  const parse = (text) => { const n = text.match(/[\d.]+/g).map(Number); return { c: n.slice(0, 3), a: n.length > 3 ? n[3] : 1 }; };
  const light = ([r, g, b]) => { const f = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const ground = (node) => {
    const layers = [];
    for (let n = node; n; n = n.parentElement) { const l = parse(getComputedStyle(n).backgroundColor); if (l.a > 0) { layers.push(l); if (l.a === 1) break; } }
    return layers.reverse().reduce((under, l) => under.map((v, i) => v * (1 - l.a) + l.c[i] * l.a), [255, 255, 255]);
  };
  const found = [];
  for (const node of document.querySelectorAll('body *')) {
    if (node.closest('svg, script, style, .unseen, [hidden]') || !node.checkVisibility()) continue;
    if (![...node.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim())) continue;
    const value = ratio(parse(getComputedStyle(node).color).c, ground(node));
    if (value < 4.5) found.push([node.className, node.textContent.trim().slice(0, 40), value.toFixed(2)]);
  }
  const style = getComputedStyle(document.documentElement);
  const probe = document.body.appendChild(document.createElement('i'));
  const color = (name) => { probe.style.color = style.getPropertyValue(name); return parse(getComputedStyle(probe).color).c; };
  const pairs = [['--stripe-text', '--even', 4.5], ['--stripe-text', '--odd', 4.5], ['--on-bar', '--tma', 4.5], ['--on-bar', '--tensor', 4.5],
    ['--on-bar', '--other', 4.5], ['--quiet', '--panel', 4.5], ['--quiet', '--ground', 4.5], ['--text', '--accent-ground', 4.5], ['--accent', '--accent-ground', 4.5],
    ['--tma', '--ground', 3], ['--tensor', '--ground', 3], ['--other', '--ground', 3], ['--good', '--ground', 3], ['--accent', '--ground', 3],
    ['--bad', '--ground', 3], ['--bad', '--bad-ground', 3], ['--strong-line', '--ground', 3], ['--quiet', '--ground', 3]];
  for (const [a, b, least] of pairs) { const value = ratio(color(a), color(b)); if (value < least) found.push([a, b, value.toFixed(2)]); }
  probe.remove();
  return found;
}
