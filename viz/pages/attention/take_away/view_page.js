// @ts-check
// Draws the figure of an exported page in the colours that the reader's system prefers, and again when these change.
// The page defines `figure` and `palettes` before this script's text.
import { _, language } from "../../../components/shared/messages.js";

const dark = matchMedia("(prefers-color-scheme: dark)");
// These buttons alone: plotly has one that uploads the chart, which the page's policy would refuse anyway.
const buttons = [["toImage", "resetScale2d"]];
const config = {
  displaylogo: false,
  responsive: true,
  plotlyServerURL: "",
  modeBarButtons: buttons,
  locale: language(),
};
// What plotly's own buttons say; its numbers stay as they are.
const dictionary = { "Download plot as a PNG": _("Download plot as a PNG"), "Reset axes": _("Reset axes") };
Plotly.register({ moduleType: "locale", name: language(), dictionary, format: {} });

function draw() {
  const { text, paper } = dark.matches ? palettes.dark : palettes.light;
  const font = { ...figure.layout.font, color: text, family: "system-ui, sans-serif" };
  Plotly.react("figure", figure.data, { ...figure.layout, paper_bgcolor: paper, font }, config);
}

dark.addEventListener("change", draw);
draw();
