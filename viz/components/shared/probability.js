// Probabilities as text and as a colour bar. Knows nothing of what is probable.

/** In percent; what is not certain never reads as 100 %, nor what is possible as 0 %. */
function percent(probability) {
  const value = probability * 100;
  if (value > 0 && value < 0.1) return "< 0.1 %";
  if (value < 100 && value > 99.9) return "> 99.9 %";
  return value < 9.95 || value > 99 ? `${value.toFixed(1)} %` : `${value.toFixed(0)} %`;
}

/** A colour bar from 0 to 100 %. */
function probabilityLegend(stops) {
  const legend = element("div", "legend");
  legend.setAttribute("role", "img");
  legend.setAttribute("aria-label", "Colour scale: probability from 0, dark, to 100 percent, light");
  const bar = element("div", "legend-bar");
  bar.style.background = `linear-gradient(to right, ${stops.join(",")})`;
  const scale = element("div", "legend-scale");
  for (const tick of [0, 25, 50, 75, 100]) {
    const mark = element("span", "legend-tick", String(tick));
    mark.style.left = `${tick}%`;
    scale.append(mark);
  }
  const ruler = element("div", "legend-ruler");
  ruler.append(bar, scale);
  legend.append(element("span", "legend-name", "Probability (%)"), ruler);
  return legend;
}
