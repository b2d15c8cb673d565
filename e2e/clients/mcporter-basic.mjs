// mcporter with the teaching server over HTTP: a process for every call, each
// with a user's token. It knows tools only.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Checks, commandLine } from './checks.mjs';
import { Place } from './place.mjs';

const { command } = commandLine();
const place = new Place(command);
const checks = new Checks('mcporter, basic over http');
const home = fileURLToPath(new URL('../node_modules/mcporter/', import.meta.url));
const mcporter = path.join(home, JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8')).bin.mcporter);
const config = path.join(place.dir, 'mcporter.json');
const servers = Object.fromEntries(place.users.map((user) => [user, { url: place.urls[0].href, headers: place.headers(user) }]));
writeFileSync(config, JSON.stringify({ imports: [], mcpServers: { ...servers, nobody: { url: place.urls[0].href, headers: { Authorization: `Bearer ${'x'.repeat(40)}` } } } }));

function run(...words) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [mcporter, '--config', config, ...words], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: place.dir } });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk) => { out += chunk; });
    child.stderr.on('data', (chunk) => { err += chunk; });
    child.on('error', reject);
    child.on('close', (status) => {
      try { resolve(JSON.parse(out)); } catch { reject(new Error(`${words.join(' ')}: status ${status}: ${out}${err}`)); }
    });
  });
}
const call = (user, tool, args) => run('call', `${user}.${tool}`, '--args', JSON.stringify(args), '--output', 'json');

await checks.step('mcporter', async () => {
  const [one, two] = place.users;
  checks.same('nine tools', (await run('list', one, '--json')).tools?.length, 9);
  const made = await call(one, 'create_task', { title: 'of the first – 振込' });
  checks.same('a task', [made.ok, made.data?.title], [true, 'of the first – 振込']);
  checks.same('is listed', (await call(one, 'list_tasks', {})).data?.tasks.map((t) => t.id), [made.data?.id]);
  checks.same('for nobody else', (await call(two, 'list_tasks', {})).data?.tasks, []);
  checks.same('a client that cannot ask is told so', (await call(one, 'delete_task', { id: made.data?.id })).error?.code, 'confirmation_required');
  const refused = await run('list', 'nobody', '--json').catch((error) => ({ status: String(error) }));
  checks.that('an unknown token gets nothing', refused.tools === undefined && refused.status !== 'ok', refused);
});
place.done(checks);
checks.report();
