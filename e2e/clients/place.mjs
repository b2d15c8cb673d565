// place: where a script's servers are. Over stdio, `SCRIPT WORDS -- BINARY
// basic`: every client starts a process of its own, all over one database. Over
// HTTP, `SCRIPT WORDS -- URL URL`: two processes over one database, and the
// tokens of their users in HANDRAIL_E2E_TOKENS, a JSON object.
import path from 'node:path';
import { Bench } from './checks.mjs';

export class Place extends Bench {
  constructor(command) {
    super(command);
    this.http = /^http:/.test(command[0]);
    this.urls = command.map((u) => (this.http ? new URL(u) : u));
    this.tokens = this.http ? JSON.parse(process.env.HANDRAIL_E2E_TOKENS) : {};
    this.users = this.http ? Object.keys(this.tokens) : ['local'];
    this.env = { MCP_DB_PATH: path.join(this.dir, 'new folder', 'tasks #1 ?.db') };
    this.args.push('--db', path.join(this.dir, 'tasks #1 ?.db'));
  }

  headers(user) { return { Authorization: `Bearer ${this.tokens[user]}` }; }

  /** What stdio wrote is checked; over HTTP the Go test looks at the servers. */
  done(checks) {
    if (!this.http) this.verify(checks);
    this.remove();
  }
}

/** Every page of a list, for clients that leave that to their callers. */
export async function everyPage(list, field) {
  const all = [];
  let cursor;
  do {
    const page = await list(cursor === undefined ? {} : { cursor });
    all.push(...page[field]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}
