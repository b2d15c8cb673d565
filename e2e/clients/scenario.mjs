// scenario: one person's session with the tasks server, the same for every
// client library. A client is {tools(), call(name, args, {signal}?)}: call
// gives the tool result, or throws the protocol's error with its code.

const fields = (o) => Object.keys(o ?? {}).sort().join(' ');
const titles = (envelope) => (envelope.data?.tasks ?? []).map((t) => t.title);

/** Runs the whole session against client and writes what it finds into checks. */
export async function session(client, checks, { concurrent = true } = {}) {
  const call = async (tool, args, options) => checks.result(tool, await client.call(tool, args, options));
  const ok = async (tool, args) => {
    const envelope = await call(tool, args);
    checks.that(`${tool} ${JSON.stringify(args)} succeeds`, envelope.ok === true, envelope);
    return envelope;
  };
  const refused = async (tool, args, code, ...words) => {
    const envelope = await call(tool, args);
    const message = envelope.error?.message ?? '';
    checks.that(`${tool} ${JSON.stringify(args)?.slice(0, 80)} is ${code}`, envelope.ok === false && envelope.error?.code === code, envelope);
    for (const word of words) checks.that(`its message says ${word}`, message.includes(word), message);
    return envelope;
  };

  await checks.step('tools', () => listing(client, checks));
  await checks.step('add', () => adding(checks, ok, refused));
  await checks.step('list', () => lists(checks, ok, refused));
  await checks.step('search', () => searching(checks, ok, refused));
  await checks.step('complete', () => completing(checks, ok, refused));
  await checks.step('delete', () => deleting(checks, ok, refused));
  await checks.step('unknown tool', async () => {
    let error;
    try { await client.call('no_such_tool', {}); } catch (e) { error = e; }
    checks.that('an unknown tool is a protocol error', error !== undefined, 'it gave a result');
    if (error?.code !== undefined) checks.same('its code is -32602', error.code, -32602);
  });
  if (concurrent) {
    await checks.step('16 at once', async () => {
      const added = await Promise.all(Array.from({ length: 16 }, (_, i) => ok('add_task', { title: `at once ${i}`, tags: ['crowd'] })));
      checks.same('16 adds at once give 16 ids', new Set(added.map((e) => e.data?.id)).size, 16);
      checks.same('and 16 tasks', (await ok('list_tasks', { filter: { tag: 'crowd' } })).data.tasks.length, 16);
    });
    await checks.step('cancel', async () => {
      const stop = new AbortController();
      const calls = Array.from({ length: 4 }, () => client.call('search_tasks', { query: 'at' }, { signal: stop.signal }).then(() => 'reply', () => 'cancelled'));
      stop.abort();
      const ends = await Promise.all(calls);
      checks.that('cancelled calls end', ends.every((e) => e === 'cancelled'), ends);
      checks.that('the session goes on after a cancellation', (await ok('list_tasks', {})).ok === true);
    });
  }
}

async function listing(client, checks) {
  const tools = await client.tools();
  checks.same('the five tools are there', tools.map((t) => t.name).sort(), ['add_task', 'complete_task', 'delete_task', 'list_tasks', 'search_tasks']);
  checks.same('their order is stable', (await client.tools()).map((t) => t.name), tools.map((t) => t.name));
  checks.learn(tools);
  for (const tool of tools) {
    const hints = tool.annotations ?? {};
    checks.that(`${tool.name} has a title`, Boolean(tool.title ?? hints.title), tool);
    for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']) {
      checks.that(`${tool.name} sets ${hint}`, typeof hints[hint] === 'boolean', hints);
    }
    checks.same(`${tool.name} is read-only or not`, hints.readOnlyHint, ['list_tasks', 'search_tasks'].includes(tool.name));
    checks.same(`${tool.name} destroys or not`, hints.destructiveHint, tool.name === 'delete_task');
    checks.same(`${tool.name} refuses unknown keys`, tool.inputSchema.additionalProperties, false);
  }
}

async function adding(checks, ok, refused) {
  const first = await ok('add_task', { title: 'Überweisung – 振込 🧾', due: '2027-02-28', tags: ['Bank', 'bank', 'Bank'] });
  const task = first.data ?? {};
  checks.same('the first task', { ...task, createdAt: 0, updatedAt: 0 }, { id: 1, title: 'Überweisung – 振込 🧾', status: 'open', due: '2027-02-28', tags: ['Bank', 'bank'], createdAt: 0, updatedAt: 0 });
  checks.that('its times are RFC 3339 in UTC', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(task.createdAt) && task.updatedAt === task.createdAt, task);
  const plain = await ok('add_task', { title: '  spaces stay  ' });
  checks.same('a title is kept as sent', plain.data?.title, '  spaces stay  ');
  checks.same('without due there is no due', fields(plain.data), 'createdAt id status tags title updatedAt');
  await ok('add_task', { title: 'nulls are absent', due: null, tags: null });
  await ok('add_task', { title: '😀'.repeat(100) });
  await refused('add_task', { title: '😀'.repeat(101) }, 'invalid_input', 'title', '200');
  await refused('add_task', { title: '' }, 'invalid_input', 'title');
  await refused('add_task', { title: ' \t\u3000 ' }, 'invalid_input', 'title');
  await refused('add_task', { title: 'a\u0000b' }, 'invalid_input', 'title');
  await refused('add_task', { title: 7 }, 'invalid_input', 'title');
  await refused('add_task', {}, 'invalid_input', 'title');
  for (const due of ['2026-02-29', '2026-13-01', '2026-1-1', 'tomorrow', '', '2026-01-01T00:00:00Z']) await refused('add_task', { title: 'x', due }, 'invalid_input', 'due');
  await refused('add_task', { title: 'x', tags: Array.from({ length: 11 }, (_, i) => `t${i}`) }, 'invalid_input', 'tags', '10');
  await refused('add_task', { title: 'x', tags: ['same', 'same', ...Array.from({ length: 9 }, () => 'same')] }, 'invalid_input', 'tags');
  await refused('add_task', { title: 'x', tags: ['y'.repeat(41)] }, 'invalid_input', 'tags', '40');
  await refused('add_task', { title: 'x', tags: [''] }, 'invalid_input', 'tags');
  await refused('add_task', { title: 'x', titel: 'y' }, 'invalid_input', 'titel', 'title', 'due', 'tags');
  await refused('add_task', { title: 'x', Title: 'y' }, 'invalid_input', 'Title');
  checks.same('a refused call adds nothing', (await ok('list_tasks', {})).data.tasks.length, 4);
}

async function lists(checks, ok, refused) {
  for (const [title, due] of [['yesterday', '2026-06-14'], ['today', '2026-06-15'], ['tomorrow', '2026-06-16']]) await ok('add_task', { title, due, tags: ['Day'] });
  await ok('add_task', { title: 'undated', tags: ['Day'] });
  const day = async (filter) => titles(await ok('list_tasks', { filter: { tag: 'Day', ...filter } }));
  checks.same('dueBefore is inclusive and never the undated', await day({ dueBefore: '2026-06-15' }), ['yesterday', 'today']);
  checks.same('dueAfter is inclusive and never the undated', await day({ dueAfter: '2026-06-15' }), ['today', 'tomorrow']);
  checks.same('both bounds', await day({ dueAfter: '2026-06-15', dueBefore: '2026-06-15' }), ['today']);
  checks.same('tags compare exactly', (await ok('list_tasks', { filter: { tag: 'day' } })).data.tasks, []);
  checks.same('a null filter is none', (await ok('list_tasks', { filter: null })).data.tasks.length, 8);
  checks.same('no arguments', (await ok('list_tasks', undefined)).data.tasks.length, 8);
  checks.same('status', (await ok('list_tasks', { filter: { status: 'done' } })).data.tasks, []);
  const seen = [];
  let cursor;
  let pages = 0;
  do {
    const page = (await ok('list_tasks', cursor === undefined ? { limit: 3 } : { limit: 3, cursor })).data;
    seen.push(...page.tasks.map((t) => t.id));
    cursor = page.nextCursor;
  } while (cursor !== undefined && ++pages < 20);
  checks.same('pages of 3 give every task once, by id', seen, [1, 2, 3, 4, 5, 6, 7, 8]);
  await refused('list_tasks', { limit: 0 }, 'invalid_input', 'limit');
  await refused('list_tasks', { limit: 201 }, 'invalid_input', 'limit', '200');
  await refused('list_tasks', { limit: 1.5 }, 'invalid_input', 'limit');
  await refused('list_tasks', { limit: '1' }, 'invalid_input', 'limit');
  await refused('list_tasks', { cursor: 'made up!' }, 'invalid_input', 'cursor');
  await refused('list_tasks', { filter: { dueAftr: '2026-06-15' } }, 'invalid_input', 'dueAftr', 'dueAfter', 'dueBefore', 'status', 'tag');
  await refused('list_tasks', { filter: { status: 'closed' } }, 'invalid_input', 'status');
  await refused('list_tasks', { filter: { dueBefore: '2026-06-31' } }, 'invalid_input', 'dueBefore');
  await refused('list_tasks', { filter: 'open' }, 'invalid_input', 'filter');
}

async function searching(checks, ok, refused) {
  for (const title of ['100% wool_sock', '100 wool-sock', 'back\\slash', 'Ärger', 'ärger', 'MiXeD case']) await ok('add_task', { title });
  const found = async (query, extra = {}) => titles(await ok('search_tasks', { query, ...extra }));
  checks.same('% is literal', await found('0%'), ['100% wool_sock']);
  checks.same('% alone', await found('%'), ['100% wool_sock']);
  checks.same('_ is literal', await found('wool_'), ['100% wool_sock']);
  checks.same('\\ is literal', await found('k\\s'), ['back\\slash']);
  checks.same('ASCII letters match in either case', await found('mixed CASE'), ['MiXeD case']);
  checks.same('other letters match exactly', await found('Ärg'), ['Ärger']);
  checks.same('one character', await found('ä'), ['ärger']);
  checks.same('an emoji', await found('🧾'), ['Überweisung – 振込 🧾']);
  checks.same('quotes mean nothing', await found('" OR "1'), []);
  checks.same('no hit', await found('nowhere to be found'), []);
  const page = (await ok('search_tasks', { query: 'wool', limit: 1 })).data;
  checks.that('a cut search has a cursor', page.tasks?.length === 1 && typeof page.nextCursor === 'string', page);
  checks.same('which goes on', await found('wool', { limit: 1, cursor: page.nextCursor }), ['100 wool-sock']);
  await refused('search_tasks', { query: '' }, 'invalid_input', 'query');
  await refused('search_tasks', { query: 'x'.repeat(201) }, 'invalid_input', 'query', '200');
  await refused('search_tasks', {}, 'invalid_input', 'query');
}

async function completing(checks, ok, refused) {
  const once = (await ok('complete_task', { id: 1 })).data;
  checks.that('a done task has completedAt', once.status === 'done' && typeof once.completedAt === 'string', once);
  checks.same('completing twice changes nothing', (await ok('complete_task', { id: 1 })).data, once);
  checks.same('status done', titles(await ok('list_tasks', { filter: { status: 'done' } })), [once.title]);
  await ok('complete_task', { id: 2.0 });
  await refused('complete_task', { id: 999 }, 'not_found', '999');
  for (const id of [0, -1, 1.5, '1', true, 2 ** 53]) await refused('complete_task', { id }, 'invalid_input', 'id');
}

async function deleting(checks, ok, refused) {
  const before = (await ok('list_tasks', {})).data.tasks;
  const { id } = before.at(-1);
  await refused('delete_task', { id }, 'invalid_input', 'confirm');
  for (const confirm of [false, 'true', 1, null]) await refused('delete_task', { id, confirm }, 'invalid_input', 'confirm');
  checks.same('an unconfirmed delete deletes nothing', (await ok('list_tasks', {})).data.tasks, before);
  checks.same('a confirmed delete', (await ok('delete_task', { id, confirm: true })).data, { id, deleted: true });
  await refused('delete_task', { id, confirm: true }, 'not_found');
  await refused('complete_task', { id }, 'not_found');
  checks.same('an id is never used twice', (await ok('add_task', { title: 'after the delete' })).data.id, id + 1);
}
