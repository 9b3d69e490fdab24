import { type ChildProcess, spawn } from 'node:child_process';
import { type ConfigError, InterruptedError } from '../errors.ts';
import type { Host } from '../host.ts';
import { Secret } from '../secret.ts';
import { configError, type KeyCommandFault } from './problems.ts';
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
    // Of some names that no program can have `spawn` throws, and no event tells.
    const end = await endOf(command, context, timeoutMs).catch((error: unknown) => ({
      how: notStarted(error as NodeJS.ErrnoException),
      output: '',
    }));
    context.signal.throwIfAborted();
    // Ctrl-C goes to every process of the terminal, and the program's end may be seen first.
    const { how } = end;
    const isInterrupted =
      (how.kind === 'killed' && how.by === 'SIGINT') || (how.kind === 'exited' && how.status === 130);
    if (isInterrupted) throw new InterruptedError('SIGINT');
    if (how.kind !== 'exited' || how.status !== 0) throw failed(command, how);
    return keyIn(end.output, command);
  } finally {
    resume?.();
  }
}

interface End {
  /** Status 0 where it did what it is to do. */
  readonly how: KeyCommandFault;
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
    let stopped: KeyCommandFault | undefined;
    const stop = (why: KeyCommandFault): void => {
      stopped ??= why;
      end(child);
    };
    const abort = (): void => stop({ kind: 'interrupted' });
    const timer = setTimeout(() => stop({ kind: 'not-ended', afterMs: timeoutMs }), timeoutMs);
    signal.addEventListener('abort', abort, { once: true });
    const finish = (how: KeyCommandFault): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      resolve({ how: stopped ?? how, output: Buffer.concat(chunks).toString('utf8') });
    };
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= mostOutput) chunks.push(chunk);
      else stop({ kind: 'too-much-printed', mostBytes: mostOutput });
    });
    child.on('error', (error) => finish(notStarted(error)));
    child.on('exit', () => {
      const grace = setTimeout(() => child.stdout.destroy(), outputGraceMs);
      child.on('close', () => clearTimeout(grace));
    });
    child.on('close', (code, killedBy) =>
      finish(killedBy === null ? { kind: 'exited', status: code ?? 0 } : { kind: 'killed', by: killedBy }),
    );
  });
}

const notStarted = ({ code, message }: NodeJS.ErrnoException): KeyCommandFault => ({
  kind: 'not-started',
  why: code ?? message,
});

/** Asks the program to end, then ends it: one that shows no typed letters sets the terminal right again first. */
function end(child: ChildProcess): void {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), killGraceMs);
  child.on('exit', () => clearTimeout(timer));
}

function keyIn(output: string, command: readonly string[]): Secret {
  const line = output.replace(/\r?\n$/, '');
  if (line === '') throw failed(command, { kind: 'nothing-printed' });
  if (/[\r\n]/.test(line)) throw failed(command, { kind: 'several-lines' });
  if (!/^[\x21-\x7e]+$/.test(line)) {
    throw failed(command, { kind: 'no-key-printed' });
  }
  return new Secret(line);
}

/** Names the program alone: an argument may be a secret. */
const failed = ([program = '']: readonly string[], how: KeyCommandFault): ConfigError =>
  configError({ kind: 'key-command-failed', program, how });

const secretVariables = settingKeys.flatMap(({ secret, variable }) =>
  secret === true ? (variable ?? []) : [],
);

const withoutSecrets = (env: Host['env']): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !secretVariables.includes(name.toUpperCase())));

const known = new WeakMap<object, Promise<Account>>();

/** The account with the key that its command prints; within one run of ours, the command runs until it gave one. */
export function commandAccount(
  account: AccountSettings & CommandKey,
  context: KeyContext,
  run: object,
): Promise<Account> {
  const made =
    known.get(run) ??
    makeAccount(account, context).catch((error: unknown) => {
      known.delete(run);
      throw error;
    });
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
