// The official TypeScript client, version 2, with a project's own commands. MODE
// is legacy, modern (pinned to 2026-07-28) or auto; -mute cannot ask a person.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport, getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { Checks, commandLine } from './checks.mjs';
import { Project, taskfile } from './taskfile.mjs';

const { words: [mode = 'auto', mute], command } = commandLine();
const modes = { legacy: 'legacy', modern: { pin: '2026-07-28' }, auto: 'auto' };
const checks = new Checks(`typescript v2, ${mode}, taskfile`);
const project = new Project(command);
const asks = mute !== 'mute';

const client = new Client({ name: 'handrail-e2e', version: '1.0.0' }, { versionNegotiation: { mode: modes[mode] }, capabilities: asks ? { elicitation: { form: {} } } : {} });
client.onerror = (error) => checks.that('the client reports no error', /abort|cancel/i.test(String(error)), String(error));
let changes = 0;
let question = '';
let answer;
client.setNotificationHandler('notifications/tools/list_changed', () => { changes++; });
if (asks) {
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    question = params.message;
    return answer;
  });
}
await client.connect(new StdioClientTransport({ command: project.command, args: project.args, env: { ...getDefaultEnvironment(), ...project.env } }));
checks.same('the era', client.getNegotiatedProtocolVersion() >= '2026-07-28', mode !== 'legacy');
const subscription = mode === 'legacy' ? undefined : await client.listen({ toolsListChanged: true });

await taskfile({
  tools: async () => (await client.listTools()).tools,
  call: (name, args) => client.callTool({ name, arguments: args }),
  read: async (uri) => (await client.readResource({ uri })).contents,
  changes: async () => changes,
  asks, answer: (a) => { answer = a; }, question: () => question,
}, checks, project);
await subscription?.close();
await client.close();

project.verify(checks);
project.remove();
checks.report();
