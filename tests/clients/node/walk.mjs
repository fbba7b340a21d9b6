// Reads on through a document with a client of the TypeScript SDK, and prints what it was told.
//
// node walk.mjs PACKAGE ERA URL
// node walk.mjs PACKAGE ERA COMMAND ARGUMENT…
//
// PACKAGE is sdk, the SDK's version 1, or client, its version 2; ERA is legacy or a version of the
// protocol. Both clients check each answer against the schema that the server told.

const [, , name, era, target, ...rest] = process.argv;

const modules = {
  sdk: async () => ({
    ...(await import("@modelcontextprotocol/sdk/client/index.js")),
    ...(await import("@modelcontextprotocol/sdk/client/stdio.js")),
    ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
  }),
  client: async () => ({
    ...(await import("@modelcontextprotocol/client")),
    ...(await import("@modelcontextprotocol/client/stdio")),
  }),
};

const { Client, StdioClientTransport, StreamableHTTPClientTransport } = await modules[name]();

const transport = target.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args: rest, env: process.env });
const mode = era === "legacy" ? era : { pin: era };
const client = new Client({ name: "walk", version: "1" }, { versionNegotiation: { mode } });
await client.connect(transport);

const call = async (tool, args) => {
  const { structuredContent } = await client.callTool({ name: tool, arguments: args });
  return structuredContent;
};

const { tools } = await client.listTools();
const found = await call("Search", { query: "word3", limit: 1 });
const ids = [found.results[0].id];
for (let step = 0; step < 3; step++) {
  ids.push((await call("get_next_chunk", { chunk_id: ids.at(-1) })).chunk.id);
}
const { contents } = await client.readResource({ uri: "document://manual" });
await client.close();

console.log(
  JSON.stringify({ tools: tools.map((tool) => tool.name), ids, document: contents[0].text }),
);
