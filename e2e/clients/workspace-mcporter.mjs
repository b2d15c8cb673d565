// mcporter with the notes server: every call is a process with a server of its
// own. It knows tools only, and drops what its text does not show.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Checks, commandLine } from './checks.mjs';
import { Folder } from './workspace.mjs';
import { brief } from './workspace-brief.mjs';

const { command } = commandLine();
const checks = new Checks('mcporter, workspace');
const folder = new Folder(command);
const home = fileURLToPath(new URL('../node_modules/mcporter/', import.meta.url));
const mcporter = path.join(home, JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8')).bin.mcporter);
const config = path.join(folder.dir, 'mcporter.json');
writeFileSync(config, JSON.stringify({ imports: [], mcpServers: { notes: { command: folder.command, args: folder.args, env: folder.env } } }));

function run(...words) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [mcporter, '--config', config, ...words], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: folder.dir } });
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

await brief({
  tools: async () => (await run('list', 'notes', '--json')).tools,
  call: async (name, args) => {
    const envelope = await run('call', `notes.${name}`, '--args', JSON.stringify(args), '--output', 'json');
    return { structuredContent: envelope, content: [{ type: 'text', text: JSON.stringify(envelope) }], isError: envelope.ok === false };
  },
}, checks, folder);

folder.verify(checks);
folder.remove();
checks.report();
