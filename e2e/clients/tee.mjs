// tee: runs a server and keeps a copy of every byte it writes to stdout, so
// that a script can check afterwards what the client library may have forgiven.
// Usage: node tee.mjs LOG COMMAND [ARGS…]; the copy is LOG.PID, and LOG.PID.exit
// says how the server ended.
import { spawn } from 'node:child_process';
import { openSync, writeSync, writeFileSync } from 'node:fs';

const [log, command, ...args] = process.argv.slice(2);
const copy = `${log}.${process.pid}`;
const fd = openSync(copy, 'w');
const child = spawn(command, args, { stdio: ['inherit', 'pipe', 'inherit'] });
child.stdout.on('data', (chunk) => { writeSync(fd, chunk); process.stdout.write(chunk); });
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => { process.stderr.write(`tee: ${error.message}\n`); process.exit(127); });
child.on('close', (code, signal) => {
  writeFileSync(`${copy}.exit`, JSON.stringify({ code, signal }));
  process.exit(code ?? 1);
});
