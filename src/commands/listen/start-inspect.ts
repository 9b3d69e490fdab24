import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { ConfigError, UsageError } from '../../errors.ts';
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
  const [command, ...words] = program;
  const child = spawn(command, [...words, ...pageWords(session, port)], {
    env: pageEnvironment(session),
    // The closed channel tells the page that this process ended.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const lines = createInterface(child.stderr as Readable);
  // The event `close` does not come after `disconnect`.
  const ended = Promise.all([once(child, 'exit'), once(lines, 'close')]).then(([[code]]) => code as unknown);
  const disconnect = (): void => {
    if (child.connected) child.disconnect();
  };
  stop.signal.addEventListener('abort', disconnect, { once: true });
  const firstLines: string[] = [];
  let isStarted = false;
  const started = new Promise<void>((resolve) => {
    lines.on('line', (line) => {
      if (!isStarted) firstLines.push(line);
      else stderr.write(`${line}\n`);
      if (isStarted || !line.includes('/#key=')) return;
      isStarted = true;
      stderr.write(`${firstLines.join('\n')}\n`);
      resolve();
    });
  });
  const first = await Promise.race([started.then(() => 'started'), ended.then(() => 'ended')]);
  if (first === 'ended' && !stop.signal.aborted) throw startError(firstLines, await ended);
  void ended.then((code) => {
    if (stop.signal.aborted) return;
    messages.warn(`the page of --inspect ended with ${String(code)}: deliveries are received without it`);
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

/** Its error names the flag of `leads inspect`, so the hint is left out. */
function startError(lines: readonly string[], code: unknown): Error {
  const reason = lines.find((line) => line.startsWith('error: ')) ?? `error: it ended with ${String(code)}`;
  const message = `the page of --inspect did not start: ${reason.slice('error: '.length)}`;
  return code === 2 ? new UsageError(message) : new ConfigError(message);
}

/** Other users of the machine can read these words, so that no secret is among them. */
function pageWords({ flags, context, verifier }: ListenSession, port: number): readonly string[] {
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
    ...(targets.length === 0 ? [] : schemeWords(flags, verifier)),
  ];
}

const replayAddresses = ({ forwardTo }: ListenOptions): readonly URL[] =>
  forwardTo.filter(({ username, password }) => username === '' && password === '');

function schemeWords({ scheme, token, tokenFile }: ListenOptions, verifier: Verifier): readonly string[] {
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
