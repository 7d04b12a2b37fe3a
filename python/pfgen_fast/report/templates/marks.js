// The marks of answers: how common each character is in the reference answers, and frames of keywords. page.js comes first.

/** The level of a share of reference answers; `bounds` are those of scoring/tinting.py. */
function tintLevel(share, bounds) {
  return bounds.filter((bound, at) => at < 3 ? share >= bound : share > bound).length;
}

/** The ranges between two places in which the values of each list are the same. */
function* alikeRanges(begin, end, ...lists) {
  for (let from = begin, to; from < end; from = to) {
    for (to = from + 1; to < end && lists.every((values) => values[to] === values[from]);) to++;
    yield [from, to];
  }
}

/** Code points as a text that shows its line breaks. */
function shownText(points) {
  return points.join("").replaceAll("\n", "↵\n");
}

/** One span for each sequence of characters with the same tint, within one mark for each keyword. */
function tintedNodes({ points, levels, marked }, begin, end) {
  return [...alikeRanges(begin, end, marked)].flatMap(([first, last]) => {
    const spans = [...alikeRanges(first, last, levels)].map(([from, to]) => make("span", { className: `t${levels[from]}` }, shownText(points.slice(from, to))));
    return marked[first] ? [make("mark", { title: "keyword" }, ...spans)] : spans;
  });
}
