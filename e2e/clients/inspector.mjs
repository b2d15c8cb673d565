// The Inspector's command line: a process of its own, and a server of its own,
// for every call on one database. MODE is legacy or modern. It tells a tool's
// refusal by its exit status, and an unknown tool before it asks the server.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { Bench, Checks, commandLine } from './checks.mjs';

const { words: [mode = 'legacy'], command } = commandLine();
const checks = new Checks(`inspector, ${mode}`);
const bench = new Bench(command);
const cli = fileURLToPath(new URL('../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url));

function inspect(...words) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [
      cli, '--cli', ...words, '--format', 'json', '--quiet', '--protocol-era', mode,
      '-e', `TASKS_DB_PATH=${bench.db}`, '--', bench.command, ...bench.args,
    ], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, HOME: bench.dir, MCP_CATALOG_PATH: path.join(bench.dir, 'catalog.json'), MCP_INSPECTOR_SECRET_STORE: 'file' },
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk) => { out += chunk; });
    child.stderr.on('data', (chunk) => { err += chunk; });
    child.on('error', reject);
    child.on('close', (code) => {
      let result;
      try { result = JSON.parse(out); } catch { /* the caller sees the text */ }
      resolve({ code, result, out, err });
    });
  });
}
async function call(name, args) {
  const reply = await inspect('--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args));
  const result = reply.result?.result ?? reply.result;
  if (!result) throw new Error(`${name}: status ${reply.code}: ${reply.out}${reply.err}`);
  return { ...reply, envelope: checks.result(name, result) };
}
async function ok(name, args) {
  const { envelope, code } = await call(name, args);
  checks.that(`${name} succeeds with status 0`, envelope.ok === true && code === 0, { envelope, code });
  return envelope.data ?? {};
}
async function refused(name, args, code, ...words) {
  const { envelope, code: status } = await call(name, args);
  checks.that(`${name} is ${code} with a status other than 0`, envelope.error?.code === code && status !== 0, { envelope, status });
  for (const word of words) checks.that(`its message says ${word}`, envelope.error?.message.includes(word), envelope);
}

await checks.step('tools', async () => {
  const strict = await inspect('--method', 'tools/list', '--strict');
  checks.same('the schemas pass the strict check', strict.code, 0);
  if (strict.code !== 0) checks.that('strict', false, strict.err);
  const { tools } = strict.result?.result ?? strict.result;
  checks.same('the five tools are there', tools.map((t) => t.name).sort(), ['add_task', 'complete_task', 'delete_task', 'list_tasks', 'search_tasks']);
  checks.learn(tools);
});
await checks.step('calls', async () => {
  const task = await ok('add_task', { title: 'Überweisung – 振込 🧾', due: '2027-02-28', tags: ['Bank'] });
  checks.same('the task is whole', [task.title, task.due, task.tags], ['Überweisung – 振込 🧾', '2027-02-28', ['Bank']]);
  await ok('add_task', { title: '100% wool_sock' });
  checks.same('a filter', (await ok('list_tasks', { filter: { tag: 'Bank', status: 'open' } })).tasks.length, 1);
  const page = await ok('list_tasks', { limit: 1 });
  checks.same('a page', page.tasks.length, 1);
  checks.same('the next page', (await ok('list_tasks', { limit: 1, cursor: page.nextCursor })).tasks.map((t) => t.id), [2]);
  checks.same('% is literal', (await ok('search_tasks', { query: '0%' })).tasks.length, 1);
  const done = await ok('complete_task', { id: 1 });
  checks.same('completing twice changes nothing', await ok('complete_task', { id: 1 }), done);
  await refused('delete_task', { id: 1 }, 'invalid_input', 'confirm');
  await refused('list_tasks', { filter: { dueAftr: '2026-01-01' } }, 'invalid_input', 'dueAftr', 'dueAfter');
  checks.same('a confirmed delete', await ok('delete_task', { id: 1, confirm: true }), { id: 1, deleted: true });
  await refused('complete_task', { id: 1 }, 'not_found');
  const unknown = await inspect('--method', 'tools/call', '--tool-name', 'no_such_tool', '--tool-args-json', '{}');
  checks.that('an unknown tool fails', unknown.code !== 0, unknown);
});

bench.verify(checks);
bench.remove();
checks.report();
