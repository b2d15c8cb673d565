// The official TypeScript client, version 1, with a project's own commands: the
// legacy era only.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport, getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { Checks, commandLine } from './checks.mjs';
import { Project, taskfile } from './taskfile.mjs';

const { command } = commandLine();
const checks = new Checks('typescript v1, taskfile');
const project = new Project(command);

const client = new Client({ name: 'handrail-e2e', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } });
client.onerror = (error) => checks.that('the client reports no error', false, String(error));
let changes = 0;
let question = '';
let answer;
client.setNotificationHandler(ToolListChangedNotificationSchema, () => { changes++; });
client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
  question = params.message;
  return answer;
});
await client.connect(new StdioClientTransport({ command: project.command, args: project.args, env: { ...getDefaultEnvironment(), ...project.env } }));

await taskfile({
  tools: async () => (await client.listTools()).tools,
  call: (name, args) => client.callTool({ name, arguments: args }),
  read: async (uri) => (await client.readResource({ uri })).contents,
  changes: async () => changes,
  asks: true, answer: (a) => { answer = a; }, question: () => question,
}, checks, project);
await client.close();

project.verify(checks);
project.remove();
checks.report();
