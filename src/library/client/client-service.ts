import { UsageError } from '../../errors.ts';
import { createAgent } from '../../http/client/agent.ts';
import type { Messages } from '../../output/messages.ts';
import { applicationWords } from '../../messages/application.ts';
import { sentenceOf, warningOf } from '../../messages/find-message.ts';
import { Secret } from '../../secret.ts';
import type { RateGate, Service, Texts } from '../../service/client/service.ts';
import { systemClock } from '../../time/clock.ts';
import { formatSeconds } from '../../time/time-text.ts';
import { checkKey, type ClientOptions, type LeadsOptions } from './client-options.ts';

/** What a client knows from its options. */
export interface ClientAccount extends ClientOptions {
  readonly baseUrl: URL;
  readonly rateGate: RateGate;
}

const defaultTimeoutMs = 30_000;
const defaultRetries = 5;

/** The service with connections of its own; `close` cuts them. Throws what the function that gives the key throws. */
export async function openClientService(
  account: ClientAccount,
  { signal, onNote = () => undefined }: Pick<LeadsOptions, 'signal' | 'onNote'>,
): Promise<{ readonly service: Service; readonly close: () => Promise<void> }> {
  signal?.throwIfAborted();
  const { baseUrl, dialect = {}, timeoutMs = defaultTimeoutMs, retries = defaultRetries, env = {} } = account;
  const key = await keyFrom(account.apiKey);
  const dispatcher = await createAgent({ env, dataDir: undefined, timeoutMs });
  const service: Service = {
    account: { baseUrl, apiKey: new Secret(key) },
    dialect,
    dispatcher,
    messages: noteMessages(onNote),
    texts: () => Promise.resolve(texts),
    rateGate: account.rateGate,
    clock: systemClock,
    random: Math.random,
    signal: signal ?? new AbortController().signal,
    timeoutMs,
    retries,
  };
  return { service, close: () => dispatcher.destroy() };
}

async function keyFrom(apiKey: ClientOptions['apiKey']): Promise<string> {
  let key: unknown;
  try {
    key = typeof apiKey === 'function' ? await apiKey() : apiKey;
  } catch (cause) {
    throw new UsageError('the function apiKey failed', { cause });
  }
  checkKey(key);
  return key;
}

const texts: Texts = {
  sentenceOf: (thrown) => sentenceOf(thrown),
  noteOf: (found) => warningOf(found, applicationWords),
};

/** A shorter wait is not worth a note; ms. */
const notedMs = 3000;

/** Gives each note once to `onNote`, in the words of an application; nobody reads anything else. */
export function noteMessages(onNote: (note: string) => void): Messages {
  const noted = new Set<string>();
  const note = (cause: string, text: string): void => {
    if (noted.has(cause)) return;
    noted.add(cause);
    onNote(text);
  };
  return {
    note,
    say: () => undefined,
    verbose: () => undefined,
    warn: () => undefined,
    waiting({ ms, why, detail }, sleep) {
      const reason = detail === undefined ? why : `${why}, ${detail}`;
      if (ms >= notedMs) note(`waiting: ${why}`, `waiting ${formatSeconds(ms)}: ${reason}`);
      return sleep();
    },
    asking: () => () => undefined,
  };
}
