// taskfile: one session with a project's own commands, the same for every client
// library. A client is {tools(), call(name, args), read(uri), changes()}: call
// gives the tool result or throws the protocol's error; changes counts the
// announcements that tools came or went. asks says whether a person can be asked,
// and answers what the person answers next.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Bench } from './checks.mjs';

const head = `version: '3'
vars:
  WHO: world
  COUNT: 2
  NOBODY:
    sh: touch evaluated; echo x
includes:
  docs: ./docs
tasks:
  hello:
    desc: Say hello
    aliases: [hi]
    cmd: echo "hello {{.WHO}}"
  fail:
    cmds: [echo before, echo wrong >&2, exit 7]
  start:*:
    vars: {WHAT: '{{index .MATCH 0}}'}
    cmd: echo starting {{.WHAT}}
  release:
    requires: {vars: [{name: ENV, enum: [dev, prod]}]}
    cmd: echo to {{.ENV}}
  deploy:
    prompt: Really deploy?
    cmd: echo deployed
  build:
    sources: [in.txt]
    generates: [out.txt]
    cmd: cp in.txt out.txt
  reads:
    cmd: cat
  loud:
    cmd: 'seq 1 60000'
  colours:
    cmd: 'printf "\\033[31mred\\033[0m \\377\\n"'
  hidden:
    internal: true
    cmd: echo hidden
  forever:
    watch: true
    cmd: echo forever
`;
const fresh = `  fresh:
    cmd: echo fresh
`;

/** A folder with Taskfiles, and the server's command line in it. */
export class Project extends Bench {
  constructor(command) {
    super(command);
    this.root = path.join(this.dir, 'the shop');
    mkdirSync(path.join(this.root, 'docs'), { recursive: true });
    this.args.push('--root', this.root);
    this.env = { XDG_STATE_HOME: path.join(this.dir, 'state') };
    this.write(head);
    writeFileSync(path.join(this.root, 'docs', 'Taskfile.yml'), "version: '3'\ntasks:\n  lint: {desc: Lint, cmd: 'echo linted'}\n");
    writeFileSync(path.join(this.root, 'in.txt'), 'in\n');
  }

  write(text) { writeFileSync(path.join(this.root, 'Taskfile.yml'), text); }
}

const offered = ['build', 'colours', 'deploy', 'docs_lint', 'fail', 'hello', 'loud', 'reads', 'release', 'start', 'taskfile_list', 'taskfile_run'];

/** Runs the whole session. */
export async function taskfile(client, checks, project) {
  const call = async (tool, args) => unpack(checks, tool, await client.call(tool, args));
  const ok = async (tool, args, stdout, task = tool) => {
    const r = await call(tool, args);
    checks.same(`${tool} ${JSON.stringify(args)} succeeds`, [r.status, r.stdout, r.isError], [`Task \`${task}\` exited with status 0`, stdout, false]);
    return r;
  };
  const refused = async (tool, args, code, word, task = tool) => {
    const r = await call(tool, args);
    checks.same(`${tool} ${JSON.stringify(args)} is ${code}`, [r.envelope.ok, r.envelope.error?.code, r.stdout], [false, code, undefined]);
    checks.that(`${tool}: its status says ${word}`, r.status.startsWith(`Task \`${task}\` failed: `) && r.status.includes(word), r.status);
    checks.that('no absolute path', !JSON.stringify(r.envelope).includes(project.dir), r.envelope);
  };
  const run = { client, checks, project, call, ok, refused };
  for (const step of [listing, running, refusing, asking, logs, changing]) {
    await checks.step(step.name, () => step(run));
  }
}

function unpack(checks, tool, result) {
  const envelope = result.structuredContent ?? {};
  const [status, ...streams] = result.content;
  const out = { envelope, status: status.text, isError: Boolean(result.isError), data: envelope.data ?? {} };
  for (const block of streams) {
    checks.that(`${tool}: each further block names its stream`, ['stdout', 'stderr'].includes(block._meta?.stream), block);
    out[block._meta?.stream] = block.text;
  }
  checks.same(`${tool}: isError says what ok does`, out.isError, envelope.ok === false);
  return out;
}

async function listing({ client, checks, project }) {
  const tools = await client.tools();
  checks.same('a tool for each task, and no other', tools.map((t) => t.name).sort(), offered);
  checks.that('listing evaluated nothing', !existsSync(path.join(project.root, 'evaluated')));
  const by = Object.fromEntries(tools.map((t) => [t.name, t]));
  checks.same('the variables are the schema', by.hello.inputSchema, {
    type: 'object', additionalProperties: false,
    properties: { WHO: { type: 'string', default: 'world' }, COUNT: { type: 'number', default: 2 }, NOBODY: { type: 'string' } },
  });
  checks.same('what is required comes with its values', [by.release.inputSchema.required, by.release.inputSchema.properties.ENV?.enum], [['ENV'], ['dev', 'prod']]);
  checks.same('a wildcard takes MATCH', [by.start.inputSchema.required, by.start.inputSchema.properties.MATCH?.minItems], [['MATCH'], 1]);
  checks.that('another name is in the description', by.docs_lint.description.includes('(task: docs:lint)'), by.docs_lint.description);
  checks.that('so are aliases', by.hello.description.includes('hi'), by.hello.description);
  for (const name of offered) {
    const { annotations } = by[name] ?? {};
    checks.same(`${name} is annotated`, [annotations?.readOnlyHint, annotations?.openWorldHint], [name === 'taskfile_list', name !== 'taskfile_list']);
  }
}

async function running({ checks, call, ok, project }) {
  await ok('hello', {}, 'hello world\n');
  await ok('hello', { WHO: 'Ann & 振込' }, 'hello Ann & 振込\n');
  await ok('start', { MATCH: ['web'] }, 'starting web\n', 'start:web');
  await ok('release', { ENV: 'prod' }, 'to prod\n');
  await ok('docs_lint', {}, 'linted\n', 'docs:lint');
  await ok('reads', {}, undefined);
  await ok('colours', {}, 'red \ufffd\n');
  await ok('taskfile_run', { task: 'hi', vars: { WHO: 'Bob' } }, 'hello Bob\n', 'hello');
  await ok('taskfile_run', { task: 'start:*', match: ['api'] }, 'starting api\n', 'start:api');
  const failed = await call('fail', {});
  checks.that('a failure tells its status', failed.status.startsWith('Task `fail` exited with status 7: '), failed.status);
  checks.same('and what was printed', [failed.stdout, failed.stderr, failed.envelope.error?.code, failed.data.exitCode], ['before\n', 'wrong\n', 'task_failed', 7]);
  const status = async () => (await call('taskfile_list', { status: true })).data;
  const upToDate = (list) => list.tasks?.find((t) => t.task === 'build')?.upToDate;
  checks.same('not up to date before', upToDate(await status()), false);
  await ok('build', {}, undefined);
  const list = await status();
  checks.same('up to date after', upToDate(list), true);
  checks.same('what has no tool says why', list.tasks?.filter((t) => !t.exposed).map((t) => [t.task, Boolean(t.reason)]), [['forever', true]]);
  checks.same('one root', list.roots?.map((r) => r.root), ['the_shop']);
  const again = await call('build', {});
  checks.same('nothing to do is said', [again.data.skipped, again.data.exitCode], [true, 0]);
  checks.that('the project is not changed by listing', !existsSync(path.join(project.root, 'hidden')));
}

async function refusing({ refused, client, checks }) {
  for (const bad of ['$(id)', '`id`', '"; id; "', 'a\\', '{{.WHO}}', '{{env "HOME"}}']) await refused('hello', { WHO: bad }, 'invalid_input', 'WHO');
  for (const bad of ['a b', 'a;b', '-x', '$X', 'a\nb', '*', '']) await refused('start', { MATCH: [bad] }, 'invalid_input', 'MATCH', `start:${bad.replace('\n', ' ')}`);
  await refused('release', { ENV: 'moon' }, 'invalid_input', 'dev');
  await refused('hello', { WHOM: 'x' }, 'invalid_input', 'WHO');
  await refused('hello', { BASH_ENV: 'x' }, 'invalid_input', 'BASH_ENV');
  await refused('hello', { COUNT: 'many' }, 'invalid_input', 'COUNT');
  await refused('taskfile_run', { task: 'hidden' }, 'not_found', 'hidden', 'hidden');
  await refused('taskfile_run', { task: 'forever' }, 'invalid_input', 'watch', 'forever');
  let error;
  try { await client.call('nope', {}); } catch (e) { error = e; }
  checks.that('an unknown tool is a protocol error', error !== undefined, 'it gave a result');
}

async function asking({ client, checks, call, ok, refused }) {
  if (!client.asks) {
    await refused('deploy', {}, 'confirmation_required', 'Really deploy?');
    await refused('release', {}, 'invalid_input', 'ENV');
    return;
  }
  client.answer({ action: 'accept', content: { confirm: true } });
  await ok('deploy', {}, 'deployed\n');
  checks.that('the person saw the question', client.question().includes('Really deploy?'), client.question());
  for (const action of ['decline', 'cancel']) {
    client.answer({ action });
    const r = await call('deploy', {});
    checks.same(`${action}: not run`, [r.envelope.error?.code, r.stdout], ['declined', undefined]);
  }
  client.answer({ action: 'accept', content: { ENV: 'dev' } });
  await ok('release', {}, 'to dev\n');
}

async function logs({ client, checks, call }) {
  const r = await call('loud', {});
  checks.that('long output is cut in the middle', r.data.truncated === true && r.stdout.startsWith('1\n2\n') && r.stdout.endsWith('\n60000\n') && r.stdout.length <= 65536, r.stdout.length);
  const [content] = await client.read(r.data.stdoutUri);
  checks.same('the whole of it is a resource', content.text.split('\n').length, 60001);
}

async function changing({ client, checks, project, ok }) {
  const listed = async (name, there) => {
    for (let i = 0; i < 400; i++) {
      if ((await client.tools()).some((t) => t.name === name) === there) return true;
      await new Promise((resolve) => { setTimeout(resolve, 25); });
    }
    return false;
  };
  const before = await client.changes();
  project.write(head + fresh);
  checks.that('a new task is a new tool', await listed('fresh', true));
  await ok('fresh', {}, 'fresh\n');
  project.write('version: [');
  checks.that('a broken Taskfile withdraws its tools', await listed('hello', false));
  project.write(head);
  checks.that('a mended one brings them back', await listed('hello', true));
  await ok('hello', {}, 'hello world\n');
  for (let i = 0; i < 400 && await client.changes() === before; i++) await new Promise((resolve) => { setTimeout(resolve, 25); });
  checks.that('the changes were announced', await client.changes() > before);
}
