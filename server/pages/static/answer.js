// Shows the answer of a language model while it arrives, and then its checked sources.
"use strict";

document.addEventListener("submit", async (event) => {
  const section = event.target.closest("#answer");
  if (!section) return;
  event.preventDefault();
  const text = section.querySelector(".text");
  const sources = section.querySelector(".sources");
  const button = section.querySelector("button");
  const query = section.dataset.query;
  text.replaceChildren("…");
  sources.replaceChildren();
  button.disabled = true;
  try {
    const response = await fetch(`${document.body.dataset.root}search`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
      body: JSON.stringify({ query, include_answer: true }),
    });
    if (!response.ok) {
      const problem = await response.json().catch(() => ({ detail: response.statusText }));
      text.replaceChildren(problem.detail);
      return;
    }
    let soFar = "";
    for await (const { name, data } of events(response.body)) {
      if (name === "delta") text.replaceChildren(soFar += data.text);
      if (name === "problem") text.replaceChildren(data.detail);
      if (name === "answer") show(data, text, sources, query);
    }
  } catch (error) {
    text.replaceChildren("The answer was interrupted. Try again.");
  } finally {
    button.disabled = false;
  }
});

// Server-sent events of a response; EventSource cannot post.
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    buffer += value;
    const blocks = buffer.split("\n\n");
    buffer = blocks.pop();
    for (const block of blocks) {
      const lines = block.split("\n");
      const field = (key) => lines.find((line) => line.startsWith(`${key}: `))?.slice(key.length + 2);
      yield { name: field("event"), data: JSON.parse(field("data")) };
    }
  }
}

function show(answer, text, sources, query) {
  const known = new Map(answer.citations.map((citation) => [citation.number, citation]));
  // The text of a model is only ever text: nothing in it becomes an element.
  text.replaceChildren(...answer.text.split(/(\[\d+\])/).map((part) => {
    const number = Number(part.match(/^\[(\d+)\]$/)?.[1]);
    return known.has(number) ? link(`#source-${number}`, part) : part;
  }));
  sources.replaceChildren(...answer.citations.map((citation) => {
    const item = document.createElement("li");
    item.value = citation.number;
    item.id = `source-${citation.number}`;
    item.className = citation.holds ? "holds" : "fails";
    if (citation.id) item.append(link(address(citation, query), citation.title));
    if (citation.quote) {
      const quote = document.createElement("q");
      quote.dir = "auto";
      quote.textContent = citation.quote;
      item.append(quote);
    }
    if (!citation.holds) {
      const warning = document.createElement("strong");
      warning.textContent = "This citation does not hold.";
      item.append(warning);
    }
    return item;
  }));
}

function address(citation, query) {
  const chunk = Number(citation.id.slice(citation.id.lastIndexOf("-") + 1));
  const parameters = new URLSearchParams({ q: query, chunk });
  return `${document.body.dataset.root}documents/${encodeURIComponent(citation.source_document)}?${parameters}#chunk-${chunk}`;
}

function link(href, text) {
  const made = document.createElement("a");
  made.href = href;
  made.textContent = text;
  return made;
}
