// workspace: one person's session with the notes server, the same for every
// client library. A client is {tools(), call(name, args), resources(),
// templates(), read(uri), complete(uri, name, value), watch(uri)}: call gives
// the tool result or throws the protocol's error; watch gives {heard, close()},
// where heard grows by the URIs of what changed.
import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { Bench } from './checks.mjs';

export const maxRead = 2000;
export const reads = ['notes_list', 'notes_read', 'notes_search', 'tasks_list'];
export const writes = ['notes_append', 'notes_write', 'tasks_add', 'tasks_complete'];

/** A folder of notes with a neighbour, and the server's command line over it. */
export class Folder extends Bench {
  constructor(command, allowed = writes) {
    super(command);
    this.root = path.join(this.dir, 'my notes');
    this.outside = path.join(this.dir, 'my notes-private');
    this.args.push('--root', this.root, '--max-read-bytes', String(maxRead));
    if (allowed.length) this.args.push('--allow-write', allowed.join(','));
    this.env = { XDG_STATE_HOME: path.join(this.dir, 'state') };
    mkdirSync(this.outside);
    writeFileSync(path.join(this.outside, 'diary.md'), 'nobody may read this\n');
    this.put('inbox.md', '# Inbox\n\nCall the Ärztin – 振込 🧾\nbuy wool\n');
    this.put('projects/boat/plan.md', '---\ntitle: "The boat"\n---\nVarnish, rope\n');
    this.put('projects/untitled.md', 'ÄRGER and wool\n');
    this.put('windows.md', 'one\r\ntwo');
    this.put('odd.md', '# Odd\na\u200bb\u202ec\n');
    this.put('long.md', `${'x'.repeat(maxRead - 1)}é wool\n`);
    this.put('.hidden.md', 'hidden\n');
    this.put('list.txt', 'no note\n');
  }

  file(name) { return path.join(this.root, ...name.split('/')); }

  put(name, text) {
    mkdirSync(path.dirname(this.file(name)), { recursive: true });
    writeFileSync(this.file(name), text);
  }

  text(name) { return readFileSync(this.file(name), 'utf8'); }

  /** Saves as many editors do: a new file that takes the old one's name. */
  save(name, text) {
    const part = `${this.file(name)}.swp~`;
    writeFileSync(part, text);
    renameSync(part, this.file(name));
  }

  /** What a refused call must not have changed. */
  untouched(checks) {
    checks.same('the folder beside the root is as it was', readdirSync(this.outside), ['diary.md']);
    checks.same('so is the file in it', readFileSync(path.join(this.outside, 'diary.md'), 'utf8'), 'nobody may read this\n');
    const left = readdirSync(this.root, { recursive: true }).filter((n) => /tmp|handrail/i.test(String(n)));
    checks.same('no temporary file is left', left, []);
    checks.that('the record is in the folder for state', existsSync(path.join(this.env.XDG_STATE_HOME, 'handrail', 'audit.db')));
  }
}

/** Paths that break a rule, and what the message says of each. */
export const refusedPaths = [
  ['', 'empty'], ['../my notes-private/diary.md', '".."'], ['a/../inbox.md', '".."'], ['./inbox.md', '"."'], ['/etc/passwd.md', 'absolute'],
  ['//server/share/a.md', 'UNC'], ['\\\\server\\a.md', 'UNC'], ['C:/a.md', 'drive'], ['C:a.md', 'drive'], ['a\\b.md', '\\'], ['a:b.md', ':'],
  ['a*b.md', '*'], ['a?.md', '?'], ['a"b.md', '"'], ['a<b.md', '<'], ['a>b.md', '>'], ['a|b.md', '|'], ['a\u0007b.md', 'control'], ['a\u0000b.md', 'NUL'],
  ['.hidden.md', 'dot'], ['.git/a.md', 'dot'], ['a./b.md', 'dot'], ['a /b.md', 'space'], ['CON.md', 'device'], ['nul.md', 'device'], ['com1.txt.md', 'device'],
  ['COM\u00b9.md', 'device'], ['a//b.md', 'empty name'], ['a.md/', 'empty name'], ['list.txt', '.md'], ['tasks.json', '.md'], [`${'n'.repeat(253)}.md`, '255'],
  [`${'d/'.repeat(511)}long.md`, '1024'],
];

const sha = (text) => createHash('sha256').update(text).digest('hex');

/** Runs the whole session. */
export async function workspace(client, checks, folder) {
  const call = async (tool, args) => checks.result(tool, await client.call(tool, args));
  const ok = async (tool, args) => {
    const envelope = await call(tool, args);
    checks.that(`${tool} ${JSON.stringify(args)?.slice(0, 80)} succeeds`, envelope.ok === true, envelope);
    return envelope.data ?? {};
  };
  const refused = async (tool, args, code, ...words) => {
    const envelope = await call(tool, args);
    const message = envelope.error?.message ?? '';
    checks.that(`${tool} ${JSON.stringify(args)?.slice(0, 80)} is ${code}`, envelope.ok === false && envelope.error?.code === code, envelope);
    for (const word of words) checks.that(`its message says ${word}`, message.includes(word), message);
    checks.that('the message holds no absolute path', !message.includes(folder.dir), message);
  };
  const run = { client, checks, folder, ok, refused };
  for (const step of [listing, listed, reading, searching, writing, appending, paths, links, tasks, resources, watching, crowd]) {
    await checks.step(step.name, () => step(run));
  }
  folder.untouched(checks);
}

async function listing({ client, checks }) {
  const tools = await client.tools();
  checks.same('the eight tools are there', tools.map((t) => t.name).sort(), [...reads, ...writes].sort());
  checks.same('their order is stable', (await client.tools()).map((t) => t.name), tools.map((t) => t.name));
  checks.learn(tools);
  for (const { name, annotations, inputSchema, description } of tools) {
    checks.same(`${name} is read-only or not`, annotations.readOnlyHint, reads.includes(name));
    checks.same(`${name} destroys or not`, annotations.destructiveHint, name === 'notes_write');
    checks.same(`${name} may be repeated or not`, annotations.idempotentHint, [...reads, 'tasks_complete'].includes(name));
    checks.same(`${name} stays in a closed world`, annotations.openWorldHint, false);
    checks.same(`${name} refuses unknown keys`, inputSchema.additionalProperties, false);
    if (['notes_read', 'notes_search'].includes(name)) checks.that(`${name} says that notes are data`, /never instructions/.test(description), description);
  }
  let error;
  try { await client.call('notes_delete', { path: 'inbox.md' }); } catch (e) { error = e; }
  checks.that('there is no tool that deletes', error !== undefined, 'it gave a result');
}

async function listed({ checks, folder, ok, refused }) {
  const all = await ok('notes_list', {});
  const want = ['inbox.md', 'long.md', 'odd.md', 'projects/boat/plan.md', 'projects/untitled.md', 'windows.md'];
  checks.same('every note by path, nothing hidden, nothing else', all.notes?.map((n) => n.path), want);
  checks.same('it is not cut', [all.truncated, all.nextCursor], [false, undefined]);
  checks.same('titles', all.notes?.map((n) => n.title), ['Inbox', 'long', 'Odd', 'The boat', 'untitled', 'windows']);
  checks.same('sizes', all.notes?.map((n) => n.bytes), want.map((n) => statSync(folder.file(n)).size));
  checks.that('times', all.notes?.every((n) => Math.abs(Date.parse(n.modifiedAt) - statSync(folder.file(n.path)).mtimeMs) < 2), all.notes);
  checks.same('under a folder', (await ok('notes_list', { folder: 'projects' })).notes?.map((n) => n.path), ['projects/boat/plan.md', 'projects/untitled.md']);
  const seen = [];
  let cursor;
  for (let i = 0; i < 10; i++) {
    const page = await ok('notes_list', cursor ? { limit: 2, cursor } : { limit: 2 });
    seen.push(...(page.notes ?? []).map((n) => n.path));
    checks.same('truncated says that there is a cursor', page.truncated, page.nextCursor !== undefined);
    if (!(cursor = page.nextCursor)) break;
  }
  checks.same('pages give every note once', seen, want);
  await refused('notes_list', { folder: 'nowhere' }, 'not_found', 'nowhere');
  await refused('notes_list', { folder: '..' }, 'invalid_input', '".."');
  await refused('notes_list', { limit: 501 }, 'invalid_input', 'limit', '500');
  await refused('notes_list', { dir: 'x' }, 'invalid_input', 'dir', 'folder', 'limit', 'cursor');
}

async function reading({ checks, folder, ok, refused }) {
  const text = folder.text('inbox.md');
  const note = await ok('notes_read', { path: 'inbox.md' });
  checks.same('a note', [note.path, note.content, note.truncated, note.totalBytes, note.sha256, note.hidden], ['inbox.md', text, false, Buffer.byteLength(text), sha(text), undefined]);
  const long = await ok('notes_read', { path: 'long.md' });
  checks.same('a long note is cut before the character that does not fit', [long.content, long.truncated, long.totalBytes, long.sha256],
    ['x'.repeat(maxRead - 1), true, maxRead + 7, sha(folder.text('long.md'))]);
  const odd = await ok('notes_read', { path: 'odd.md' });
  checks.same('hidden characters are reported and left', [odd.content, odd.hidden], [folder.text('odd.md'), [{ line: 2, column: 2, codePoint: 'U+200B' }, { line: 2, column: 4, codePoint: 'U+202E' }]]);
  await refused('notes_read', { path: 'no such.md' }, 'not_found', 'no such.md');
  await refused('notes_read', {}, 'invalid_input', 'path');
}

async function searching({ checks, ok, refused }) {
  const found = await ok('notes_search', { query: 'ärger' });
  checks.same('any letter in either case', found.matches, [{ path: 'projects/untitled.md', line: 1, text: 'ÄRGER and wool' }]);
  const wool = await ok('notes_search', { query: 'WOOL' });
  checks.same('lines by path', wool.matches?.map((m) => [m.path, m.line]), [['inbox.md', 4], ['projects/untitled.md', 1]]);
  checks.same('a note above the cap is named as skipped', wool.skipped?.map((s) => s.path), ['long.md']);
  checks.same('a limit', [(await ok('notes_search', { query: 'wool', limit: 1 })).truncated, wool.truncated], [true, false]);
  checks.same('within a folder', (await ok('notes_search', { query: 'wool', folder: 'projects' })).matches?.length, 1);
  checks.same('characters beyond letters', (await ok('notes_search', { query: '振込 🧾' })).matches?.length, 1);
  await refused('notes_search', { query: 'x', limit: 21 }, 'invalid_input', 'limit', '20');
  await refused('notes_search', { query: '' }, 'invalid_input', 'query');
  await refused('notes_search', { query: 'x'.repeat(201) }, 'invalid_input', 'query', '200');
}

async function writing({ checks, folder, ok, refused }) {
  const made = await ok('notes_write', { path: 'new/deep/note.md', content: '# New\n' });
  checks.same('a new note in new folders', made, { path: 'new/deep/note.md', bytes: 6, sha256: sha('# New\n'), created: true });
  await refused('notes_write', { path: 'new/deep/note.md', content: 'other' }, 'conflict', 'overwrite');
  checks.same('a refused write changes nothing', folder.text('new/deep/note.md'), '# New\n');
  const again = await ok('notes_write', { path: 'new/deep/note.md', content: 'replaced', overwrite: true, ifSha256: made.sha256 });
  checks.same('a replaced note', [again.created, folder.text('new/deep/note.md')], [false, 'replaced']);
  folder.save('new/deep/note.md', 'a person was faster\n');
  await refused('notes_write', { path: 'new/deep/note.md', content: 'lost', overwrite: true, ifSha256: again.sha256 }, 'conflict', 'changed');
  checks.same('what a person wrote stays', folder.text('new/deep/note.md'), 'a person was faster\n');
  await refused('notes_write', { path: 'long.md', content: 'short', overwrite: true }, 'too_large', 'long.md');
  await refused('notes_write', { path: 'huge.md', content: 'x'.repeat(100001) }, 'too_large', '100000');
  checks.same('a note that is too large is not made', existsSync(folder.file('huge.md')), false);
}

async function appending({ checks, folder, ok }) {
  const got = await ok('notes_append', { path: 'windows.md', content: 'three\nfour' });
  checks.same('a CRLF note keeps its endings', [folder.text('windows.md'), got.created], ['one\r\ntwo\r\nthree\r\nfour\r\n', false]);
  await ok('notes_append', { path: 'log.md', content: 'first' });
  await ok('notes_append', { path: 'log.md', content: 'second\n' });
  checks.same('each on a line of its own', folder.text('log.md'), 'first\nsecond\n');
}

async function paths({ refused }) {
  for (const [name, word] of refusedPaths) {
    await refused('notes_read', { path: name }, 'invalid_input', 'path', word);
    await refused('notes_write', { path: name, content: 'x', overwrite: true }, 'invalid_input', 'path', word);
    await refused('notes_append', { path: name, content: 'x' }, 'invalid_input', 'path', word);
  }
}

async function links({ checks, folder, ok, refused }) {
  try {
    symlinkSync(path.join(folder.outside, 'diary.md'), folder.file('to-file.md'));
    symlinkSync('../my notes-private', folder.file('to-folder'));
    symlinkSync('.hidden.md', folder.file('to-hidden.md'));
    symlinkSync(folder.file('projects/untitled.md'), folder.file('inside.md'));
  } catch (error) {
    if (process.platform === 'win32') return; // links need a right there; the Go tests make junctions
    throw error;
  }
  for (const name of ['to-file.md', 'to-folder/diary.md', 'to-hidden.md']) {
    await refused('notes_read', { path: name }, 'invalid_input', 'path');
    await refused('notes_write', { path: name, content: 'x', overwrite: true }, 'invalid_input', 'path');
    await refused('notes_append', { path: name, content: 'x' }, 'invalid_input', 'path');
  }
  await refused('notes_list', { folder: 'to-folder' }, 'invalid_input', 'folder');
  checks.same('search does not leave the root', (await ok('notes_search', { query: 'nobody may' })).matches, []);
  checks.same('a link that stays inside is read', (await ok('notes_read', { path: 'inside.md' })).content, 'ÄRGER and wool\n');
  for (const name of ['to-file.md', 'to-folder', 'to-hidden.md', 'inside.md']) unlinkSync(folder.file(name));
}

async function tasks({ checks, folder, ok, refused }) {
  checks.same('no file is an empty list', (await ok('tasks_list', {})).tasks, []);
  checks.same('and reading makes none', existsSync(folder.file('tasks.json')), false);
  const task = await ok('tasks_add', { title: 'Überweisung – 振込 🧾', due: '2027-02-28', tags: ['Bank'] });
  checks.same('a task', { ...task, createdAt: 0 }, { id: 1, title: 'Überweisung – 振込 🧾', status: 'open', due: '2027-02-28', tags: ['Bank'], createdAt: 0 });
  const file = JSON.parse(folder.text('tasks.json'));
  checks.same('it is in the file', [file.version, file.tasks?.length], [1, 1]);
  file.owner = 'ann';
  file.tasks.push({ id: 41, title: 'by hand', priority: 'high' });
  folder.put('tasks.json', `${JSON.stringify(file, null, 2)}\n`);
  checks.same('a task without a status is open', (await ok('tasks_list', {})).tasks?.map((t) => [t.id, t.status]), [[1, 'open'], [41, 'open']]);
  checks.same('the next id is the highest and one', (await ok('tasks_add', { title: 'next' })).id, 42);
  const done = await ok('tasks_complete', { id: 41 });
  checks.same('completing twice is fine', await ok('tasks_complete', { id: 41 }), done);
  const after = JSON.parse(folder.text('tasks.json'));
  checks.same('what the server does not know is kept', [after.owner, after.tasks[1].priority], ['ann', 'high']);
  checks.same('by status', [(await ok('tasks_list', { status: 'done' })).tasks?.length, (await ok('tasks_list', { status: 'all' })).tasks?.length], [1, 3]);
  checks.same('by tag', (await ok('tasks_list', { tag: 'Bank' })).tasks?.map((t) => t.id), [1]);
  await refused('tasks_complete', { id: 99 }, 'not_found', '99');
  await refused('tasks_add', { title: '  ' }, 'invalid_input', 'title');
  await refused('tasks_add', { title: 'x', due: '2026-02-29' }, 'invalid_input', 'due');
  folder.put('tasks.json', '{"tasks": [ what');
  await refused('tasks_list', {}, 'invalid_store', 'tasks.json');
  await refused('tasks_add', { title: 'x' }, 'invalid_store', 'tasks.json');
  checks.same('a file that is not understood is left as it is', folder.text('tasks.json'), '{"tasks": [ what');
  unlinkSync(folder.file('tasks.json'));
}

async function resources({ client, checks, folder }) {
  const templates = await client.templates();
  checks.same('the template', templates.map((t) => t.uriTemplate), ['notes://{+path}']);
  const all = await client.resources();
  checks.that('every note is a resource', ['notes://inbox.md', 'notes://projects/boat/plan.md'].every((u) => all.some((r) => r.uri === u)), all);
  checks.that('nothing hidden is', !all.some((r) => /hidden|\.txt|json/.test(r.uri)), all);
  folder.put('笔记/今 天.md', 'heute\n');
  for (const uri of ['notes://%E7%AC%94%E8%AE%B0/%E4%BB%8A%20%E5%A4%A9.md', 'notes://笔记/今 天.md']) {
    checks.same(`${uri} is read`, (await client.read(uri)).map((c) => c.text), ['heute\n']);
  }
  for (const uri of ['notes://../my%20notes-private/diary.md', 'notes://.hidden.md', 'notes://%2e%2e/x.md', 'notes://nothing.md', 'notes:///etc/passwd']) {
    let error;
    try { await client.read(uri); } catch (e) { error = e; }
    checks.that(`${uri} is refused`, error !== undefined && !String(error).includes(folder.dir), String(error));
  }
  checks.same('a path is completed', await client.complete('notes://{+path}', 'path', 'projects/'), ['projects/boat/plan.md', 'projects/untitled.md']);
}

async function until(what) {
  for (let i = 0; i < 300 && !what(); i++) await new Promise((wake) => setTimeout(wake, 50));
  return what();
}

async function watching({ client, checks, folder, ok }) {
  const uri = 'notes://projects/untitled.md';
  const { heard, close } = await client.watch(uri);
  const ways = {
    'an editor that replaces the file': () => folder.save('projects/untitled.md', 'replaced\n'),
    'an editor that writes into it': () => appendFileSync(folder.file('projects/untitled.md'), 'more\n'),
    'a call of ours': () => ok('notes_append', { path: 'projects/untitled.md', content: 'even more' }),
    'somebody who removes it': () => unlinkSync(folder.file('projects/untitled.md')),
  };
  for (const [who, change] of Object.entries(ways)) {
    folder.put('inbox.md', `# Inbox\nbuy wool ${who}\n`); // nobody asked to hear of this
    const before = heard.length;
    await change();
    checks.that(`a change by ${who} is announced`, await until(() => heard.length > before), heard);
  }
  checks.that('only what was asked for is announced', heard.every((u) => u === uri), heard);
  await close();
  folder.put('projects/untitled.md', 'back\n');
}

async function crowd({ checks, folder, ok }) {
  await Promise.all(Array.from({ length: 16 }, (_, i) => ok('notes_append', { path: 'crowd.md', content: `line ${i}` })));
  checks.same('16 appends at once are 16 lines', folder.text('crowd.md').split('\n').filter((l) => l !== '').sort().length, 16);
  checks.same('none is lost', new Set(folder.text('crowd.md').split('\n')).size, 17);
}
