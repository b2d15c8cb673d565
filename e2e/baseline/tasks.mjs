// The baseline: what a careful author would write on the TypeScript SDK 2.4
// and better-sqlite3. The five tasks tools with the same envelope, the same
// search (trigram index, checked by LIKE, by id) and an audit entry a call,
// inserted in a transaction of its own for a read and with the change for a
// write. It is measured beside Handrail and used to try the client scripts; it
// is no reference for the contract.
//
// Environment: TASKS_DB_PATH, and BASELINE_SYNC (FULL, the default, or NORMAL).
import { createHash } from 'node:crypto';
import Database from 'better-sqlite3';
import { Server, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const db = new Database(process.env.TASKS_DB_PATH ?? 'tasks.db', { timeout: 10_000 });
db.pragma('journal_mode = WAL');
db.pragma(`synchronous = ${process.env.BASELINE_SYNC === 'NORMAL' ? 'NORMAL' : 'FULL'}`);
db.exec(`
  CREATE TABLE IF NOT EXISTS tasks (
    id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, status TEXT NOT NULL,
    due TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, completed_at TEXT);
  CREATE TABLE IF NOT EXISTS tags (
    task_id INTEGER NOT NULL, pos INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (task_id, pos)) WITHOUT ROWID;
  CREATE VIRTUAL TABLE IF NOT EXISTS titles USING fts5(title, content='', contentless_delete=1, tokenize='trigram case_sensitive 0', detail=full);
  CREATE TABLE IF NOT EXISTS audit_log (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, tool TEXT NOT NULL, outcome TEXT NOT NULL,
    args TEXT, args_bytes INTEGER, args_sha256 TEXT);
`);

const sql = {
  add: db.prepare('INSERT INTO tasks (title, status, due, created_at, updated_at) VALUES (?, \'open\', ?, ?, ?)'),
  addTag: db.prepare('INSERT INTO tags VALUES (?, ?, ?)'),
  addTitle: db.prepare('INSERT INTO titles (rowid, title) VALUES (?, ?)'),
  get: db.prepare('SELECT * FROM tasks WHERE id = ?'),
  tags: db.prepare('SELECT tag FROM tags WHERE task_id = ? ORDER BY pos'),
  list: db.prepare(`SELECT * FROM tasks WHERE id > @after AND (@status IS NULL OR status = @status)
    AND (@tag IS NULL OR EXISTS (SELECT 1 FROM tags WHERE task_id = id AND tag = @tag))
    AND (@dueAfter IS NULL OR due >= @dueAfter) AND (@dueBefore IS NULL OR due <= @dueBefore) ORDER BY id LIMIT @limit`),
  match: db.prepare(`SELECT t.* FROM titles f JOIN tasks t ON t.id = f.rowid
    WHERE titles MATCH @match AND f.rowid > @after AND t.title LIKE @like ESCAPE '\\' ORDER BY f.rowid LIMIT @limit`),
  scan: db.prepare('SELECT * FROM tasks WHERE id > @after AND title LIKE @like ESCAPE \'\\\' ORDER BY id LIMIT @limit'),
  done: db.prepare('UPDATE tasks SET status = \'done\', completed_at = ?, updated_at = ? WHERE id = ? AND status = \'open\''),
  del: db.prepare('DELETE FROM tasks WHERE id = ?'),
  delTags: db.prepare('DELETE FROM tags WHERE task_id = ?'),
  delTitle: db.prepare('DELETE FROM titles WHERE rowid = ?'),
  audit: db.prepare('INSERT INTO audit_log (at, tool, outcome, args, args_bytes, args_sha256) VALUES (?, ?, ?, ?, ?, ?)'),
};

class Refused extends Error {
  constructor(code, message) { super(message); this.code = code; }
}
const invalid = (message) => new Refused('invalid_input', message);

function task(row) {
  const t = { id: row.id, title: row.title, status: row.status };
  if (row.due) t.due = row.due;
  t.tags = sql.tags.all(row.id).map((r) => r.tag);
  t.createdAt = row.created_at;
  t.updatedAt = row.updated_at;
  if (row.completed_at) t.completedAt = row.completed_at;
  return t;
}

function known(args, where, ...keys) {
  for (const key of Object.keys(args)) {
    if (!keys.includes(key)) throw invalid(`unknown argument "${key}"${where}; known are ${keys.join(', ')}`);
  }
}
function text(value, name, max) {
  if (typeof value !== 'string' || value.trim() === '' || value.length > max || value.includes('\0')) throw invalid(`${name} must be a text of 1 to ${max} characters`);
  return value;
}
function date(value, name) {
  if (value === undefined || value === null) return null;
  const at = new Date(`${value}T00:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(value) || Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== value) throw invalid(`${name} must be a real date, YYYY-MM-DD`);
  return value;
}
function taskID(value, name = 'id') {
  if (!Number.isSafeInteger(value) || value < 1) throw invalid(`${name} must be a positive integer`);
  return value;
}
function found(id) {
  const row = sql.get.get(id);
  if (!row) throw new Refused('not_found', `no task ${id}`);
  return row;
}
function page(args) {
  const limit = args.limit ?? 100;
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > 200) throw invalid('limit must be 1 to 200');
  return { limit: limit + 1, after: args.cursor == null ? 0 : taskID(Number(args.cursor), 'cursor') };
}
function pageOf(rows, { limit }) {
  const tasks = rows.slice(0, limit - 1).map(task);
  return rows.length < limit ? { tasks } : { tasks, nextCursor: String(tasks.at(-1).id) };
}

const handlers = {
  add_task(args) {
    known(args, '', 'title', 'due', 'tags');
    const title = text(args.title, 'title', 200);
    const due = date(args.due, 'due');
    const tags = args.tags ?? [];
    if (!Array.isArray(tags) || tags.length > 10) throw invalid('tags must be at most 10 texts');
    const now = new Date().toISOString();
    const { lastInsertRowid: id } = sql.add.run(title, due, now, now);
    [...new Set(tags.map((t) => text(t, 'tags', 40)))].forEach((tag, i) => sql.addTag.run(id, i, tag));
    sql.addTitle.run(id, title);
    return task(sql.get.get(id));
  },
  list_tasks(args) {
    known(args, '', 'filter', 'limit', 'cursor');
    const filter = args.filter ?? {};
    known(filter, ' in filter', 'status', 'tag', 'dueAfter', 'dueBefore');
    if (filter.status != null && !['open', 'done'].includes(filter.status)) throw invalid('status must be open or done');
    if (typeof filter !== 'object') throw invalid('filter must be an object');
    const p = page(args);
    return pageOf(sql.list.all({
      status: filter.status ?? null, tag: filter.tag ?? null,
      dueAfter: date(filter.dueAfter, 'dueAfter'), dueBefore: date(filter.dueBefore, 'dueBefore'), ...p,
    }), p);
  },
  search_tasks(args) {
    known(args, '', 'query', 'limit', 'cursor');
    const query = text(args.query, 'query', 200);
    const p = page(args);
    const like = `%${query.replace(/[\\%_]/g, '\\$&')}%`;
    const rows = [...query].length < 3 ? sql.scan.all({ like, ...p }) : sql.match.all({ match: `"${query.replaceAll('"', '""')}"`, like, ...p });
    return pageOf(rows, p);
  },
  complete_task(args) {
    known(args, '', 'id');
    const id = taskID(args.id);
    found(id);
    const now = new Date().toISOString();
    sql.done.run(now, now, id);
    return task(sql.get.get(id));
  },
  delete_task(args) {
    known(args, '', 'id', 'confirm');
    const id = taskID(args.id);
    if (args.confirm !== true) throw invalid('confirm must be true');
    found(id);
    sql.del.run(id);
    sql.delTags.run(id);
    sql.delTitle.run(id);
    return { id, deleted: true };
  },
};

const writes = new Set(['add_task', 'complete_task', 'delete_task']);

function record(tool, outcome, raw) {
  const json = JSON.stringify(raw);
  sql.audit.run(new Date().toISOString(), tool, outcome, json.slice(0, 8192), Buffer.byteLength(json), createHash('sha256').update(json).digest('hex'));
}
const write = db.transaction((tool, args) => {
  const data = handlers[tool](args);
  record(tool, 'ok', args);
  return data;
});

function call(tool, args = {}) {
  let envelope;
  try {
    let data;
    if (writes.has(tool)) {
      data = write(tool, args);
    } else {
      data = handlers[tool](args);
      record(tool, 'ok', args);
    }
    envelope = { ok: true, data };
  } catch (error) {
    const refused = error instanceof Refused;
    record(tool, !refused ? 'error' : error.code === 'not_found' ? 'not_found' : 'rejected', args);
    envelope = { ok: false, error: refused ? { code: error.code, message: error.message } : { code: 'internal_error', message: 'something went wrong' } };
  }
  const result = { content: [{ type: 'text', text: JSON.stringify(envelope) }], structuredContent: envelope };
  if (!envelope.ok) result.isError = true;
  return result;
}

const str = (extra = {}) => ({ type: 'string', ...extra });
const taskSchema = {
  type: 'object', required: ['id', 'title', 'status', 'tags', 'createdAt', 'updatedAt'],
  properties: { id: { type: 'integer' }, title: str(), status: str({ enum: ['open', 'done'] }), due: str(), tags: { type: 'array', items: str() }, createdAt: str(), updatedAt: str(), completedAt: str() },
};
const listSchema = { type: 'object', required: ['tasks'], properties: { tasks: { type: 'array', items: taskSchema }, nextCursor: str() } };
const output = (data) => ({
  type: 'object', required: ['ok'],
  properties: { ok: { type: 'boolean' }, data, error: { type: 'object', required: ['code', 'message'], properties: { code: str(), message: str() } } },
});
const input = (properties, ...required) => ({ type: 'object', properties, required, additionalProperties: false });
const paging = { limit: { type: 'integer', minimum: 1, maximum: 200 }, cursor: str() };
const id = { id: { type: 'integer', minimum: 1 } };
const filter = { type: 'object', additionalProperties: false, properties: { status: str({ enum: ['open', 'done'] }), tag: str(), dueAfter: str(), dueBefore: str() } };
const tools = [
  ['add_task', 'Create a task.', input({ title: str({ minLength: 1, maxLength: 200 }), due: str(), tags: { type: 'array', items: str(), maxItems: 10 } }, 'title'), taskSchema],
  ['complete_task', 'Mark a task as done.', input(id, 'id'), taskSchema],
  ['delete_task', 'Permanently delete a task.', input({ ...id, confirm: { type: 'boolean', const: true } }, 'id', 'confirm'), { type: 'object', properties: { ...id, deleted: { type: 'boolean' } } }],
  ['list_tasks', 'List tasks.', input({ filter, ...paging }), listSchema],
  ['search_tasks', 'Search titles.', input({ query: str({ minLength: 1, maxLength: 200 }), ...paging }, 'query'), listSchema],
].map(([name, description, inputSchema, data]) => ({
  name, title: description, description, inputSchema, outputSchema: output(data),
  annotations: { readOnlyHint: !writes.has(name), destructiveHint: name === 'delete_task', idempotentHint: name !== 'add_task', openWorldHint: false },
}));

serveStdio(() => {
  const server = new Server({ name: 'baseline-tasks', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools }));
  server.setRequestHandler('tools/call', ({ params }) => {
    if (!Object.hasOwn(handlers, params.name)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `unknown tool ${params.name}`);
    return call(params.name, params.arguments);
  });
  return server;
});
