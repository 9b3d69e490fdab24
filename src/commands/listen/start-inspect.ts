import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { ConfigError, messageOf, UsageError } from '../../errors.ts';
import { rejectUnableToSign } from '../../sender/sign-request.ts';
import type { Key, Verifier } from '../../webhook/scheme.ts';
import type { ListenOptions } from './command.ts';
import type { ListenSession } from './session.ts';

/** The page is killed if it has not ended this long after it was told to. */
const killAfterMs = 5_000;

const markOfAddress = '/#key=';

/**
 * `--inspect`: starts `leads inspect` over the receiver's inbox as a process of its own, and resolves when that has printed its
 * address. Throws the error that it printed where it ended before. The page ends when it is closed, and when this process
 * ends in whatever way, because the channel between the two closes then.
 */
export async function startInspect(session: ListenSession, port: number) {
  const { context, stop } = session;
  const { program, messages, stderr } = context;
  const [command, ...args] = program;
  const child = spawn(command, [...args, ...pageArgs(session, port)], {
    env: pageEnvironment(session),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const lines = createInterface(child.stderr as Readable);
  // The event `close` of a child does not come after `disconnect`; its exit and the end of its stderr together mean the same.
  const ended = Promise.all([once(child, 'exit'), once(lines, 'close')]).then(
    ([[code, signal]]) => (code ?? signal) as number | string,
    messageOf,
  );
  const disconnect = (): void => {
    if (child.connected) child.disconnect();
  };
  stop.signal.addEventListener('abort', disconnect, { once: true });
  // Lines are held back until the page has started: those of a failed start become the error of this command.
  const firstLines: string[] = [];
  const started = new Promise<true>((resolve) => {
    let isStarted = false;
    lines.on('line', (line) => {
      if (isStarted) return void stderr.write(`${line}\n`);
      firstLines.push(line);
      if (!line.includes(markOfAddress)) return;
      isStarted = true;
      stderr.write(`${firstLines.join('\n')}\n`);
      resolve(true);
    });
  });
  const isStarted = await Promise.race([started, ended.then(() => false)]);
  if (!isStarted && !stop.signal.aborted) throw startError(firstLines, await ended);
  void ended.then((exit) => {
    if (stop.signal.aborted) return;
    messages.warn(`the page of --inspect ended (${exit}): deliveries are received without it`);
  });
  return {
    async close(): Promise<void> {
      const timer = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
      disconnect();
      await ended;
      clearTimeout(timer);
    },
  };
}

const usageExitCode = 2;

/** `exit`: the exit code or the signal. The hint of `leads inspect` is left out, since it names flags of that command. */
function startError(lines: readonly string[], exit: number | string): Error {
  const errorLine = lines.find((line) => line.startsWith('error: '));
  const reason = errorLine?.slice('error: '.length) ?? `it ended (${exit})`;
  const message = `the page of --inspect did not start: ${reason}`;
  return exit === usageExitCode ? new UsageError(message) : new ConfigError(message);
}

/** No secret may be among the arguments, which other users of the machine can read: `pageEnvironment` holds those. */
function pageArgs({ flags, context, verifier }: ListenSession, port: number): readonly string[] {
  const { profile, timeout, verbose, quiet, color } = context.globals;
  const targets = replayAddresses(flags);
  return [
    'inspect',
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(timeout === undefined ? [] : ['--timeout', timeout]),
    ...(verbose ? ['--verbose'] : []),
    ...(quiet ? ['--quiet'] : []),
    ...(color ? [] : ['--no-color']),
    ...['--port', String(port)],
    ...targets.flatMap((url) => ['--replay-to', url.href]),
    ...(targets.length === 0 ? [] : schemeArgs(flags, verifier)),
  ];
}

/** An address with a password is left out: arguments are no place for one. */
const replayAddresses = ({ forwardTo }: ListenOptions): readonly URL[] =>
  forwardTo.filter(({ username, password }) => username === '' && password === '');

/** How the page signs what it sends to the targets once more: as the service does, if the secret of the receiver can sign. */
function schemeArgs({ scheme, token, tokenFile }: ListenOptions, verifier: Verifier): readonly string[] {
  if (signingKey(verifier) === undefined) return ['--no-verify'];
  const name = scheme ?? (token.length + tokenFile.length > 0 ? 'token' : undefined);
  return name === undefined ? [] : ['--scheme', name];
}

function signingKey({ scheme, keys: [key] }: Verifier): Key | undefined {
  if (key === undefined) return undefined;
  try {
    rejectUnableToSign(scheme, key);
    return key;
  } catch (error) {
    // A public key can only verify, and some schemes sign parts of a request that a replay does not have.
    if (error instanceof ConfigError || error instanceof UsageError) return undefined;
    throw error;
  }
}

function pageEnvironment({ flags, context, verifier, location }: ListenSession): NodeJS.ProcessEnv {
  const { env } = context;
  const key = replayAddresses(flags).length === 0 ? undefined : signingKey(verifier);
  const secretName = verifier.scheme.name === 'token' ? 'LEADS_WEBHOOK_TOKEN' : 'LEADS_WEBHOOK_SECRET';
  return {
    ...env,
    LEADS_INBOX: typeof location === 'string' ? location : (flags.inbox ?? env['LEADS_INBOX']),
    ...(key !== undefined && { [secretName]: key.secret.reveal() }),
  };
}
