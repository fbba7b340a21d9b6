// Makes the pages quicker to use; all of them work without it.
"use strict";

const box = document.getElementById("q");

// The address: a query that is being typed is one entry of the history, however many letters it has.

let isTyping = false;
let lastRequest = null;

if (box) {
  box.addEventListener("blur", () => { isTyping = false; });
  box.form.addEventListener("submit", () => { isTyping = false; });
}

document.body.addEventListener("htmx:beforeHistoryUpdate", (event) => {
  const history = event.detail.history;
  const isOfBox = event.detail.elt === box || event.detail.requestConfig?.elt === box;
  const isSame = new URL(history.path, location.href).href === location.href;
  if (isSame || (isOfBox && isTyping)) history.type = "replace";
  isTyping = isOfBox;
});

// Only parameters that have a value belong into the address.
document.body.addEventListener("htmx:configRequest", (event) => {
  const given = event.detail.formData;
  for (const name of [...given.keys()]) {
    if (given.getAll(name).every((value) => value === "")) given.delete(name);
  }
  lastRequest = event.detail;
});

document.body.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, requestConfig } = event.detail;
  // A button that is replaced while it is pressed gets no click.
  if (document.querySelector("#operations button:active")) {
    event.detail.shouldSwap = false;
    return;
  }
  const isPage = xhr.responseText.includes('id="found"') || xhr.responseText.includes('id="operations"');
  if (isPage && (xhr.status === 200 || xhr.status === 400)) {
    event.detail.shouldSwap = true;
    event.detail.isError = false;
    return;
  }
  event.detail.shouldSwap = false;
  // Too many requests at once: the next letter asks again. Anything else is shown as a page.
  if (xhr.status !== 429) location.assign(new URL(event.detail.pathInfo.finalRequestPath ?? requestConfig.path, location.href));
});

document.body.addEventListener("htmx:afterSettle", () => {
  if (!box) return;
  document.title = `${box.value.trim() || "Search"} · mcp-lucene`;
});

// The box keeps the query of the address when somebody goes back to the page.
window.addEventListener("pageshow", (event) => {
  if (!box || !event.persisted) return;
  box.value = new URLSearchParams(location.search).get("q") ?? "";
});

// Keyboard.

const help = document.getElementById("help");
const setting = document.getElementById("shortcuts");
const STORED = "mcp-lucene-shortcuts";

setting.checked = localStorage.getItem(STORED) !== "off";
setting.addEventListener("change", () => localStorage.setItem(STORED, setting.checked ? "on" : "off"));

for (const button of document.querySelectorAll("[data-help]")) {
  button.hidden = false;
  button.addEventListener("click", () => help.showModal());
}

const stops = () => [...document.querySelectorAll(".hit .open, .part")];

function move(step) {
  const all = stops();
  if (!all.length) return false;
  const here = all.indexOf(document.activeElement.closest(".hit .open, .part"));
  const start = all.findIndex((each) => each.classList.contains("target"));
  const from = here < 0 ? (start < 0 ? (step > 0 ? -1 : all.length) : start) : here;
  const next = all[from + step];
  if (!next) {
    if (step < 0 && here === 0 && box) box.focus();
    return true;
  }
  next.focus({ preventScroll: true });
  (next.closest(".hit") ?? next).scrollIntoView({ block: next.closest(".hit") ? "nearest" : "start" });
  return true;
}

function original() {
  const here = document.activeElement.closest(".hit");
  const link = here?.querySelector("[data-original]") ?? document.querySelector("a.button[data-original]");
  if (link) location.assign(link.dataset.original || link.href);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  const target = event.target;
  if (target === box) {
    if (event.key === "ArrowDown" && move(1)) event.preventDefault();
    if (event.key === "Escape") box.blur();
    return;
  }
  if (target.closest("input, textarea, select, [contenteditable]")) return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    if (target.closest(".hit .open") && move(event.key === "ArrowDown" ? 1 : -1)) event.preventDefault();
    return;
  }
  if (!setting.checked) return;
  const actions = { "/": () => box?.select(), j: () => move(1), k: () => move(-1), o: original, "?": () => help.showModal() };
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

// The document: more of it without leaving the place, copies, and pictures that cannot be made.

async function walk(link) {
  const response = await fetch(link.href, { headers: { Accept: "text/html" } });
  if (!response.ok) { location.assign(link.href); return; }
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const text = page.getElementById("text");
  const present = document.getElementById("text");
  const isEarlier = link.dataset.walk === "earlier";
  const known = [...present.querySelectorAll(".part")];
  if (!known.every((part) => text.querySelector(`[id="${part.id}"]`))) { location.assign(link.href); return; }
  const anchor = isEarlier ? known[0] : known.at(-1);
  const top = anchor.getBoundingClientRect().top;
  const added = [...text.querySelectorAll(".part")].filter((part) => !document.getElementById(part.id));
  const following = text.querySelector(`[data-walk="${link.dataset.walk}"]`)?.parentElement;
  // The first part of the old text begins where the new one before it ends.
  if (isEarlier) anchor.querySelector(".body").replaceWith(text.querySelector(`[id="${anchor.id}"] .body`));
  const place = link.parentElement;
  if (isEarlier) place.after(...added); else place.before(...added);
  if (following) place.replaceWith(following); else place.remove();
  for (const other of present.querySelectorAll("[data-walk]")) {
    const newer = text.querySelector(`[data-walk="${other.dataset.walk}"]`);
    if (newer) other.setAttribute("href", newer.getAttribute("href"));
  }
  window.scrollBy({ top: anchor.getBoundingClientRect().top - top, behavior: "instant" });
  history.replaceState(history.state, "", link.href.replace(/#.*/, location.hash));
  offerCopies();
  say(`${added.length} more parts`);
}

function say(text) {
  const place = document.getElementById("said");
  if (place) place.textContent = text;
}

function offerCopies() {
  for (const button of document.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard;
}

document.addEventListener("click", async (event) => {
  const link = event.target.closest("[data-walk]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    await walk(link);
  }
  const button = event.target.closest("[data-copy]");
  if (button) {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
    say("Copied the citation");
  }
});

for (const picture of document.querySelectorAll("[data-picture]")) {
  const remove = () => {
    picture.closest("figure").remove();
    if (!document.querySelector("[data-picture]")) document.querySelector(".pictured")?.classList.remove("pictured");
  };
  if (picture.complete && !picture.naturalWidth) remove();
  else picture.addEventListener("error", remove);
}

offerCopies();
