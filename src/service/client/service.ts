import type { Dialect } from '../../config/dialect.ts';
import { rejectForeignHeaders } from '../../config/extra-headers.ts';
import type { Settings } from '../../config/load-settings.ts';
import type { Account, AccountSettings, CommandKey } from '../../config/settings.ts';
import type { Host } from '../../host.ts';
import type { HttpClient } from '../../http/client/http-client.ts';
import { commandLine, type Front } from '../../front.ts';
import type { Messages } from '../../output/messages.ts';
import type { Clock } from '../../time/clock.ts';

export interface Service {
  readonly front: Front;
  readonly account: Account;
  readonly dialect: Dialect;
  readonly http: HttpClient;
  readonly messages: Messages;
  readonly rateGate: RateGate;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly retries: number;
}

interface ServiceContext extends Pick<Host, 'clock' | 'random' | 'env' | 'signal'> {
  readonly messages: Messages;
  settings(): Promise<Settings>;
  http(asksOnce?: boolean): Promise<HttpClient>;
}

/**
 * The stored account, or another one to try. `asksOnce`: as a rule one request is all. Throws a `ConfigError` when no key or
 * base URL is set; sends nothing yet.
 */
export async function openService(
  context: ServiceContext,
  { asksOnce, triedAccount }: { readonly asksOnce?: boolean; readonly triedAccount?: Account } = {},
): Promise<Service> {
  const settings = await context.settings();
  const { dialect, timeoutMs, retries } = settings;
  const { messages, clock, random, signal } = context;
  // The account first: without a key there is no need to load an HTTP client.
  const stored = triedAccount ?? settings.account();
  const account = 'apiKey' in stored ? stored : await withPrintedKey(stored, context);
  rejectForeignHeaders(settings, account.baseUrl);
  return {
    account,
    dialect,
    http: await context.http(asksOnce),
    messages,
    front: commandLine,
    rateGate: new RateGate(clock),
    clock,
    random,
    signal,
    timeoutMs,
    retries,
  };
}

async function withPrintedKey(
  { profile, baseUrl, apiKeyCommand }: AccountSettings & CommandKey,
  context: ServiceContext,
): Promise<Account> {
  const { runKeyCommand } = await import('../../config/key-command.ts');
  return { profile, baseUrl, apiKey: await runKeyCommand(apiKeyCommand, context), keyIsFromCommand: true };
}

/** Longer than that no `Retry-After` holds requests back, ms: what is beyond a day is as a rule no number of seconds. */
export const longestHoldMs = 24 * 3_600_000;

/** Holds every request to one origin back while a `Retry-After` of one of them runs; it counts by the monotonic clock. */
export class RateGate {
  readonly #clock: Clock;
  #until = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  hold(ms: number): void {
    this.#until = Math.max(this.#until, this.#clock.steady() + Math.min(ms, longestHoldMs));
  }

  /** Milliseconds until requests may go out; 0 or less: now. */
  get waitMs(): number {
    return this.#until - this.#clock.steady();
  }

  async pass(signal: AbortSignal): Promise<void> {
    for (let wait = this.waitMs; wait > 0; wait = this.waitMs) await this.#clock.sleep(wait, signal);
  }
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * The service's `Date` against the clock here, in milliseconds; positive: the service is ahead. It was answered at any time
 * between these two by the clock here: a machine may sleep meanwhile, or wait for its turn. Undefined without a `Date`.
 */
export function driftOf(headers: Headers, askedAt: number, receivedAt: number): number | undefined {
  const serviceTime = Date.parse(String(headers['date']));
  // A cache passes on the `Date` of the service with the time since then (RFC 9111, section 5.1), in seconds.
  const age = /^\d{1,9}$/.exec(String(headers['age']))?.[0] ?? '0';
  if (Number.isNaN(serviceTime)) return undefined;
  // The middle of the second that it names is the likeliest time.
  const answeredAt = serviceTime + Number(age) * 1000 + 500;
  return Math.min(0, answeredAt - askedAt) + Math.max(0, answeredAt - receivedAt);
}
