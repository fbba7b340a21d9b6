// Shows the answer of a language model while it arrives, and then its checked sources.
"use strict";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("#answer button");
  if (!button) return;
  const section = button.closest("#answer");
  const text = section.querySelector(".text");
  const sources = section.querySelector(".sources");
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
  const linked = (part) => part.split(/(\[\d+\])/).map((piece) => {
    const number = Number(piece.match(/^\[(\d+)\]$/)?.[1]);
    return known.has(number) ? link(`#source-${number}`, piece) : piece;
  });
  // Offsets count characters, of which some are two units of a string here.
  const characters = Array.from(answer.text);
  const slice = (start, end) => characters.slice(start, end).join("");
  const shown = [];
  let end = 0;
  for (const statement of answer.statements) {
    shown.push(...linked(slice(end, statement.start)));
    const stated = linked(slice(statement.start, statement.end));
    shown.push(...(statement.state === "cited" ? stated : [unproven(stated)]));
    end = statement.end;
  }
  text.replaceChildren(...shown, ...linked(slice(end)));
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

// A statement that no citation proves, so that nobody takes it for proven.
function unproven(stated) {
  const marked = document.createElement("span");
  const remark = document.createElement("em");
  marked.className = "unproven";
  remark.textContent = "(no source)";
  marked.append(...stated, " ", remark);
  return marked;
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
