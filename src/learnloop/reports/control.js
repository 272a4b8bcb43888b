"use strict";
/* Draws the charts of the control tasks, and the run of one that is chosen, step by step.
   Everything that a model wrote goes through textContent or through a chart as data. */

(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const panels = read("panels-data");
  const trajectories = read("trajectories-data");
  const figures = read("trajectory-figures");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const theme = () => (dark.matches ? "dark" : "light");
  const LETTER = 6.4;
  const LEFT = 74;
  const RIGHT = 12;
  const NARROW = 420;

  for (const part of document.querySelectorAll(".control .js")) part.hidden = false;

  /* Vega puts the description in place of the label that the place had. */
  const draw = (place, spec, description) =>
    window.vegaEmbed(place, { ...spec, description }, {
      mode: "vega-lite",
      renderer: "svg",
      actions: false,
      tooltip: { theme: theme() },
    });

  function make(tag, text, name) {
    const element = document.createElement(tag);
    if (text !== undefined && text !== null) element.textContent = text;
    if (name) element.className = name;
    return element;
  }

  /* panels */

  async function drawPanel(place) {
    place.dataset.width = place.clientWidth;
    place.dataset.words ??= place.getAttribute("aria-label");
    await draw(place, panels[place.dataset.panel][theme()], place.dataset.words);
    place.dataset.drawn = "yes";
  }

  /* one run */

  function filled(run, width) {
    const text = JSON.stringify(figures[run.is_number ? "number" : "rule"][theme()])
      .replaceAll('"$END"', String(run.steps.length + 0.5))
      .replaceAll('"$LOW"', String(run.low))
      .replaceAll('"$HIGH"', String(run.high));
    const spec = JSON.parse(text);
    for (const lane of spec.vconcat) {
      lane.width = width;
      if (width < NARROW) lane.title.text = lane.title.text.split(" (")[0];
    }
    return { ...spec, datasets: datasets(run, width) };
  }

  function datasets(run, width) {
    const aStep = width / Math.max(1, run.steps.length);
    const versions = run.versions.map((version) => {
      const room = ((version.end - version.start + 1) * aStep) / LETTER;
      const words = version.text.split("\n").join(" · ");
      const number = `v${version.version}`;
      const label = words.length < room ? words : number.length < room ? number : "";
      return { ...version, label, look: version.look % 6 };
    });
    return {
      steps: run.steps,
      terms: run.terms,
      ends: run.ends,
      flips: run.flips.map((step) => ({ step })),
      events: run.events,
      versions,
    };
  }

  class Walk {
    /* One figure with the list of its runs, and the step that is read out. */

    constructor(card) {
      this.card = card;
      this.runs = trajectories[card.dataset.trajectories];
      this.choice = card.querySelector(".run-choice");
      this.slider = card.querySelector(".step-choice");
      this.place = card.querySelector(".trajectory");
      this.fillChoice();
      this.choice.addEventListener("change", () => this.show());
      this.slider.addEventListener("input", () => this.readOut());
      new ResizeObserver(() => {
        if (Number(this.place.dataset.width) !== this.place.clientWidth) this.draw();
      }).observe(this.place);
      dark.addEventListener("change", () => this.draw());
      this.choice.value = String(Math.max(0, this.runs.findIndex((run) => run.leads)));
      this.show();
    }

    get run() {
      return this.runs[Number(this.choice.value)];
    }

    fillChoice() {
      const levels = [...new Set(this.runs.map((run) => run.level))];
      for (const level of levels) {
        const group = this.choice.appendChild(make("optgroup"));
        group.label = level;
        this.runs.forEach((run, place) => {
          if (run.level !== level) return;
          const option = group.appendChild(make("option", run.name));
          option.value = place;
        });
      }
    }

    show() {
      const run = this.run;
      this.card.querySelector(".words").textContent = run.words;
      this.slider.max = run.steps.length;
      const first = run.events.find((event) => event.kind !== "kept");
      this.slider.value = String(first ? first.step : 1);
      const list = this.card.querySelector(".versions ol");
      list.replaceChildren(...run.versions.map((version) => this.version(version)));
      this.draw();
      this.readOut();
    }

    version(version) {
      const item = make("li");
      const steps = `steps ${version.start} to ${version.end}, ${version.cause}`;
      item.append(make("b", `v${version.version}`), ` ${steps}`, make("pre", version.text));
      return item;
    }

    async draw() {
      const width = this.place.clientWidth;
      this.place.dataset.width = width;
      const run = this.run;
      const spec = filled(run, Math.max(120, width - LEFT - RIGHT));
      const result = await draw(this.place, spec, `${run.name}: ${run.words}`);
      this.view = result.view;
      this.view.addEventListener("click", (event, item) => {
        if (!item?.datum?.step) return;
        this.slider.value = String(item.datum.step);
        this.readOut();
      });
      this.place.dataset.drawn = "yes";
      this.mark();
    }

    mark() {
      this.view?.signal("at", Number(this.slider.value)).runAsync();
    }

    readOut() {
      const run = this.run;
      const step = run.steps[Number(this.slider.value) - 1];
      const version = run.versions.find((one) => one.start <= step.step && step.step <= one.end);
      const text = version ? version.text.split("\n").join(" · ") : "not on record";
      const number = (value) => (value === null ? "none" : String(value));
      const lines = [
        `Asked ${step.query}, answered ${step.answer || "nothing"}; the truth was ${step.gold}: ` +
          `${step.verdict}. Feedback${step.false ? ", false" : ""}: ${step.heard || "none"}.`,
        `Error ${number(step.error)}, signal ${number(step.signal)}` +
          (step.threshold === null ? "" : ` of ${step.threshold}`) +
          `${step.opened ? "; the gate opened" : ""}. Prompt v${version?.version ?? "?"}: ${text}.`,
        ...step.happened,
      ];
      this.card.querySelector(".number-of").textContent = `${step.step} of ${run.steps.length}`;
      this.card
        .querySelector(".reading")
        .replaceChildren(...lines.map((line, place) => make("p", line, place ? "facts" : "")));
      this.mark();
    }
  }

  const places = [...document.querySelectorAll("[data-panel]")];
  for (const place of places) {
    new ResizeObserver(() => {
      if (Number(place.dataset.width) !== place.clientWidth) drawPanel(place);
    }).observe(place);
  }
  dark.addEventListener("change", () => places.forEach(drawPanel));
  for (const card of document.querySelectorAll("[data-trajectories]")) new Walk(card);
})();
