import { writeFile } from 'node:fs/promises';
import { get, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Context } from '../../context.ts';
import { spawn } from 'node:child_process';
import { ask } from '../../config/prompt.ts';
import { wrap } from '../../output/wrap.ts';
import { paletteFor, wrapWidth, sanitize } from '../../output/terminal/terminal.ts';
import { write } from '../../output/stdout.ts';
import { truncate } from '../../output/table.ts';

const leadCount = 6;
const token = 'demo-token';
/** How an audit ends that has found something. */
const problemsFound = 7;

/** Runs every step; commands that keep running are added to `running`. Throws a `DemoError` at the first wrong result. */
export async function tour(
  printer: TourPrinter,
  directories: DemoDirectories,
  context: Context,
  running: LeadsProcess[],
): Promise<void> {
  const startCommand = (argv: readonly string[]): LeadsProcess => {
    context.signal.throwIfAborted();
    const child = startLeads(argv, directories, context);
    running.push(child);
    return child;
  };
  const runCommand = async (
    argv: readonly string[],
    { stdin, exitCode = 0 }: { readonly stdin?: string; readonly exitCode?: number } = {},
  ): Promise<FinishedProcess> => {
    const finished = await startLeads(argv, directories, context, stdin).finished;
    context.signal.throwIfAborted();
    if (finished.exitCode !== exitCode)
      throw new DemoError(`exit ${finished.exitCode ?? 'by a signal'}: ${finished.stderr}`);
    return finished;
  };

  await printer.step('A service: six leads, and deliveries that wait: some are bad, one will be lost.');
  // Started before its step shows it: the service is told its address, and what is free now may be taken by then.
  const listener = await startServer(startCommand, ['listen', '--token', token], /^listening/);
  const listen = ['listen', '--token', token, ...listener.portFlag];
  const webhookUrl = `https://localhost:${listener.port}/`;
  const faults = 'duplicate=20%,badSignature=20%,drop=20%';
  const sandboxFlags = ['--leads', String(leadCount), '--seed', '19', '--newest', '1h', '--paused'];
  const webhookFlags = ['--webhook', webhookUrl, '--token', token];
  const sandbox = await startServer(
    startCommand,
    ['sandbox', ...sandboxFlags, ...webhookFlags, '--delivery-faults', faults],
    /^ready/,
  );
  const baseUrl = `http://127.0.0.1:${sandbox.port}`;
  await printer.command(
    [
      `leads sandbox ${[...sandboxFlags, ...sandbox.portFlag].join(' ')} \\`,
      `    ${webhookFlags.join(' ')} \\`,
      `    --delivery-faults ${faults}`,
    ].join('\n'),
  );
  await printer.output([sandbox.readyLine]);

  await printer.step('Log in: the key is tried with one real call, then stored.');
  await printer.command(`echo sandbox-key | leads login --base-url ${baseUrl}`);
  await printer.output(lines(await runCommand(['login', '--base-url', baseUrl], { stdin: 'sandbox-key\n' })));

  await printer.step('List: the newest leads, in any script.');
  const list = ['list', '--fields', 'id,category,contact.name,status'];
  await printer.command(`leads ${list.join(' ')}`);
  const listed = await runCommand(list);
  await printer.output(lines(listed));
  check(listed.stdout.match(/lead_/g)?.length === leadCount, 'the table does not show every lead');

  await printer.step("Export: one lead per line, in the service's own bytes.");
  await printer.command('leads export > leads.ndjson');
  const exported = await runCommand(['export']);
  await writeFile(join(directories.workDir, 'leads.ndjson'), exported.stdout);
  await printer.output(exported.stderr.trimEnd().split('\n'));
  await printer.command('head -n 2 leads.ndjson');
  await printer.output(exported.stdout.split('\n').slice(0, 2));

  await printer.step('Listen: HTTPS, verified, stored before it is answered, in another terminal.');
  await printer.command(`leads ${listen.join(' ')}`);
  await printer.output([listener.readyLine]);

  await printer.step('Push: the service delivers; duplicates and forgeries are recognized.');
  const resume = `${baseUrl}/sandbox/deliveries/resume`;
  await printer.command(`curl -X POST ${resume}`);
  await printer.output([await requestControl('POST', resume)]);
  await waitUntilDelivered(baseUrl, context);
  const verdicts = await listener.process.waitForLines(/ (accepted|duplicate|rejected) /, leadCount - 1 + 2);
  await printer.output(verdicts);
  check(count(verdicts, / accepted /) === leadCount - 1, 'not every lead but one was accepted once');
  check(count(verdicts, / duplicate /) > 0, 'no delivery was recognized as a duplicate');
  check(count(verdicts, / rejected /) > 0, 'no forged delivery was rejected');

  await printer.step('Audit: is any lead missing? What can be pulled is compared with what was received.');
  const audit = ['audit', '--late-after', '1d'];
  await printer.command(`leads ${audit.join(' ')}`);
  const firstAudit = await runCommand(audit, { exitCode: problemsFound });
  await printer.output(lines(firstAudit));
  check(/^missing +1 /m.test(firstAudit.stdout), 'the lost delivery was not found');

  await printer.step('Repair: the missing lead is delivered to the receiver, signed.');
  const repair = [...audit, '--send-to', webhookUrl, '--token', token];
  await printer.command(`leads ${repair.join(' ')} \\\n    | grep repaired`);
  const repaired = await runCommand(repair);
  await printer.output([
    ...repaired.stdout.split('\n').filter((line) => line.includes('repaired')),
    ...repaired.stderr.trimEnd().split('\n'),
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

/** A command that listens, once it does. */
interface Server {
  readonly process: LeadsProcess;
  readonly port: number;
  /** The flag that a user types for this port: none for the default one. */
  readonly portFlag: readonly string[];
  readonly readyLine: string;
}

/** At the usual port, so that the printed commands are what a user would type; at any free one where another program has that. */
async function startServer(
  startCommand: (argv: readonly string[]) => LeadsProcess,
  argv: readonly string[],
  ready: RegExp,
): Promise<Server> {
  const atDefaultPort = startCommand(argv);
  const [readyLine] = await atDefaultPort.waitForLines(ready, 1);
  if (readyLine !== undefined)
    return { process: atDefaultPort, port: portIn(readyLine), portFlag: [], readyLine };
  if (
    !atDefaultPort.lines.some((line) =>
      / is in use by another program| no permission to listen on /.test(line),
    )
  )
    throw notReady(argv, atDefaultPort);
  const atFreePort = startCommand([...argv, '--port', '0']);
  const [line] = await atFreePort.waitForLines(ready, 1);
  if (line === undefined) throw notReady(argv, atFreePort);
  const port = portIn(line);
  return { process: atFreePort, port, portFlag: ['--port', String(port)], readyLine: line };
}

const notReady = ([command = '']: readonly string[], { lines: printed }: LeadsProcess): DemoError =>
  new DemoError(`leads ${command}: ${printed.join('\n') || 'it printed nothing'}`);

function portIn(readyLine: string): number {
  const port = /https?:\/\/[^\s/]+:(\d+)/.exec(readyLine)?.[1];
  if (port === undefined) throw new DemoError(`no port in: ${readyLine}`);
  return Number(port);
}

const lines = ({ stdout, stderr }: FinishedProcess): string[] => (stdout + stderr).trimEnd().split('\n');

const count = (printed: readonly string[], pattern: RegExp): number =>
  printed.filter((line) => pattern.test(line)).length;

/** Waits until the sandbox says that no delivery is pending. Throws a `DemoError` after 30 s. */
async function waitUntilDelivered(baseUrl: string, { clock, signal }: Context): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    const deliveries = JSON.parse(await requestControl('GET', `${baseUrl}/sandbox/deliveries`)) as {
      pending: number;
    };
    if (deliveries.pending === 0) return;
    await clock.sleep(50, signal);
  }
  throw new DemoError('some deliveries were still pending after 30 seconds');
}

/** Body of the sandbox's answer at one of its control endpoints. */
function requestControl(method: 'GET' | 'POST', url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = method === 'GET' ? get(url) : request(url, { method }).end();
    sent.on('error', reject);
    sent.on('response', (answer) => void text(answer).then(resolve, reject));
  });
}

/** A step of the tour whose result is not the one that it announced. */
export class DemoError extends Error {}

/** The tour's commands run and store there: the user's own settings do not reach them. */
export interface DemoDirectories {
  readonly workDir: string;
  readonly configDir: string;
  readonly dataDir: string;
}

interface FinishedProcess {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A `leads` command that runs in a process of its own. */
export interface LeadsProcess {
  /** Complete lines of both streams so far, in the order they came. */
  readonly lines: readonly string[];
  readonly finished: Promise<FinishedProcess>;
  /** The lines that match once there are so many; those that there are when the command ends, or 30 s pass, before. */
  waitForLines(pattern: RegExp, count: number): Promise<readonly string[]>;
  /** Ctrl-C. */
  interrupt(): void;
}

const lineTimeoutMs = 30_000;

/** Starts a `leads` command; it is stopped when the tour is interrupted. */
function startLeads(
  argv: readonly string[],
  directories: DemoDirectories,
  context: Pick<Context, 'program' | 'env' | 'signal'>,
  stdin = '',
): LeadsProcess {
  const [command, ...args] = context.program;
  const child = spawn(command, [...args, ...argv], {
    cwd: directories.workDir,
    env: environment(directories, context.env),
    stdio: 'pipe',
  });
  const lines: string[] = [];
  const texts = { stdout: '', stderr: '' };
  let wake = (): void => undefined;
  for (const name of ['stdout', 'stderr'] as const) {
    let incompleteLine = '';
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
      const parts = (incompleteLine + text).split('\n');
      incompleteLine = parts.pop() ?? '';
      lines.push(...parts);
      wake();
    });
  }
  const stop = (): void => void child.kill('SIGTERM');
  context.signal.addEventListener('abort', stop, { once: true });
  let hasEnded = false;
  const finished = new Promise<FinishedProcess>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => {
      context.signal.removeEventListener('abort', stop);
      hasEnded = true;
      wake();
      resolve({ exitCode, ...texts });
    });
  });
  child.stdin.on('error', () => undefined).end(stdin);
  return {
    lines,
    finished,
    async waitForLines(pattern, count) {
      const deadline = setTimeout(() => {
        hasEnded = true;
        wake();
      }, lineTimeoutMs);
      for (;;) {
        const matching = lines.filter((line) => pattern.test(line));
        if (matching.length >= count || hasEnded) {
          clearTimeout(deadline);
          return matching;
        }
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    interrupt: () => void child.kill('SIGINT'),
  };
}

function environment(directories: DemoDirectories, env: Context['env']): Record<string, string> {
  const inherited = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(LEADS_.*|FORCE_COLOR|HTTPS?_PROXY|ALL_PROXY)$/i.test(entry[0]),
  );
  return {
    ...Object.fromEntries(inherited),
    LEADS_CONFIG_DIR: directories.configDir,
    LEADS_DATA_DIR: directories.dataDir,
  };
}

export type TourPrinter = Awaited<ReturnType<typeof createTourPrinter>>;

/**
 * Prints the tour: the same lines on a terminal and in a pipe, except that a terminal's are broken between words.
 * `waitsForEnter`: before each step but the first.
 */
export async function createTourPrinter(context: Context, waitsForEnter = false) {
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
    /** Announces the next step in a sentence. */
    async step(sentence: string): Promise<void> {
      if (waitsForEnter && steps > 0) await ask('\n(Enter goes on, Ctrl-C ends) ', context);
      steps += 1;
      const lines = prose(`${steps}. ${sentence}`).split('\n');
      await write(stdout, `\n${lines.map((line) => colour.bold(colour.cyan(line))).join('\n')}\n`);
    },
    /** A command as the user would type it. */
    command: (command: string) => write(stdout, `${colour.dim('$')} ${colour.bold(command)}\n`),
    /** Shows what a command printed, each line cut to the terminal's width. */
    async output(lines: readonly string[]): Promise<void> {
      for (const line of lines) await write(stdout, `${paint(truncate(sanitize(line), width))}\n`);
    },
    /** Text of the tour itself. */
    say: (text: string) => write(stdout, `${prose(text)}\n`),
    success: (text: string) => write(stdout, `${prose(`✓ ${text}`).replace('✓', colour.green('✓'))}\n`),
  };
}
