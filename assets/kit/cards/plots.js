// The element of plotly in a card: it is made by Dash with the first figure.

/**
 * Call act once plotly has drawn in a card for the first time, before that is painted.
 * @param {HTMLElement} body of the card
 * @param {(plot: any) => void} act
 */
export function whenPlotted(body, act) {
  const look = () => {
    const plot = body.querySelector(".js-plotly-plot");
    // plotly adds its events to the element when it draws.
    if (!plot || !plot.on || !plot.querySelector(".nsewdrag")) return false;
    act(plot);
    return true;
  };
  if (look()) return;
  const observer = new MutationObserver(() => look() && observer.disconnect());
  observer.observe(body, { childList: true, subtree: true });
}

/**
 * Keep Dash from drawing a plot again after its first figure, for a size that it has already: plotly ignores a resize of a
 * layout that names a size, so the layout names the size drawn until the element has another one.
 * @param {any} plot
 */
export function holdSize(plot) {
  const hold = () => {
    const { width, height } = plot._fullLayout;
    if (plot.clientWidth === width && plot.clientHeight === height) Object.assign(plot.layout, { width, height });
  };
  hold();
  plot.on("plotly_afterplot", hold);
  const resized = new ResizeObserver(() => {
    // Dash has taken the plot away: plotly forgets its layout, and the element disappears.
    if (!plot.layout) {
      resized.disconnect();
      return;
    }
    if (plot.clientWidth === plot.layout.width && plot.clientHeight === plot.layout.height) return;
    delete plot.layout.width;
    delete plot.layout.height;
  });
  resized.observe(plot);
}
