// The marks of answers: how common each character is in the reference answers, and frames of keywords. page.js comes first.

/** The level of a share of reference answers; `bounds` are those of scoring/tinting.py. */
function tintLevel(share, bounds) {
  return bounds.filter((bound, at) => at < 3 ? share >= bound : share > bound).length;
}

/** One span for each sequence of characters with the same tint, within one mark for each keyword. */
function tintedNodes({ points, levels, marked }, begin, end) {
  const nodes = [];
  for (let from = begin; from < end;) {
    let to = from + 1;
    while (to < end && marked[to] === marked[from]) to++;
    const spans = tintedSpans(points, levels, from, to);
    nodes.push(...(marked[from] ? [make("mark", { title: "keyword" }, ...spans)] : spans));
    from = to;
  }
  return nodes;
}

function tintedSpans(points, levels, begin, end) {
  const spans = [];
  for (let from = begin; from < end;) {
    let to = from + 1;
    while (to < end && levels[to] === levels[from]) to++;
    const text = points.slice(from, to).join("").replaceAll("\n", "↵\n");
    spans.push(make("span", { className: `t${levels[from]}` }, text));
    from = to;
  }
  return spans;
}
