// brief: the notes server through a command line, where each call is a process
// and the whole session of workspace.mjs would take minutes. A client is as
// there; what it has no way for (a watch, say) it leaves out.
import { appendFileSync } from 'node:fs';
import { reads, writes } from './workspace.mjs';

/** Runs one call of each kind. */
export async function brief(client, checks, folder) {
  const call = async (tool, args) => checks.result(tool, await client.call(tool, args));
  const ok = async (tool, args) => {
    const envelope = await call(tool, args);
    checks.that(`${tool} succeeds`, envelope.ok === true, envelope);
    return envelope.data ?? {};
  };
  const refused = async (tool, args, code, word) => {
    const { ok: fine, error } = await call(tool, args);
    checks.that(`${tool} ${JSON.stringify(args)} is ${code} and says ${word}`, fine === false && error?.code === code && error.message.includes(word), error);
    checks.that('the message holds no absolute path', !error?.message.includes(folder.dir), error);
  };
  await checks.step('tools', async () => {
    const tools = await client.tools();
    checks.same('the eight tools are there', tools.map((t) => t.name).sort(), [...reads, ...writes].sort());
    if (tools[0]?.outputSchema) checks.learn(tools);
  });
  await checks.step('notes', async () => {
    const all = (await ok('notes_list', { folder: 'projects' })).notes;
    checks.same('notes with titles', all?.map((n) => [n.path, n.title]), [['projects/boat/plan.md', 'The boat'], ['projects/untitled.md', 'untitled']]);
    checks.same('a note', (await ok('notes_read', { path: 'inbox.md' })).content, folder.text('inbox.md'));
    checks.same('a search', (await ok('notes_search', { query: 'ärger' })).matches, [{ path: 'projects/untitled.md', line: 1, text: 'ÄRGER and wool' }]);
    checks.same('a new note', [(await ok('notes_write', { path: 'new/Grüße 🧾.md', content: '# Neu\n' })).created, folder.text('new/Grüße 🧾.md')], [true, '# Neu\n']);
    await refused('notes_write', { path: 'inbox.md', content: 'lost' }, 'conflict', 'overwrite');
    await ok('notes_append', { path: 'windows.md', content: 'three' });
    checks.same('a CRLF note keeps its endings', folder.text('windows.md'), 'one\r\ntwo\r\nthree\r\n');
  });
  await checks.step('refused paths', async () => {
    await refused('notes_read', { path: '../my notes-private/diary.md' }, 'invalid_input', '".."');
    await refused('notes_append', { path: '.hidden.md', content: 'x' }, 'invalid_input', 'dot');
    await refused('notes_write', { path: 'CON.md', content: 'x', overwrite: true }, 'invalid_input', 'device');
  });
  await checks.step('tasks', async () => {
    checks.same('a task', (await ok('tasks_add', { title: 'Überweisung', tags: ['Bank'] })).id, 1);
    checks.same('it is done', (await ok('tasks_complete', { id: 1 })).status, 'done');
    checks.same('and listed', (await ok('tasks_list', { status: 'done', tag: 'Bank' })).tasks?.map((t) => t.title), ['Überweisung']);
  });
  if (client.read) await checks.step('resources', () => resources(client, checks, folder));
  folder.untouched(checks);
}

async function resources(client, checks, folder) {
  checks.same('the template', (await client.templates()).map((t) => t.uriTemplate), ['notes://{+path}']);
  checks.that('notes are resources', (await client.resources()).some((r) => r.uri === 'notes://inbox.md'));
  checks.same('a note is read', (await client.read('notes://inbox.md')).map((c) => [c.mimeType, c.text]), [['text/markdown', folder.text('inbox.md')]]);
  let error;
  try { await client.read('notes://../my%20notes-private/diary.md'); } catch (e) { error = e; }
  checks.that('a path that leaves the root is refused', error !== undefined, 'it was read');
  if (client.complete) checks.same('a path is completed', await client.complete('notes://{+path}', 'path', 'inb'), ['inbox.md']);
  if (!client.watch) return;
  const { heard, close } = await client.watch('notes://inbox.md');
  for (const [who, change] of Object.entries({
    'an editor that replaces the file': () => folder.save('inbox.md', 'replaced\n'),
    'an editor that writes into it': () => appendFileSync(folder.file('inbox.md'), 'more\n'),
  })) {
    const before = heard.length;
    change();
    for (let i = 0; i < 300 && heard.length === before; i++) await new Promise((wake) => setTimeout(wake, 50));
    checks.that(`a change by ${who} is announced`, heard.length > before, heard);
  }
  checks.that('of the note that was asked for', heard.every((u) => u === 'notes://inbox.md'), heard);
  await close();
}
