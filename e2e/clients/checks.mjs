// checks: collects what a script found, and prints it as one JSON object.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import Ajv2020 from 'ajv/dist/2020.js';

/** Command after `--`, and the words before it. */
export function commandLine() {
  const cut = process.argv.indexOf('--');
  if (cut < 0 || cut === process.argv.length - 1) {
    process.stderr.write('usage: node SCRIPT [MODE] -- COMMAND [ARGS…]\n');
    process.exit(2);
  }
  return { words: process.argv.slice(2, cut), command: process.argv.slice(cut + 1) };
}

/** A temporary folder with a database path, and the server's command line behind tee. */
export class Bench {
  constructor(command) {
    this.dir = mkdtempSync(path.join(tmpdir(), 'handrail-e2e-'));
    this.db = path.join(this.dir, 'tasks #1 ?.db');
    this.log = path.join(this.dir, 'stdout');
    this.command = process.execPath;
    this.args = [fileURLToPath(new URL('tee.mjs', import.meta.url)), this.log, ...command];
    this.env = { TASKS_DB_PATH: this.db };
  }

  /** Checks every line that any server process wrote, and how each ended. */
  verify(checks) {
    let lines = 0;
    for (const name of readdirSync(this.dir).filter((n) => n.startsWith('stdout.'))) {
      const body = readFileSync(path.join(this.dir, name), 'utf8');
      if (name.endsWith('.exit')) {
        const { code, signal } = JSON.parse(body);
        checks.that('the server ended with status 0 or by the client\'s signal', code === 0 || signal === 'SIGTERM' || code === 143, body);
        continue;
      }
      checks.that('stdout ends with a whole line', body === '' || body.endsWith('\n'), body.slice(-80));
      for (const line of body.split('\n').filter((l) => l !== '')) {
        lines++;
        const fault = rpcFault(line);
        if (fault) checks.that('every line of stdout is JSON-RPC', false, `${fault}: ${line.slice(0, 200)}`);
      }
    }
    checks.that('every line of stdout is JSON-RPC', lines > 0, `${lines} lines`);
  }

  remove() { rmSync(this.dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }); }
}

function rpcFault(line) {
  let message;
  try { message = JSON.parse(line); } catch (error) { return String(error); }
  for (const m of Array.isArray(message) ? message : [message]) {
    if (m === null || typeof m !== 'object' || m.jsonrpc !== '2.0') return 'not JSON-RPC 2.0';
    const reply = 'result' in m || 'error' in m;
    if (!reply && typeof m.method !== 'string') return 'neither a request nor a reply';
    if (reply && !('id' in m)) return 'a reply without an id';
  }
  return '';
}

/** The list of what was checked. A check that throws is a failed check. */
export class Checks {
  constructor(client) { this.client = client; this.list = []; this.ajv = new Ajv2020({ strict: false, validateFormats: false }); this.schemas = new Map(); }

  that(name, ok, detail) {
    this.list.push(ok ? { name, ok: true } : { name, ok: false, detail: (typeof detail === 'string' ? detail : JSON.stringify(detail) ?? '').slice(0, 500) });
    return ok;
  }

  same(name, got, want) { return this.that(name, isDeepStrictEqual(got, want), { got, want }); }

  async step(name, run) {
    try { await run(); } catch (error) { this.that(name, false, String(error?.stack ?? error).slice(0, 600)); }
  }

  /** Compiles each tool's outputSchema for use by result. */
  learn(tools) {
    for (const tool of tools) {
      this.that(`${tool.name} declares an outputSchema`, tool.outputSchema?.type === 'object', tool.outputSchema);
      if (tool.outputSchema) this.schemas.set(tool.name, this.ajv.compile(tool.outputSchema));
    }
  }

  /** Checks the envelope of a result against the schema and its text twin, and returns it. */
  result(tool, result) {
    const envelope = result.structuredContent;
    const validate = this.schemas.get(tool);
    if (validate && !validate(envelope)) this.that(`${tool}: structuredContent fits outputSchema`, false, { errors: validate.errors, envelope });
    const first = result.content?.[0];
    let twin;
    try { twin = JSON.parse(first?.text); } catch { twin = undefined; }
    if (first?.type !== 'text' || !isDeepStrictEqual(twin, envelope)) this.that(`${tool}: the text block is the same JSON`, false, { text: first, envelope });
    if (envelope?.ok !== true && envelope?.ok !== false) this.that(`${tool}: the envelope says ok`, false, envelope);
    if (Boolean(result.isError) !== (envelope?.ok === false)) this.that(`${tool}: isError matches ok`, false, result);
    return envelope ?? {};
  }

  /** Prints the report and sets the exit status. */
  report(extra = {}) {
    const failed = this.list.filter((c) => !c.ok);
    const out = { client: this.client, ...extra, passed: this.list.length - failed.length, failed: failed.length, failures: failed };
    process.stdout.write(`${JSON.stringify(out, null, 1)}\n`);
    process.exitCode = failed.length ? 1 : 0;
  }
}
