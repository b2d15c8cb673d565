// basic: two people's sessions with the teaching server, the same for every
// client library, over stdio or over HTTP. open({user, place, elicit}) gives a
// client: place is which of two server processes over one database it talks to,
// elicit answers the forms that a person is shown, and without it the client
// declares that it cannot ask. A client is {tools(), call(name, args,
// {signal, onprogress}?), resources(), templates(), read(uri), prompts(),
// prompt(name, args), complete(ref, name, value), watch(uris), close()}: call
// gives the tool result, or throws the protocol's error with its code; watch
// gives {updated, lists(), close()}, where updated grows by the URIs of what
// changed and lists() counts the changes of the list.

const names = ['add', 'complete_task', 'create_task', 'current-time', 'delete_task', 'echo', 'list_tasks', 'multiply', 'process_steps'];
const board = 'tasks://board';
const item = (id) => `tasks://items/${id}`;

/** What a library may report that is no fault of the server's. */
export const harmless = /abort|cancel|terminated|unknown message ID|progress notification for an unknown token/i;

/** Waits until condition holds, or gives up after five seconds. */
export async function until(condition) {
  for (const end = Date.now() + 5000; Date.now() < end; await new Promise((r) => setTimeout(r, 20))) if (condition()) return true;
  return condition();
}

/** Runs everything. users are the names that the board shows, the caller's first; one over stdio, two over HTTP. */
export async function basic(open, checks, users) {
  const forms = []; // what the person was shown
  let answer = { action: 'decline' };
  const elicit = (form) => { forms.push(form); return typeof answer === 'function' ? answer() : answer; };
  const mine = await open({ user: users[0], place: 0, elicit });
  const other = await open({ user: users[0], place: 1, elicit });
  const plain = await open({ user: users[0], place: 0 });
  const stranger = users[1] && await open({ user: users[1], place: 0, elicit });

  const using = (client) => {
    const call = async (tool, args, options) => checks.result(tool, await client.call(tool, args, options));
    return {
      ok: async (tool, args, options) => {
        const envelope = await call(tool, args, options);
        checks.that(`${tool} ${JSON.stringify(args)?.slice(0, 80)} succeeds`, envelope.ok === true, envelope);
        return envelope.data ?? {};
      },
      refused: async (tool, args, code, ...words) => {
        const envelope = await call(tool, args);
        const message = envelope.error?.message ?? '';
        checks.that(`${tool} ${JSON.stringify(args)?.slice(0, 80)} is ${code}`, envelope.ok === false && envelope.error?.code === code, envelope);
        for (const word of words) checks.that(`its message says ${word}`, message.includes(word), message);
      },
      fails: async (what, run, code) => {
        let error;
        try { await run(); } catch (e) { error = e; }
        checks.that(`${what} is a protocol error`, error !== undefined, 'it gave a result');
        if (error?.code !== undefined) checks.same(`${what}: the code`, error.code, code);
        return error;
      },
    };
  };
  const run = {
    checks, users, forms, mine, other, plain, stranger, using, ...using(mine),
    answerWith: (a) => { answer = a; forms.length = 0; },
    json: async (client, uri) => JSON.parse((await client.read(uri))[0].text),
  };
  for (const step of [listing, tools, progress, cancelling, resources, prompts, completions, watching, deleting, cannotAsk, apart, pages]) {
    await checks.step(step.name, () => step(run));
  }
  for (const client of [mine, other, plain, stranger]) await client?.close();
}

async function listing({ checks, mine }) {
  const list = await mine.tools();
  checks.same('the nine tools are there', list.map((t) => t.name).sort(), names);
  checks.learn(list);
  const schema = list.find((t) => t.name === 'delete_task').inputSchema;
  checks.same('a delete takes only an id: a person confirms it', Object.keys(schema.properties), ['id']);
}

async function tools({ checks, ok, refused, fails, mine }) {
  checks.same('add', await ok('add', { a: 0.1, b: -2 }), { result: -1.9 });
  checks.same('multiply', await ok('multiply', { a: 6, b: 7 }), { result: 42 });
  await refused('multiply', { a: 1e200, b: 1e200 }, 'invalid_input', 'too large');
  await refused('add', { a: '1', b: 2 }, 'invalid_input', 'a');
  await refused('add', { a: 1 }, 'invalid_input', 'b');
  await refused('add', { a: 1, b: 2, c: 3 }, 'invalid_input', 'c', 'a, b');
  checks.same('echo', await ok('echo', { text: '今天 🧾\n' }), { text: '今天 🧾\n' });
  const utc = await ok('current-time', {});
  checks.that('the time in UTC', utc.timeZone === 'UTC' && Math.abs(Date.parse(utc.time) - Date.now()) < 60_000 && utc.time.endsWith('Z'), utc);
  const tokyo = await ok('current-time', { timeZone: 'Asia/Tokyo' });
  checks.that('the time in Tokyo', tokyo.timeZone === 'Asia/Tokyo' && tokyo.time.endsWith('+09:00'), tokyo);
  await refused('current-time', { timeZone: 'Mars/Olympus' }, 'invalid_input', 'timeZone');
  await fails('an unknown tool', () => mine.call('no_such_tool', {}), -32602);
}

// Both TypeScript libraries forget a progress token as soon as they read the
// reply, and deal with notices a moment after they have read them: those that
// come in one piece with the reply find nobody. That every one is sent, and in
// order, is for the Go tests.
async function progress({ checks, ok }) {
  const heard = [];
  checks.same('the steps are done', await ok('process_steps', { steps: 4, delayMs: 20 }, { onprogress: (p) => heard.push(p) }), { completed: 4 });
  await until(() => heard.length >= 1);
  checks.that('progress is heard', heard.length >= 1, heard);
  checks.same('in order', heard.map((p) => [p.progress, p.total]), heard.map((_, i) => [i + 1, 4]));
  checks.that('with a message', heard.every((p, i) => p.message === `step ${i + 1} of 4`), heard);
  checks.same('without asking to hear, it works as well', await ok('process_steps', { steps: 2 }), { completed: 2 });
}

async function cancelling({ checks, mine, ok }) {
  const stop = new AbortController();
  let heard = 0;
  const ended = mine.call('process_steps', { steps: 100, delayMs: 100 }, { signal: stop.signal, onprogress: () => { if (++heard === 2) stop.abort('enough'); } }).then(() => 'reply', () => 'cancelled');
  checks.same('a cancelled call ends', await ended, 'cancelled');
  checks.same('the session goes on', await ok('echo', { text: 'still here' }), { text: 'still here' });
}

async function resources({ checks, mine, users, json, fails }) {
  const uris = (await mine.resources()).map((r) => r.uri);
  checks.same('the fixed resources are there', uris.slice(0, 2), ['demo://about', board]);
  checks.same('and nothing else yet', uris.length, 2);
  checks.same('the templates', (await mine.templates()).map((t) => t.uriTemplate).sort(), ['demo://greeting/{name}', 'tasks://items/{id}']);
  checks.that('about', (await mine.read('demo://about'))[0].text.includes('process_steps'));
  for (const uri of ['demo://greeting/Ann', 'demo://greeting/%E4%BB%8A%E5%A4%A9', 'demo://greeting/今天']) {
    const [content] = await mine.read(uri);
    checks.same(`${uri} greets`, content.text, `Hello, ${decodeURIComponent(uri.split('/').at(-1))}!`);
  }
  checks.same('the board of nobody\'s tasks', await json(mine, board), { user: users[0], open: 0, done: 0, tasks: [], truncated: false });
  for (const uri of ['tasks://items/1', 'tasks://items/0', 'tasks://items/x', 'demo://greeting/', 'handrail://bell', 'file:///etc/passwd', 'nothing']) {
    await fails(`reading ${uri}`, () => mine.read(uri), -32602);
  }
}

async function prompts({ checks, mine, fails }) {
  const list = await mine.prompts();
  checks.same('both prompts', list.map((p) => p.name).sort(), ['review-code', 'summarize-text']);
  checks.that('with descriptions', list.every((p) => p.description && p.arguments.every((a) => a.description)), list);
  const text = JSON.stringify(await mine.prompt('summarize-text', { text: 'Ünïcode 今天', maxWords: '7' }));
  checks.that('summarize-text', text.includes('Ünïcode 今天') && text.includes('7 words'), text);
  const code = JSON.stringify(await mine.prompt('review-code', { code: 'x = 1', language: 'python' }));
  checks.that('review-code', code.includes('x = 1') && code.includes('python'), code);
  await fails('a missing argument', () => mine.prompt('summarize-text', {}), -32602);
  await fails('a wrong argument', () => mine.prompt('summarize-text', { text: 'x', maxWords: 'many' }), -32602);
  await fails('an unknown prompt', () => mine.prompt('nope', {}), -32602);
}

async function completions({ checks, mine }) {
  const language = (value) => mine.complete({ type: 'ref/prompt', name: 'review-code' }, 'language', value);
  checks.same('by prefix, best first', (await language('j')).slice(0, 2), ['java', 'javascript']);
  checks.same('an exact name first', (await language('C'))[0], 'c');
  checks.same('no match', await language('zzz'), []);
}

async function watching({ checks, mine, other, ok, using, json }) {
  const first = (await ok('create_task', { title: 'first', due: '2027-02-28', tags: ['Bank'] })).id;
  const watch = await mine.watch([board, item(first), item(first + 1)]);
  // Between servers a change is announced within a second, in one process at once.
  const heard = async (what, uris, lists) => {
    await until(() => uris.every((uri) => watch.updated.includes(uri)) && watch.lists() >= lists);
    checks.that(`${what}: the updates`, uris.every((uri) => watch.updated.includes(uri)), watch.updated);
    checks.that(`${what}: the list`, watch.lists() >= lists, watch.lists());
    watch.updated.length = 0;
  };
  const second = (await ok('create_task', { title: 'second' })).id;
  checks.same('ids go up', second, first + 1);
  await heard('created here', [board, item(second)], 1);
  await ok('complete_task', { id: first });
  await heard('completed here', [board, item(first)], 1);
  checks.same('a read after the notice is new', (await json(mine, item(first))).status, 'done');
  const there = using(other);
  await there.ok('complete_task', { id: second });
  await heard('completed by another process', [board, item(second)], 1);
  const before = watch.lists();
  const third = (await there.ok('create_task', { title: 'third' })).id;
  await heard('created by another process', [board], before + 1);
  checks.same('the board', (({ open, done, tasks }) => [open, done, tasks.map((t) => t.id)])(await json(mine, board)), [1, 2, [first, second, third]]);
  checks.that('the list has all three', (await mine.resources()).map((r) => r.uri).join().endsWith([first, second, third].map(item).join()));
  checks.same('ids are completed', await mine.complete({ type: 'ref/resource', uri: 'tasks://items/{id}' }, 'id', String(third)), [String(third)]);
  await watch.close();
  await ok('create_task', { title: 'unheard' });
  await ok('echo', { text: 'a round trip later' });
  checks.same('a closed subscription hears nothing', watch.updated, []);
}

async function deleting({ checks, mine, ok, refused, forms, answerWith, json }) {
  const { id } = await ok('create_task', { title: 'Überweisung "today"' });
  const there = async () => (await json(mine, item(id))).title;
  for (const [what, given] of [
    ['a no', { action: 'decline' }], ['a closed dialog', { action: 'cancel' }], ['accepted without a yes', { action: 'accept', content: { confirm: false } }],
  ]) {
    answerWith(given);
    await refused('delete_task', { id }, 'declined', 'nothing was changed');
    checks.same(`${what}: the task remains`, await there(), 'Überweisung "today"');
    checks.same(`${what}: the person was asked once`, forms.length, 1);
  }
  answerWith({ action: 'accept', content: { confirm: true } });
  checks.same('a yes deletes', await ok('delete_task', { id }), { id, deleted: true });
  const { message, requestedSchema } = forms[0];
  checks.that('the question shows id and title', message.includes(String(id)) && message.includes('Überweisung'), message);
  checks.same('and asks for a yes or no', requestedSchema.properties.confirm.type, 'boolean');
  answerWith({ action: 'accept', content: { confirm: true } });
  await refused('delete_task', { id }, 'not_found');
  checks.same('nobody is asked about what is not there', forms.length, 0);
  await refused('delete_task', { id, confirm: true }, 'invalid_input', 'confirm');
}

async function cannotAsk({ checks, plain, mine, ok, using, json }) {
  const { id } = await ok('create_task', { title: 'stays' });
  await using(plain).refused('delete_task', { id }, 'confirmation_required');
  checks.same('the task remains', (await json(mine, item(id))).title, 'stays');
}

// apart: what one person does, another neither sees nor hears.
async function apart({ checks, mine, stranger, ok, using, json, users, answerWith, forms }) {
  if (!stranger) return;
  const his = using(stranger);
  const { id } = await ok('create_task', { title: 'secret of the first' });
  const ears = await stranger.watch([board, item(id)]);
  const own = (await his.ok('create_task', { title: 'of the second' })).id;
  await until(() => ears.updated.includes(board));
  const heard = ears.updated.filter((uri) => uri === board).length;
  await ok('complete_task', { id });
  answerWith({ action: 'accept', content: { confirm: true } });
  await ok('delete_task', { id });
  const gone = await ok('create_task', { title: 'another secret' });
  await his.ok('complete_task', { id: own });
  await until(() => ears.updated.filter((uri) => uri === board).length > heard);
  checks.same('the second hears only of the board, twice', ears.updated.filter((uri) => uri !== item(own)), [board, board]);
  const seen = JSON.stringify([await stranger.resources(), await json(stranger, board), await his.ok('list_tasks', {}), await stranger.complete({ type: 'ref/resource', uri: 'tasks://items/{id}' }, 'id', '')]);
  checks.that('and sees only what is theirs', !seen.includes('secret') && seen.includes('of the second') && !seen.includes(users[0]), seen);
  if (gone.id !== own) {
    await his.fails('reading an item of the first', () => stranger.read(item(gone.id)), -32602);
    await his.refused('complete_task', { id: gone.id }, 'not_found');
    answerWith({ action: 'accept', content: { confirm: true } });
    await his.refused('delete_task', { id: gone.id }, 'not_found');
    checks.same('nobody is asked about what is another\'s', forms.length, 0);
  }
  checks.same('the first has it still', (await json(mine, item(gone.id))).title, 'another secret');
  await ears.close();
}

async function pages({ checks, mine, ok, json }) {
  const before = (await json(mine, board)).tasks.length;
  for (let i = 0; i < 210; i += 70) await Promise.all(Array.from({ length: 70 }, (_, k) => ok('create_task', { title: `at once ${i + k}` })));
  const uris = (await mine.resources()).map((r) => r.uri).filter((uri) => uri.startsWith('tasks://items/'));
  checks.same('every task is listed, page by page', [uris.length, new Set(uris).size], [before + 210, before + 210]);
  checks.that('a long board says that it is cut', (await json(mine, board)).truncated);
}
