"use strict";
/* Draws the charts in the colours of the day, and shows the steps of the run that is chosen.
   Everything that a model wrote goes through textContent. */

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const charts = read("charts-data");
const runs = read("runs-data");
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const PAGE = 40;

for (const part of document.querySelectorAll(".js")) part.hidden = false;

/* charts */

const WIDE = 620;

function fit(spec, width) {
  if (width >= WIDE) return spec;
  const layer = spec.layer.filter((one) => one.name !== "labels");
  return { ...spec, layer, height: width < 420 ? 230 : 280 };
}

async function draw(place) {
  const section = place.closest(".environment");
  const kind = section.querySelector(".curves input:checked").value;
  const spec = charts[place.dataset.chart][kind][dark.matches ? "dark" : "light"];
  const curves = place.closest(".curves");
  const all = [...curves.querySelectorAll("[data-chart]")];
  curves.classList.toggle("labelled", all.every((one) => one.clientWidth >= WIDE));
  place.dataset.width = place.clientWidth;
  place.dataset.words ??= place.getAttribute("aria-label");
  const described = { ...fit(spec, place.clientWidth), description: place.dataset.words };
  await window.vegaEmbed(place, described, {
    mode: "vega-lite",
    renderer: "svg",
    actions: false,
    tooltip: { theme: dark.matches ? "dark" : "light" },
  });
  place.dataset.drawn = "yes";
}

const places = [...document.querySelectorAll("[data-chart]")];
const drawAll = () => places.forEach(draw);

for (const input of document.querySelectorAll(".curves input")) {
  input.addEventListener("change", () =>
    places.filter((place) => input.closest(".environment").contains(place)).forEach(draw)
  );
}
dark.addEventListener("change", drawAll);
for (const place of places) {
  new ResizeObserver(() => {
    if (Number(place.dataset.width) !== place.clientWidth) draw(place);
  }).observe(place);
}

/* small makers of elements */

function make(tag, text, name) {
  const element = document.createElement(tag);
  if (text !== undefined && text !== null) element.textContent = text;
  if (name) element.className = name;
  return element;
}

function put(parent, ...children) {
  parent.append(...children.filter(Boolean));
  return parent;
}

function block(title, ...children) {
  const kept = children.flat().filter(Boolean);
  return kept.length ? put(make("section"), make("h4", title), ...kept) : null;
}

const written = (text) => (text ? make("pre", text) : null);
const seconds = (value) => (value === null ? "" : `${value.toFixed(value < 10 ? 1 : 0)} s`);
const MARKS = { right: "✓", wrong: "✗", failed: "!" };

/* one step */

function corrected(query) {
  const given = current().steps.flatMap((step) => step.feedback);
  return given.filter((one) => one.target === query && one.correction).pop()?.correction;
}

function episode(shown) {
  const item = make("details", null, "episode");
  const head = put(make("summary"), make("code", shown.id));
  if (shown.corrected) head.append(" ", make("span", "correction", "mark"));
  item.append(head);
  if (shown.step === null) return put(item, make("p", "Not a query of this run.", "facts"));
  const step = current().steps[shown.step - 1];
  head.append(" ", make("span", step.query));
  return put(
    item,
    written(shown.corrected ? corrected(step.id) : step.answer),
    stepLink(shown.step)
  );
}

function stepLink(number) {
  const link = make("a", `Go to step ${number}`);
  link.href = `#step-${number}`;
  link.addEventListener("click", (event) => {
    event.preventDefault();
    goTo(number);
  });
  return put(make("p", null, "facts"), link);
}

function bullet(shown) {
  const facts = make("p", null, "facts");
  put(
    facts,
    shown.sources.length ? make("span", `from ${shown.sources.join(", ")}`) : null,
    make("span", `helped ${shown.helped}`),
    make("span", `harmed ${shown.harmed}`)
  );
  return put(make("li"), make("p", shown.text), facts);
}

function feedback(shown) {
  const words = { true: "right", false: "wrong", null: "no verdict" }[String(shown.correct)];
  const value = shown.value === null ? "" : `, value ${shown.value}`;
  const about = shown.late ? `, about the earlier query ${shown.target}` : "";
  const from = shown.source ? `, from ${shown.source}` : "";
  const item = put(make("div", null, "heard"), make("p", words + value + from + about));
  if (shown.comment) item.append(make("blockquote", shown.comment));
  if (shown.correction) item.append(make("p", "Correction", "facts"), written(shown.correction));
  return item;
}

function call(shown) {
  const cached = shown.tokens_cached === null ? "" : `, ${shown.tokens_cached} of them from cache`;
  const time = shown.seconds === null ? "" : `, ${seconds(shown.seconds)}`;
  const again = shown.replayed ? ", replayed" : "";
  const text =
    `${shown.role} by ${shown.model}: ${shown.tokens_in} tokens in${cached}, ` +
    `${shown.tokens_out} written${time}${again}${shown.error ? `; ${shown.error}` : ""}`;
  return make("li", text);
}

function list(tag, items, name) {
  return items.length ? put(make(tag, null, name), ...items) : null;
}

function fill(body, step) {
  const why = step.why || (step.verdict === "right" ? "as expected" : "");
  const tags = step.tags.length ? make("p", `Tags: ${step.tags.join(", ")}`, "facts") : null;
  put(
    body,
    put(
      make("div", null, "pair"),
      step.failed
        ? block("Failed", make("p", step.failed, "bad"))
        : block("Answer", written(step.answer) || make("p", "(empty)", "facts")),
      block("Expected", written(step.gold))
    ),
    block(`Score ${step.score}`, make("p", why), tags),
    block("Feedback that arrived", step.feedback.map(feedback)),
    block(
      `Policy${step.writer ? `, written by ${step.writer}` : ""}`,
      list("ol", step.policy.map(bullet), "bullets")
    ),
    block("Examples shown, in this order", step.examples.map(episode)),
    block("Evidence for the policy", step.evidence.map(episode)),
    block("Gate", step.decision ? make("p", step.decision) : null),
    block("Events", list("ul", step.events.map((text) => make("li", text)))),
    block(
      `Calls${step.seconds === null ? "" : `, ${seconds(step.seconds)} for the whole step`}`,
      list("ul", step.calls.map(call)) || make("p", "None.", "facts")
    )
  );
}

function show(step) {
  const item = make("details", null, `step ${step.verdict}`);
  item.id = `step-${step.number}`;
  const calls = step.calls.length === 1 ? "1 call" : `${step.calls.length} calls`;
  item.append(
    put(
      make("summary"),
      make("span", step.number, "place"),
      put(make("span", null, "verdict"), MARKS[step.verdict], make("span", step.verdict, "unseen")),
      make("span", step.query, "query"),
      make("span", [step.group, calls, seconds(step.seconds)].filter(Boolean).join(" · "), "meta")
    )
  );
  const body = put(make("div", null, "body"));
  item.append(body);
  item.addEventListener("toggle", () => {
    if (item.open && !body.hasChildNodes()) fill(body, step);
  });
  return item;
}

/* one run */

const choice = document.getElementById("run-choice");
const holder = document.getElementById("steps");
const more = document.getElementById("more");
let waiting = [];

const current = () => runs[Number(choice.value)];
const wanted = () => document.querySelector("#verdicts input:checked").value;

function showMore() {
  holder.append(...waiting.splice(0, PAGE).map(show));
  more.hidden = waiting.length === 0;
  more.textContent = `Show more steps (${waiting.length} left)`;
}

function showSteps() {
  const steps = current().steps.filter((step) => wanted() === "all" || step.verdict === wanted());
  holder.replaceChildren();
  waiting = [...steps];
  showMore();
  if (!steps.length) holder.append(make("p", "No such steps in this run.", "note"));
  document.getElementById("shown-count").textContent = `${steps.length} steps shown`;
}

function showRun() {
  const run = current();
  for (const place of document.querySelectorAll("[data-count]")) {
    const name = place.dataset.count;
    place.textContent = run.steps.filter((s) => name === "all" || s.verdict === name).length;
  }
  const spec = Object.entries(run.spec).map(([name, value]) => `${name}: ${value}`);
  document.getElementById("run-facts").textContent =
    (run.incomplete ? "Incomplete. " : "") + spec.join(" · ");
  const strip = document.getElementById("strip");
  strip.replaceChildren(...run.steps.map((step) => make("i", null, step.verdict)));
  const right = run.steps.filter((step) => step.verdict === "right").length;
  strip.setAttribute("aria-label", `${right} of ${run.steps.length} steps right, in stream order`);
  showSteps();
}

function goTo(number) {
  const all = document.querySelector("#verdicts input[value=all]");
  if (!document.getElementById(`step-${number}`)) {
    all.checked = true;
    showSteps();
    while (waiting.length && !document.getElementById(`step-${number}`)) showMore();
  }
  const target = document.getElementById(`step-${number}`);
  target.open = true;
  target.scrollIntoView({ block: "start" });
  target.querySelector("summary").focus({ preventScroll: true });
}

const sections = [...new Set(runs.map((run) => run.section))];
for (const section of sections) {
  const parent = sections.length > 1 ? choice.appendChild(make("optgroup")) : choice;
  if (parent !== choice) parent.label = section;
  runs.forEach((run, place) => {
    if (run.section !== section) return;
    const option = make("option", run.name + (run.incomplete ? " (incomplete)" : ""));
    option.value = place;
    parent.append(option);
  });
}
choice.addEventListener("change", showRun);
document.getElementById("verdicts").addEventListener("change", showSteps);
more.addEventListener("click", showMore);
if (runs.length) {
  choice.value = String(Math.max(0, runs.findIndex((run) => run.leads)));
  showRun();
}
