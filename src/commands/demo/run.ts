import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Context, Outcome } from '../../context.ts';
import { InterruptedError, messageOf } from '../../errors.ts';
import { withOutputErrors } from '../../files/errors.ts';
import { loadLibsql } from '../../inbox/sqlite/libsql.ts';
import { write } from '../../output/stdout.ts';
import { paletteFor, sanitize, wrapWidth, wrap } from '../../output/terminal/terminal.ts';
import { truncate } from '../../output/text-width.ts';
import { formatDuration } from '../../time/time-text.ts';

export async function run(_: unknown, context: Context): Promise<Outcome> {
  // The tour fails before its first step if the library of the inbox cannot be loaded.
  await loadLibsql();
  const printer = await createTourPrinter(context);
  const startedAt = context.clock.now();
  const makeDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), 'leads-demo-'));
  const directory = await withOutputErrors(tmpdir(), makeDirectory, 'TMPDIR');
  const running: LeadsProcess[] = [];
  let isInterrupted = false;
  try {
    await printer.say(`A tour of leads: real commands, on this machine, in ${directory}.`);
    await tour(printer, directory, context, running);
    const duration = formatDuration(context.clock.now() - startedAt);
    await printer.say(`\nEvery step did what it said, in ${duration}.`);
    await printer.say("Continue with 'leads sandbox --help' and 'leads --help'.");
    return 'done';
  } catch (error) {
    isInterrupted = context.signal.aborted || error instanceof InterruptedError;
    context.signal.throwIfAborted();
    if (!(error instanceof DemoError)) throw error;
    context.messages.warn(`this step did not do what it says: ${messageOf(error)}`);
    return 'problems';
  } finally {
    for (const child of running) child.interrupt();
    await Promise.all(running.map((child) => child.finished));
    await rm(directory, { recursive: true, force: true });
    if (isInterrupted)
      context.messages.say(`the service and the receiver are stopped, ${directory} is removed`);
  }
}

/** With the seed of the sandbox, the faults lose one lead, and make at least one duplicate and one forgery. */
const leadCount = 6;
const receivedCount = leadCount - 1;
const token = 'demo-token';
const exitWithProblems = 7;

/** Adds the commands that keep running to `running`. Throws a `DemoError` at the first wrong result. */
async function tour(
  printer: TourPrinter,
  directory: string,
  context: Context,
  running: LeadsProcess[],
): Promise<void> {
  const startCommand = (argv: readonly string[]): LeadsProcess => {
    context.signal.throwIfAborted();
    const child = startLeads(argv, directory, context);
    running.push(child);
    return child;
  };
  const runCommand = async (
    argv: readonly string[],
    { stdin, exitCode = 0 }: { readonly stdin?: string; readonly exitCode?: number } = {},
  ): Promise<FinishedProcess> => {
    const finished = await startLeads(argv, directory, context, stdin).finished;
    context.signal.throwIfAborted();
    if (finished.exitCode !== exitCode)
      throw new DemoError(`exit ${finished.exitCode ?? 'by a signal'}: ${finished.stderr}`);
    return finished;
  };

  await printer.step('Listen: HTTPS, verified, stored before it is answered, in another terminal.');
  const listener = await startServer(startCommand, ['listen', '--token', token], /^listening/);
  await printer.command(`leads ${['listen', '--token', token, ...listener.portFlag].join(' ')}`);
  await printer.output([listener.readyLine]);

  await printer.step('A service: six leads, and a delivery of each: some are bad, one is lost.');
  const webhookUrl = `https://localhost:${listener.port}/`;
  const faults = 'duplicate=20%,badSignature=20%,drop=20%';
  const sandboxFlags = ['--leads', String(leadCount), '--seed', '19'];
  const webhookFlags = ['--webhook', webhookUrl, '--token', token];
  const sandbox = await startServer(
    startCommand,
    ['sandbox', ...sandboxFlags, ...webhookFlags, '--delivery-faults', faults],
    /^ready/,
  );
  const baseUrl = `http://127.0.0.1:${sandbox.port}`;
  const sandboxPart = [...sandboxFlags, ...sandbox.portFlag].join(' ');
  const webhookPart = `${webhookFlags.join(' ')} \\\n    --delivery-faults ${faults}`;
  await printer.command(`leads sandbox ${sandboxPart} \\\n    ${webhookPart}`);
  await printer.output([sandbox.readyLine]);

  await printer.step('Log in: the key is tried with one real call, then stored.');
  await printer.command(`echo sandbox-key | leads login --base-url ${baseUrl}`);
  const login = await runCommand(['login', '--base-url', baseUrl], { stdin: 'sandbox-key\n' });
  await printer.output(linesOf(login.stdout + login.stderr));

  await printer.step('List: the newest leads, in any script.');
  const list = ['list', '--fields', 'id,category,contact.name,status'];
  await printer.command(`leads ${list.join(' ')}`);
  const listed = await runCommand(list);
  await printer.output(linesOf(listed.stdout + listed.stderr));
  check(listed.stdout.match(/lead_/g)?.length === leadCount, 'the table does not show every lead');

  await printer.step("Export: one lead per line, in the service's own bytes.");
  await printer.command('leads export > leads.ndjson');
  const exported = await runCommand(['export']);
  await writeFile(join(directory, 'leads.ndjson'), exported.stdout);
  await printer.output(linesOf(exported.stderr));
  await printer.command('head -n 2 leads.ndjson');
  await printer.output(linesOf(exported.stdout).slice(0, 2));

  await printer.step('Push: what the receiver has printed; duplicates and forgeries are recognized.');
  await waitUntilDelivered(baseUrl, context);
  const verdicts = await listener.process.waitForLines(/ (accepted|duplicate|rejected) /, receivedCount + 2);
  await printer.output(verdicts);
  check(count(verdicts, / accepted /) === receivedCount, 'not every lead but one was accepted once');
  check(count(verdicts, / duplicate /) > 0, 'no delivery was recognized as a duplicate');
  check(count(verdicts, / rejected /) > 0, 'no forged delivery was rejected');

  await printer.step('Audit: is any lead missing? What can be pulled is compared with what was received.');
  const audit = ['audit', '--late-after', '2d'];
  await printer.command(`leads ${audit.join(' ')}`);
  const firstAudit = await runCommand(audit, { exitCode: exitWithProblems });
  await printer.output(linesOf(firstAudit.stdout + firstAudit.stderr));
  check(/^missing +1 /m.test(firstAudit.stdout), 'the lost delivery was not found');

  await printer.step('Repair: the missing lead is delivered to the receiver, signed.');
  const repair = [...audit, '--send-to', webhookUrl, '--token', token];
  await printer.command(`leads ${repair.join(' ')} \\\n    | grep repaired`);
  const repaired = await runCommand(repair);
  await printer.output([
    ...linesOf(repaired.stdout).filter((line) => line.includes('repaired')),
    ...linesOf(repaired.stderr),
  ]);
  await runCommand(audit);
  listener.process.interrupt();
  const { exitCode } = await listener.process.finished;
  check(exitCode === 0, `listen ended with ${exitCode ?? 'a signal'}`);

  await printer.success(`${leadCount} pulled, ${leadCount} received: no lead is missing, and none differs`);
}

function check(condition: boolean, problem: string): void {
  if (!condition) throw new DemoError(problem);
}

/**
 * Starts a server at its usual port, so that the printed commands are short, or at a free one where that is taken. `portFlag` is
 * what a user types for this port, which the usual one does not need.
 */
async function startServer(
  startCommand: (argv: readonly string[]) => LeadsProcess,
  argv: readonly string[],
  ready: RegExp,
) {
  let printed: readonly string[] = [];
  for (const portChoice of [[], ['--port', '0']]) {
    const process = startCommand([...argv, ...portChoice]);
    const [readyLine] = await process.waitForLines(ready, 1);
    const port = /https?:\/\/[^\s/]+:(\d+)/.exec(readyLine ?? '')?.[1];
    if (readyLine !== undefined && port !== undefined) {
      const portFlag = portChoice.length === 0 ? [] : ['--port', port];
      return { process, port: Number(port), portFlag, readyLine };
    }
    printed = process.lines();
  }
  throw new DemoError(`leads ${argv[0] ?? ''}: ${printed.join('\n') || 'it printed nothing'}`);
}

const linesOf = (printed: string): string[] => printed.trimEnd().split('\n');

const count = (printed: readonly string[], pattern: RegExp): number =>
  printed.filter((line) => pattern.test(line)).length;

const longestWaitMs = 30_000;
const betweenMs = 20;

/** Waits until the sandbox says that no delivery is pending. Throws a `DemoError` after 30 s. */
async function waitUntilDelivered(baseUrl: string, { clock, signal }: Context): Promise<void> {
  for (const until = clock.steady() + longestWaitMs; clock.steady() < until;) {
    const [answer] = (await once(get(`${baseUrl}/sandbox/deliveries`), 'response')) as [IncomingMessage];
    const { pending } = JSON.parse(await text(answer)) as { pending: number };
    if (pending === 0) return;
    await clock.sleep(betweenMs, signal);
  }
  throw new DemoError('some deliveries were still pending after 30 seconds');
}

/** A step of the tour whose result is not the one that it announced. */
class DemoError extends Error {}

interface FinishedProcess {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface LeadsProcess {
  lines(): readonly string[];
  readonly finished: Promise<FinishedProcess>;
  /** Resolves to the matching lines once there are `count` of them, or to fewer when the command ends or 30 s have passed. */
  waitForLines(pattern: RegExp, count: number): Promise<readonly string[]>;
  interrupt(): void;
}

/** Starts a `leads` command that stores in `directory`. It gets none of the user's own settings. */
function startLeads(
  argv: readonly string[],
  directory: string,
  { program: [command, ...args], env, signal, clock }: Context,
  stdin = '',
): LeadsProcess {
  const inherited = Object.entries(env).filter(
    ([name]) => !/^(LEADS_.*|FORCE_COLOR|HTTPS?_PROXY|ALL_PROXY)$/i.test(name),
  );
  const child = spawn(command, [...args, ...argv], {
    cwd: directory,
    env: {
      ...Object.fromEntries(inherited),
      LEADS_CONFIG_DIR: join(directory, 'config'),
      LEADS_DATA_DIR: join(directory, 'data'),
    },
    stdio: 'pipe',
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (printed: string) => (texts[name] += printed));
  const stop = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', stop, { once: true });
  let hasEnded = false;
  const finished = new Promise<FinishedProcess>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => {
      signal.removeEventListener('abort', stop);
      hasEnded = true;
      resolve({ exitCode, ...texts });
    });
  });
  child.stdin.on('error', () => undefined).end(stdin);
  const lines = (): readonly string[] =>
    Object.values(texts).flatMap((printed) => printed.split('\n').slice(0, -1));
  return {
    lines,
    finished,
    async waitForLines(pattern, wantedCount) {
      for (const until = clock.steady() + longestWaitMs; ;) {
        const isOver = hasEnded || clock.steady() > until;
        const matching = lines().filter((line) => pattern.test(line));
        if (isOver || matching.length >= wantedCount) return matching;
        await clock.sleep(betweenMs, signal);
      }
    },
    interrupt: () => void child.kill('SIGINT'),
  };
}

type TourPrinter = Awaited<ReturnType<typeof createTourPrinter>>;

/** Prints the tour: the same lines on a terminal and in a pipe, except that a terminal's are broken between words. */
export async function createTourPrinter(context: Context) {
  const { stdout } = context;
  const colour = await paletteFor(stdout, context);
  const width = wrapWidth(stdout);
  const prose = (text: string): string => (stdout.isTTY === true ? wrap(text, width).join('\n') : text);
  const verdicts = { accepted: colour.green, duplicate: colour.yellow, rejected: colour.red };
  const paint = (line: string): string =>
    line.replace(/(?<=^[\d:]+Z {2})(accepted|duplicate|rejected)/, (word) =>
      verdicts[word as keyof typeof verdicts](word),
    );
  let steps = 0;
  return {
    async step(sentence: string): Promise<void> {
      steps += 1;
      const lines = prose(`${steps}. ${sentence}`).split('\n');
      await write(stdout, `\n${lines.map((line) => colour.bold(colour.cyan(line))).join('\n')}\n`);
    },
    command: (typed: string) => write(stdout, `${colour.dim('$')} ${colour.bold(typed)}\n`),
    /** Shows what a command printed, each line cut to the terminal's width. */
    async output(lines: readonly string[]): Promise<void> {
      for (const line of lines) await write(stdout, `${paint(truncate(sanitize(line), width))}\n`);
    },
    say: (text: string) => write(stdout, `${prose(text)}\n`),
    success: (text: string) => write(stdout, `${prose(`✓ ${text}`).replace('✓', colour.green('✓'))}\n`),
  };
}
