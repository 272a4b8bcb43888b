"use strict";
/* Draws the panels of a study, score against written tokens, in the colours of the day. */

(() => {
  const panels = JSON.parse(document.getElementById("scores-data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const places = [...document.querySelectorAll("[data-score]")];

  async function draw(place) {
    const theme = dark.matches ? "dark" : "light";
    place.dataset.width = place.clientWidth;
    place.dataset.words ??= place.getAttribute("aria-label");
    const spec = { ...panels[place.dataset.score][theme], description: place.dataset.words };
    await window.vegaEmbed(place, spec, {
      mode: "vega-lite",
      renderer: "svg",
      actions: false,
      tooltip: { theme },
    });
    place.dataset.drawn = "yes";
  }

  dark.addEventListener("change", () => places.forEach(draw));
  for (const place of places) {
    new ResizeObserver(() => {
      if (Number(place.dataset.width) !== place.clientWidth) draw(place);
    }).observe(place);
  }
})();
