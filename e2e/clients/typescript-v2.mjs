// The official TypeScript client, version 2. MODE is legacy, modern (pinned to
// 2026-07-28) or auto (which starts a second server process as a probe).
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport, getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { Bench, Checks, commandLine } from './checks.mjs';
import { session } from './scenario.mjs';

const { words: [mode = 'auto'], command } = commandLine();
const modes = { legacy: 'legacy', modern: { pin: '2026-07-28' }, auto: 'auto' };
const checks = new Checks(`typescript v2, ${mode}`);
const bench = new Bench(command);

const client = new Client({ name: 'handrail-e2e', version: '1.0.0' }, { versionNegotiation: { mode: modes[mode] } });
client.onerror = (error) => checks.that('the client reports no error', /abort|cancel/i.test(String(error)), String(error));
const { command: file, args } = bench;
await client.connect(new StdioClientTransport({ command: file, args, env: { ...getDefaultEnvironment(), ...bench.env } }));

const version = client.getNegotiatedProtocolVersion();
checks.same('the era', version >= '2026-07-28', mode !== 'legacy');
checks.that('the tools capability is declared', Boolean(client.getServerCapabilities()?.tools), client.getServerCapabilities());
await session({
  tools: async () => (await client.listTools()).tools,
  call: (name, args, options) => client.callTool({ name, arguments: args }, options),
}, checks);
await client.close();

bench.verify(checks);
bench.remove();
checks.report({ version, server: client.getServerVersion() });
