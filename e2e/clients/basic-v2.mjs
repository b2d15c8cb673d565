// The official TypeScript client, version 2, with the teaching server. MODE is
// legacy, modern (pinned to 2026-07-28) or auto.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport, getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { basic, harmless } from './basic.mjs';
import { Checks, commandLine } from './checks.mjs';
import { Place } from './place.mjs';

const { words: [mode = 'auto'], command } = commandLine();
const modes = { legacy: 'legacy', modern: { pin: '2026-07-28' }, auto: 'auto' };
const place = new Place(command);
const checks = new Checks(`typescript v2, ${mode}, basic over ${place.http ? 'http' : 'stdio'}`);

async function open({ user, place: which, elicit }) {
  const client = new Client({ name: 'handrail-e2e', version: '1.0.0' }, {
    capabilities: elicit ? { elicitation: { form: {} } } : {}, versionNegotiation: { mode: modes[mode] },
  });
  client.onerror = (error) => checks.that('the client reports no error', harmless.test(String(error)), String(error));
  if (elicit) client.setRequestHandler('elicitation/create', ({ params }) => elicit(params));
  const watches = new Set();
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => { for (const w of watches) w.updated.push(params.uri); });
  client.setNotificationHandler('notifications/resources/list_changed', () => { for (const w of watches) w.changes++; });
  await client.connect(place.http
    ? new StreamableHTTPClientTransport(place.urls[which], { requestInit: { headers: place.headers(user) } })
    : new StdioClientTransport({ command: place.command, args: place.args, env: { ...getDefaultEnvironment(), ...place.env } }));
  checks.same('the era', client.getNegotiatedProtocolVersion() >= '2026-07-28', mode !== 'legacy');
  const { tools, resources, prompts, completions } = client.getServerCapabilities() ?? {};
  checks.that('the capabilities are declared', tools && prompts && completions && resources?.subscribe && resources?.listChanged, client.getServerCapabilities());

  async function watch(uris) {
    const w = { updated: [], changes: 0, lists: () => w.changes };
    watches.add(w);
    if (mode === 'legacy') {
      for (const uri of uris) await client.subscribeResource({ uri });
      w.close = async () => { for (const uri of uris) await client.unsubscribeResource({ uri }); watches.delete(w); };
    } else {
      // Two subscriptions at once; each hears its own.
      const items = await client.listen({ resourceSubscriptions: uris });
      const list = await client.listen({ resourcesListChanged: true });
      checks.same('the filter is honoured', [items.honoredFilter.resourceSubscriptions, list.honoredFilter.resourcesListChanged], [uris, true]);
      w.close = async () => { await items.close(); await list.close(); watches.delete(w); };
    }
    return w;
  }
  return {
    tools: async () => (await client.listTools()).tools,
    call: (name, args, options) => client.callTool({ name, arguments: args }, options),
    resources: async () => (await client.listResources()).resources,
    templates: async () => (await client.listResourceTemplates()).resourceTemplates,
    read: async (uri) => (await client.readResource({ uri }, { cacheMode: 'refresh' })).contents,
    prompts: async () => (await client.listPrompts()).prompts,
    prompt: async (name, args) => (await client.getPrompt({ name, arguments: args })).messages,
    complete: async (ref, name, value) => (await client.complete({ ref, argument: { name, value } })).completion.values,
    watch,
    close: () => client.close(),
  };
}

await basic(open, checks, place.users);
place.done(checks);
checks.report();
