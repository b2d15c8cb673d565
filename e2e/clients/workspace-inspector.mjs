// The Inspector's mcpdo with the notes server: a daemon of its own holds one
// connection, and every command is a process. MODE is legacy or modern.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Checks, commandLine } from './checks.mjs';
import { Folder } from './workspace.mjs';
import { brief } from './workspace-brief.mjs';

const { words: [mode = 'legacy'], command } = commandLine();
const checks = new Checks(`inspector's mcpdo, ${mode}, workspace`);
const folder = new Folder(command);
const home = fileURLToPath(new URL('../node_modules/@modelcontextprotocol/inspector/', import.meta.url));
const mcpdo = path.join(home, JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8')).bin.mcpdo);
const env = {
  ...process.env, ...folder.env, HOME: folder.dir, MCP_CATALOG_PATH: path.join(folder.dir, 'catalog.json'), MCP_INSPECTOR_SECRET_STORE: 'file',
  MCP_INSPECTOR_DAEMON_DIR: path.join(folder.dir, 'd'), MCP_INSPECTOR_DAEMON_TOKEN: randomBytes(24).toString('hex'),
};

function start(...words) { return spawn(process.execPath, [mcpdo, '--format', 'json', ...words], { stdio: ['ignore', 'pipe', 'pipe'], env }); }

/** Runs one command; a tool's refusal has a result and a status other than 0. */
function run(...words) {
  return new Promise((resolve, reject) => {
    const child = start(...words);
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

async function watch(uri) {
  const child = start('@e2e', 'resources/subscribe', uri);
  const heard = [];
  let text = '';
  const begun = new Promise((resolve, reject) => {
    child.on('close', (status) => reject(new Error(`resources/subscribe ended with ${status}`)));
    child.stdout.on('data', (chunk) => {
      text += chunk;
      for (let end; (end = text.indexOf('\n}\n')) >= 0; text = text.slice(end + 3)) {
        const event = JSON.parse(text.slice(0, end + 2));
        if (event.type === 'subscribed') resolve();
        if (event.type === 'resources/updated') heard.push(event.uri);
      }
    });
  });
  await begun;
  return { heard, close: async () => { child.kill(); } };
}

let daemon;
try {
  const { protocolEra } = await run('@e2e', 'connect', '--era', mode, '-e', `XDG_STATE_HOME=${folder.env.XDG_STATE_HOME}`, '--', folder.command, ...folder.args);
  checks.same('the era', protocolEra, mode);
  daemon = (await run('daemon', 'status')).pid;
  await brief({
    tools: async () => (await run('@e2e', 'tools/list')).tools,
    call: (name, args) => run('@e2e', 'tools/call', name, JSON.stringify(args)),
    templates: async () => (await run('@e2e', 'resources/templates/list')).resourceTemplates,
    resources: async () => (await run('@e2e', 'resources/list')).resources,
    read: async (uri) => (await run('@e2e', 'resources/read', uri)).contents,
    complete: async (uri, name, value) => (await run('@e2e', 'prompts/complete', '--complete-ref-type', 'ref/resource', '--complete-ref', uri, '--complete-arg-name', name, '--complete-arg-value', value)).values,
    watch,
  }, checks, folder);
} finally {
  await run('@e2e', 'disconnect').catch(() => {});
  await run('daemon', 'stop').catch(() => {
    if (daemon) process.kill(daemon); // nothing of this run stays behind
  });
}

folder.verify(checks);
folder.remove();
checks.report();
