import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { ConfigError, messageOf, UsageError } from '../../errors.ts';
import { rejectUnableToSign } from '../../sender/sign-request.ts';
import type { Key, Verifier } from '../../webhook/scheme.ts';
import type { ListenOptions } from './command.ts';
import type { ListenSession } from './session.ts';

/** The page has this long to end, in milliseconds. */
const endingMs = 5_000;

/**
 * `--inspect`: starts `leads inspect` over the receiver's inbox as a process of its own, and resolves when that has printed its
 * address. The page ends when it is closed, and when this process ends in whatever way. Throws what kept it from starting.
 */
export async function startInspect(session: ListenSession, port: number) {
  const { context, stop } = session;
  const { program, messages, stderr } = context;
  const [command, ...args] = program;
  const child = spawn(command, [...args, ...pageArgs(session, port)], {
    env: pageEnvironment(session),
    // The closed channel tells the page that this process ended.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const lines = createInterface(child.stderr as Readable);
  // Not the child's `close`: it does not come after `disconnect`. Its exit and the end of its stderr say the same.
  const ended = Promise.all([once(child, 'exit'), once(lines, 'close')]).then(
    ([[code, signal]]) => (code ?? signal) as number | string,
    messageOf,
  );
  const disconnect = (): void => {
    if (child.connected) child.disconnect();
  };
  stop.signal.addEventListener('abort', disconnect, { once: true });
  const firstLines: string[] = [];
  let isStarted = false;
  const started = new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      if (isStarted) return void stderr.write(`${line}\n`);
      firstLines.push(line);
      if (!line.includes('/#key=')) return;
      isStarted = true;
      stderr.write(`${firstLines.join('\n')}\n`);
      resolve();
    });
  });
  const first = await Promise.race([started.then(() => 'started'), ended.then(() => 'ended')]);
  if (first === 'ended' && !stop.signal.aborted) throw startError(firstLines, await ended);
  void ended.then((end) => {
    if (stop.signal.aborted) return;
    messages.warn(`the page of --inspect ended (${end}): deliveries are received without it`);
  });
  return {
    async close(): Promise<void> {
      const timer = setTimeout(() => child.kill('SIGKILL'), endingMs);
      disconnect();
      await ended;
      clearTimeout(timer);
    },
  };
}

/** The error of `leads inspect` comes without its hint, which names flags of that command. */
function startError(lines: readonly string[], end: number | string): Error {
  const reason = lines.find((line) => line.startsWith('error: ')) ?? `error: it ended (${end})`;
  const message = `the page of --inspect did not start: ${reason.slice('error: '.length)}`;
  return end === 2 ? new UsageError(message) : new ConfigError(message);
}

/** Other users of the machine can read these arguments, so that no secret is among them. */
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

function schemeArgs({ scheme, token, tokenFile }: ListenOptions, verifier: Verifier): readonly string[] {
  if (signingKey(verifier) === undefined) return ['--no-verify'];
  const name = scheme ?? (token.length + tokenFile.length > 0 ? 'token' : undefined);
  return name === undefined ? [] : ['--scheme', name];
}

/** The receiver's own secret signs replays where it can, as the service signs what it delivers. */
function signingKey({ scheme, keys: [key] }: Verifier): Key | undefined {
  if (key === undefined) return undefined;
  try {
    rejectUnableToSign(scheme, key);
    return key;
  } catch (error) {
    // A public key verifies only, and a scheme may sign what we do not send.
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
