// The Inspector with the teaching server: its command line, a process for every
// call, and mcpdo, which keeps connections and answers what a person is asked.
// MODE is legacy or modern.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { until } from './basic.mjs';
import { Checks, commandLine } from './checks.mjs';
import { Place } from './place.mjs';

const { words: [mode = 'legacy'], command } = commandLine();
const place = new Place(command);
const checks = new Checks(`inspector, ${mode}, basic over ${place.http ? 'http' : 'stdio'}`);
const [me, stranger] = place.users;
const builds = fileURLToPath(new URL('../node_modules/@modelcontextprotocol/inspector/clients/', import.meta.url));
const env = {
  ...process.env, HOME: place.dir, MCP_CATALOG_PATH: path.join(place.dir, 'catalog.json'), MCP_INSPECTOR_SECRET_STORE: 'file',
  MCP_INSPECTOR_DAEMON_DIR: path.join(place.dir, 'd'), MCP_INSPECTOR_DAEMON_TOKEN: 'a token of this script alone, and of its own daemon',
};

function start(program, words) {
  const child = spawn(process.execPath, [path.join(builds, program), ...words], { stdio: ['ignore', 'pipe', 'pipe'], env });
  const run = { out: '', err: '', child };
  child.stdout.on('data', (chunk) => { run.out += chunk; });
  child.stderr.on('data', (chunk) => { run.err += chunk; });
  run.ended = new Promise((resolve, reject) => { child.on('error', reject); child.on('close', (code) => resolve(Object.assign(run, { code }))); });
  return run;
}

async function json(run, what) {
  const { out, err, code } = await run.ended;
  try { return JSON.parse(out); } catch { throw new Error(`${what}: status ${code}: ${out}${err}`); }
}

const target = (user, which = 0) => (place.http
  ? ['--server-url', place.urls[which].href, '--transport', 'http', '--header', `Authorization: ${place.headers(user).Authorization}`]
  : Object.entries(place.env).flatMap(([k, v]) => ['-e', `${k}=${v}`]));
const behind = place.http ? [] : ['--', place.command, ...place.args];

async function inspect(user, ...words) {
  const reply = await json(start('launcher/build/index.js', ['--cli', ...words, '--format', 'json', '--quiet', '--protocol-era', mode, ...target(user), ...behind]), words.join(' '));
  return reply.result ?? reply;
}
const inspectTool = async (user, name, args) => checks.result(name, await inspect(user, '--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args)));

const mcpdo = (...words) => start('mcpdo/build/mcp-bin.js', ['--format', 'json', ...words]);
const on = (connection, ...words) => json(mcpdo('--connection', connection, ...words), words.join(' '));
async function connect(connection, user, which, elicit) {
  const reply = await json(mcpdo('connect', '--connection', connection, '--era', mode, '--elicit', elicit, ...target(user, which), ...behind), 'connect');
  checks.same(`${connection} connects in its era`, reply.protocolEra, mode);
}
const callTool = (connection, name, args) => on(connection, 'tools/call', name, JSON.stringify(args));
const envelope = async (connection, name, args) => checks.result(name, await callTool(connection, name, args));

async function cli() {
  const tools = (await inspect(me, '--method', 'tools/list', '--strict')).tools;
  checks.same('nine tools', tools.length, 9);
  checks.learn(tools);
  if (!place.http || mode === 'legacy') return; // inspector.mjs does the like with tasks, and the conversation follows
  checks.same('a tool', (await inspectTool(me, 'multiply', { a: 6, b: 7 })).data, { result: 42 });
  checks.same('a task', (await inspectTool(me, 'create_task', { title: 'Überweisung – 振込 🧾' })).data?.id, 1);
  const uris = (await inspect(me, '--method', 'resources/list')).resources.map((r) => r.uri);
  checks.same('the resources', uris, ['demo://about', 'tasks://board', 'tasks://items/1']);
  checks.same('the templates', (await inspect(me, '--method', 'resources/templates/list')).resourceTemplates.length, 2);
  const board = JSON.parse((await inspect(me, '--method', 'resources/read', '--uri', 'tasks://board')).contents[0].text);
  checks.same('the board', [board.user, board.open, board.tasks[0].title], [me, 1, 'Überweisung – 振込 🧾']);
  checks.same('the prompts', (await inspect(me, '--method', 'prompts/list')).prompts.map((p) => p.name).sort(), ['review-code', 'summarize-text']);
  const prompt = JSON.stringify(await inspect(me, '--method', 'prompts/get', '--prompt-name', 'review-code', '--prompt-args', 'code=x', 'language=go'));
  checks.that('a prompt', prompt.includes('go'), prompt);
  if (stranger) {
    const his = await inspect(stranger, '--method', 'resources/list');
    checks.same('another user sees none of it', his.resources.map((r) => r.uri), ['demo://about', 'tasks://board']);
  }
}

async function conversation() {
  await connect('form', me, 0, 'form');
  await connect('mute', me, place.http ? 1 : 0, 'off');
  const { id } = (await envelope('form', 'create_task', { title: 'to be deleted' })).data;
  const complete = await on('form', 'prompts/complete', '--complete-ref-type', 'ref/prompt', '--complete-ref', 'review-code', '--complete-arg-name', 'language', '--complete-arg-value', 'py');
  checks.that('a completion', JSON.stringify(complete).includes('python'), complete);

  const watch = mcpdo('--connection', 'form', 'resources/subscribe', 'tasks://board');
  await until(() => watch.out.includes('subscribed'));
  const told = () => watch.out.split('tasks://board').length - 1;
  const before = told();
  // The other connection is to another process over the same database.
  checks.same('a change by another process', (await envelope('mute', 'complete_task', { id })).data?.status, 'done');
  await until(() => told() > before);
  checks.that('is heard of', told() > before, watch.out);
  watch.child.kill();
  await watch.ended;

  checks.same('a client that cannot ask is told so', (await envelope('mute', 'delete_task', { id })).error?.code, 'confirmation_required');
  const ask = async () => {
    const { elicitationPending: asked } = await callTool('form', 'delete_task', { id });
    checks.that('the person is asked about the task', asked?.message?.includes('to be deleted') && asked.message.includes(String(id)), asked);
    return asked?.elicitationId;
  };
  checks.same('a no deletes nothing', checks.result('delete_task', await on('form', 'elicitation/respond', await ask(), '--decline')).error?.code, 'declined');
  checks.same('the task is there', JSON.parse((await on('form', 'resources/read', `tasks://items/${id}`)).contents[0].text).id, id);
  checks.same('a yes deletes', checks.result('delete_task', await on('form', 'elicitation/respond', await ask(), 'confirm:=true')).data, { id, deleted: true });
  checks.same('it is gone', (await envelope('form', 'delete_task', { id })).error?.code, 'not_found');
}

await checks.step('cli', cli);
await checks.step('conversation', conversation);
const { pid } = await json(mcpdo('daemon', 'status'), 'daemon status').catch(() => ({}));
await mcpdo('daemon', 'stop').ended;
// It goes on for a moment, with its servers, and writes into the folder.
const gone = () => { try { return !process.kill(pid, 0); } catch { return true; } };
if (pid) checks.that('the daemon ends', await until(gone));
place.done(checks);
checks.report();
