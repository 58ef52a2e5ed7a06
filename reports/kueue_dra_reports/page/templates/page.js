"use strict";
const form = document.getElementById("filters");
const rows = [...document.querySelectorAll("#table tbody tr")];
const texts = rows.map((row) => row.textContent.toLowerCase());

function filter() {
  const wanted = new FormData(form);
  const words = wanted.get("text").toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  rows.forEach((row, at) => {
    const fits = ["level", "result", "heading"].every((name) => !wanted.get(name) || row.dataset[name] === wanted.get(name))
      && words.every((word) => texts[at].includes(word));
    row.hidden = !fits;
    shown += fits;
  });
  document.getElementById("count").textContent = `${shown} of ${rows.length}`;
  document.getElementById("none").hidden = shown > 0;
}

form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#"]');
  const row = link && document.getElementById(link.hash.slice(1));
  if (row && row.hidden) {
    form.reset();
    filter();
  }
});
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll(".case:not([open])")];
  opened.forEach((one) => { one.open = true; });
});
addEventListener("afterprint", () => opened.forEach((one) => { one.open = false; }));
filter();
