// The official TypeScript client, version 2, with the notes server. MODE is
// legacy, modern (pinned to 2026-07-28) or auto (which starts a second server
// process as a probe).
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport, getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { Checks, commandLine } from './checks.mjs';
import { Folder, workspace } from './workspace.mjs';

const { words: [mode = 'auto'], command } = commandLine();
const modes = { legacy: 'legacy', modern: { pin: '2026-07-28' }, auto: 'auto' };
const checks = new Checks(`typescript v2, ${mode}, workspace`);
const folder = new Folder(command);

const client = new Client({ name: 'handrail-e2e', version: '1.0.0' }, { versionNegotiation: { mode: modes[mode] } });
client.onerror = (error) => checks.that('the client reports no error', /abort|cancel/i.test(String(error)), String(error));
await client.connect(new StdioClientTransport({ command: folder.command, args: folder.args, env: { ...getDefaultEnvironment(), ...folder.env } }));
checks.same('the era', client.getNegotiatedProtocolVersion() >= '2026-07-28', mode !== 'legacy');
const { tools, resources, completions } = client.getServerCapabilities() ?? {};
checks.that('tools, resources and completions are declared', tools && resources?.subscribe && completions, client.getServerCapabilities());

async function watch(uri) {
  const heard = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => { heard.push(params.uri); });
  if (mode === 'legacy') {
    await client.subscribeResource({ uri });
    return { heard, close: () => client.unsubscribeResource({ uri }) };
  }
  const subscription = await client.listen({ resourceSubscriptions: [uri] });
  return { heard, close: () => subscription.close() };
}

await workspace({
  tools: async () => (await client.listTools()).tools,
  call: (name, args) => client.callTool({ name, arguments: args }),
  templates: async () => (await client.listResourceTemplates()).resourceTemplates,
  resources: async () => (await client.listResources()).resources,
  read: async (uri) => (await client.readResource({ uri })).contents,
  complete: async (uri, name, value) => (await client.complete({ ref: { type: 'ref/resource', uri }, argument: { name, value } })).completion.values,
  watch,
}, checks, folder);
await client.close();

folder.verify(checks);
folder.remove();
checks.report();
