// Plots by Plotly that follow the theme. page.js comes first.

const TOUCHED = matchMedia("(pointer: coarse)").matches;
const CONFIG = {
  responsive: true, displaylogo: false, displayModeBar: TOUCHED ? false : "hover",
  modeBarButtons: [["zoom2d", "pan2d", "resetScale2d", "toImage"]],
};

function layout(more) {
  const style = getComputedStyle(document.body);
  const line = getComputedStyle(document.querySelector(".scroller")).borderTopColor;
  const axis = { gridcolor: line, zerolinecolor: line, linecolor: line, automargin: true };
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: style.color, family: style.fontFamily, size: 14 },
    hoverlabel: { bgcolor: style.backgroundColor, bordercolor: line, font: { color: style.color, family: style.fontFamily, size: 14 }, align: "left" },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: line, activecolor: style.color },
    // On touch screens, dragging on a plot scrolls the page.
    dragmode: TOUCHED ? false : "zoom",
    ...more,
    xaxis: { ...axis, ...more.xaxis }, yaxis: { ...axis, ...more.yaxis },
  };
}
