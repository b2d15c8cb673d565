// The official TypeScript client, version 1, with the teaching server: the legacy
// era only. With a mode, legacy or auto, it reaches HTTP through mcp-remote, a
// bridge from stdio, which speaks that era to the server.
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport, getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ResourceListChangedNotificationSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { basic, harmless } from './basic.mjs';
import { Checks, commandLine } from './checks.mjs';
import { Place, everyPage } from './place.mjs';

const { words: [bridge], command } = commandLine();
const place = new Place(command);
const checks = new Checks(`typescript v1, basic over ${place.http ? 'http' : 'stdio'}${bridge ? ` through mcp-remote, ${bridge}` : ''}`);

function transport(user, which) {
  if (bridge) {
    const program = fileURLToPath(new URL('../node_modules/mcp-remote/dist/proxy.js', import.meta.url));
    const words = [program, place.urls[which].href, '--transport', 'http-only', '--protocol', bridge, '--header', `Authorization:${place.headers(user).Authorization}`, '--silent'];
    return new StdioClientTransport({ command: process.execPath, args: words, env: { ...getDefaultEnvironment(), HOME: place.dir }, stderr: 'pipe' });
  }
  if (place.http) return new StreamableHTTPClientTransport(place.urls[which], { requestInit: { headers: place.headers(user) } });
  return new StdioClientTransport({ command: place.command, args: place.args, env: { ...getDefaultEnvironment(), ...place.env } });
}

async function open({ user, place: which, elicit }) {
  const client = new Client({ name: 'handrail-e2e', version: '1.0.0' }, { capabilities: elicit ? { elicitation: {} } : {} });
  client.onerror = (error) => checks.that('the client reports no error', harmless.test(String(error)), String(error));
  if (elicit) client.setRequestHandler(ElicitRequestSchema, ({ params }) => elicit(params));
  const watches = new Set();
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => { for (const w of watches) w.updated.push(params.uri); });
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => { for (const w of watches) w.changes++; });
  await client.connect(transport(user, which));
  const { tools, resources, prompts, completions } = client.getServerCapabilities() ?? {};
  checks.that('the capabilities are declared', tools && prompts && completions && resources?.subscribe && resources?.listChanged, client.getServerCapabilities());
  await client.ping();
  return {
    tools: async () => (await client.listTools()).tools,
    call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
    resources: () => everyPage((p) => client.listResources(p), 'resources'),
    templates: async () => (await client.listResourceTemplates()).resourceTemplates,
    read: async (uri) => (await client.readResource({ uri })).contents,
    prompts: async () => (await client.listPrompts()).prompts,
    prompt: async (name, args) => (await client.getPrompt({ name, arguments: args })).messages,
    complete: async (ref, name, value) => (await client.complete({ ref, argument: { name, value } })).completion.values,
    watch: async (uris) => {
      const w = { updated: [], changes: 0, lists: () => w.changes };
      watches.add(w);
      for (const uri of uris) await client.subscribeResource({ uri });
      // In the era without sessions the bridge opens a stream behind its answer.
      if (bridge === 'auto') await new Promise((r) => setTimeout(r, 2000));
      w.close = async () => { for (const uri of uris) await client.unsubscribeResource({ uri }); watches.delete(w); };
      return w;
    },
    close: () => client.close(),
  };
}

await basic(open, checks, place.users);
place.done(checks);
checks.report();
