// The official TypeScript client, version 1: the legacy era only.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport, getDefaultEnvironment } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Bench, Checks, commandLine } from './checks.mjs';
import { session } from './scenario.mjs';

const { command } = commandLine();
const checks = new Checks('typescript v1');
const bench = new Bench(command);

const client = new Client({ name: 'handrail-e2e', version: '1.0.0' });
client.onerror = (error) => checks.that('the client reports no error', /abort|cancel|unknown message ID/i.test(String(error)), String(error));
const { command: file, args } = bench;
await client.connect(new StdioClientTransport({ command: file, args, env: { ...getDefaultEnvironment(), ...bench.env } }));

checks.that('the tools capability is declared', Boolean(client.getServerCapabilities()?.tools), client.getServerCapabilities());
await session({
  tools: async () => (await client.listTools()).tools,
  call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
}, checks);
await client.ping();
await client.close();

bench.verify(checks);
bench.remove();
checks.report({ server: client.getServerVersion() });
