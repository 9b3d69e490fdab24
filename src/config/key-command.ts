import { type ChildProcess, spawn } from 'node:child_process';
import { type ConfigError, InterruptedError } from '../errors.ts';
import type { Host } from '../host.ts';
import { Secret } from '../secret.ts';
import { formatDuration } from '../time/time-text.ts';
import { configError } from './problems.ts';
import { settingKeys } from './setting-keys.ts';
import type { Account, AccountSettings, CommandKey } from './settings.ts';

const defaultTimeoutMs = 60_000;

/** Of a key command's output, in bytes: a key that is longer fits into no header. */
const mostOutput = 64 * 1024;

/** After a command's exit, for its output to arrive, in ms: a child that it left behind may keep the pipe open. */
const outputGraceMs = 200;

/** After SIGTERM, for a command to end, in ms. */
const killGraceMs = 1000;

export interface KeyContext extends Pick<Host, 'env' | 'stdin' | 'signal'> {
  readonly status: { pause(): () => void } | undefined;
  readonly messages: { verbose(text: string): void };
}

/**
 * Runs a program without a shell, and gives the one line that it prints. It keeps the terminal's stdin, for a passphrase,
 * and stderr; of our environment it lacks our own secrets. Throws a `ConfigError` that says what it did instead, and the
 * signal's reason when the run is interrupted.
 */
export async function runKeyCommand(
  command: readonly string[],
  context: Omit<KeyContext, 'messages'>,
  timeoutMs = defaultTimeoutMs,
): Promise<Secret> {
  context.signal.throwIfAborted();
  // The terminal's last line is the program's as long as it may ask for something there.
  const resume = context.status?.pause();
  try {
    const end = await endOf(command, context, timeoutMs);
    context.signal.throwIfAborted();
    // Ctrl-C goes to every process of the terminal, and the program's end may be seen first.
    if (end.how === 'ended by SIGINT' || end.how === 'exit 130') throw new InterruptedError('SIGINT');
    if (end.how !== 'exit 0') throw failed(command, end.how);
    return keyIn(end.output, command);
  } finally {
    resume?.();
  }
}

interface End {
  /** `exit 3`, `ended by SIGKILL`, or why it did not start or did not end. */
  readonly how: string;
  readonly output: string;
}

function endOf(
  command: readonly string[],
  { env, stdin, signal }: Pick<KeyContext, 'env' | 'stdin' | 'signal'>,
  timeoutMs: number,
): Promise<End> {
  const [program = '', ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      env: withoutSecrets(env),
      stdio: [stdin.isTTY === true ? 'inherit' : 'ignore', 'pipe', 'inherit'],
      windowsHide: true,
    });
    const chunks: Buffer[] = [];
    let size = 0;
    let stopped: string | undefined;
    const stop = (why: string): void => {
      stopped ??= why;
      end(child);
    };
    const abort = (): void => stop('interrupted');
    const timer = setTimeout(() => stop(`it did not end within ${formatDuration(timeoutMs)}`), timeoutMs);
    signal.addEventListener('abort', abort, { once: true });
    const finish = (how: string): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      resolve({ how: stopped ?? how, output: Buffer.concat(chunks).toString('utf8') });
    };
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= mostOutput) chunks.push(chunk);
      else stop(`it printed more than ${mostOutput / 1024} KiB`);
    });
    child.on('error', (error: NodeJS.ErrnoException) =>
      finish(`it cannot be started: ${error.code ?? error.message}`),
    );
    child.on('exit', () => {
      const grace = setTimeout(() => child.stdout.destroy(), outputGraceMs);
      child.on('close', () => clearTimeout(grace));
    });
    child.on('close', (code, killedBy) =>
      finish(killedBy === null ? `exit ${code ?? 0}` : `ended by ${killedBy}`),
    );
  });
}

/** Asks the program to end, then ends it: one that shows no typed letters sets the terminal right again first. */
function end(child: ChildProcess): void {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), killGraceMs);
  child.on('exit', () => clearTimeout(timer));
}

function keyIn(output: string, command: readonly string[]): Secret {
  const line = output.replace(/\r?\n$/, '');
  if (line === '') throw failed(command, 'it printed nothing');
  if (/[\r\n]/.test(line)) throw failed(command, 'it printed more than one line');
  if (!/^[\x21-\x7e]+$/.test(line)) {
    throw failed(
      command,
      'what it printed holds white space or other characters that cannot be part of a key',
    );
  }
  return new Secret(line);
}

/** Names the program alone: an argument may be a secret. */
const failed = ([program = '']: readonly string[], how: string): ConfigError =>
  configError({ kind: 'key-command-failed', program, how });

const secretVariables = settingKeys.flatMap(({ secret, variable }) =>
  secret === true ? (variable ?? []) : [],
);

const withoutSecrets = (env: Host['env']): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !secretVariables.includes(name.toUpperCase())));

const known = new WeakMap<object, Promise<Account>>();

/** The account with the key that its command prints; within one run of ours, the command runs once for it. */
export function commandAccount(
  account: AccountSettings & CommandKey,
  context: KeyContext,
  run: object,
): Promise<Account> {
  const made = known.get(run) ?? makeAccount(account, context);
  known.set(run, made);
  return made;
}

async function makeAccount(
  { profile, baseUrl, apiKeyCommand }: AccountSettings & CommandKey,
  context: KeyContext,
): Promise<Account> {
  let key = await runKeyCommand(apiKeyCommand, context);
  let renewal: Promise<void> | undefined;
  const renew = async (): Promise<void> => {
    context.messages.verbose('the key was refused: api-key-command runs again');
    key = await runKeyCommand(apiKeyCommand, context);
  };
  return {
    profile,
    baseUrl,
    get apiKey() {
      return key;
    },
    // Several requests may be refused at the same time: one new key is for all of them.
    renewKey: async (refused: Secret) => {
      if (key !== refused) return;
      renewal ??= renew().finally(() => (renewal = undefined));
      await renewal;
    },
  };
}
