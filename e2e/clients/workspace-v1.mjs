// The official TypeScript client, version 1, with the notes server: the legacy
// era only.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport, getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { Checks, commandLine } from './checks.mjs';
import { Folder, workspace } from './workspace.mjs';

const { command } = commandLine();
const checks = new Checks('typescript v1, workspace');
const folder = new Folder(command);

const client = new Client({ name: 'handrail-e2e', version: '1.0.0' });
client.onerror = (error) => checks.that('the client reports no error', false, String(error));
await client.connect(new StdioClientTransport({ command: folder.command, args: folder.args, env: { ...getDefaultEnvironment(), ...folder.env } }));
checks.that('resources can be subscribed to', client.getServerCapabilities()?.resources?.subscribe, client.getServerCapabilities());

async function watch(uri) {
  const heard = [];
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => { heard.push(params.uri); });
  await client.subscribeResource({ uri });
  return { heard, close: () => client.unsubscribeResource({ uri }) };
}

/** Every page, which this client leaves to its caller. */
async function resources() {
  const all = [];
  let cursor;
  do {
    const page = await client.listResources({ cursor });
    all.push(...page.resources);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}

await workspace({
  tools: async () => (await client.listTools()).tools,
  call: (name, args) => client.callTool({ name, arguments: args }),
  templates: async () => (await client.listResourceTemplates()).resourceTemplates,
  resources,
  read: async (uri) => (await client.readResource({ uri })).contents,
  complete: async (uri, name, value) => (await client.complete({ ref: { type: 'ref/resource', uri }, argument: { name, value } })).completion.values,
  watch,
}, checks, folder);
await client.ping();
await client.close();

folder.verify(checks);
folder.remove();
checks.report();
