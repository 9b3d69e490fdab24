import { ConfigError, ServiceError } from '../../errors.ts';
import { type Clock, systemClock } from '../../time/clock.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import type { Scheme, Verification, Verifier } from '../../webhook/scheme.ts';
import { rejected } from '../../webhook/delivery-answer.ts';
import type { OwnReason, OwnVerifier, SchemeChoice } from './options.ts';

/**
 * A verifier of the application's own in place of a scheme; `onError` is told where it gave no answer, of each kind once a
 * minute: many libraries throw for a bad token, and anybody may send one. Throws a `ConfigError` for options that only a scheme has.
 */
export function ownVerifier(
  check: OwnVerifier,
  choice: SchemeChoice,
  clock: Clock = systemClock,
  onError: (error: ServiceError) => void = () => undefined,
): Verifier {
  const { secrets, toleranceMs, publicUrl, verifierTimeoutMs: timeoutMs = 5000 } = choice;
  if ([secrets, toleranceMs, publicUrl].some((given) => given !== undefined)) {
    throw new ConfigError('a verifier of your own takes no secrets, toleranceMs and publicUrl');
  }
  if (!(timeoutMs > 0 && Number.isFinite(timeoutMs))) {
    throw new ConfigError('verifierTimeoutMs must be a number of milliseconds');
  }
  const toldAt: Record<Failure, number> = { threw: -Infinity, late: -Infinity };
  const failed = (kind: Failure, error: ServiceError): Verification => {
    const at = clock.steady();
    if (at - toldAt[kind] >= 60_000) {
      toldAt[kind] = at;
      onError(error);
    }
    return rejected('cannot_verify', error.message);
  };
  const scheme: Scheme = {
    name: 'own',
    credentialHeaders: [],
    toleranceMs: undefined,
    signsUrl: false,
    key: cannotSign,
    sign: cannotSign,
    authenticate: () => rejected('wrong_credential', 'the verifier was not asked'),
    verify: (delivery) => verification(delivery, check, timeoutMs, clock, failed),
  };
  return { scheme, keys: [] };
}

type Failure = 'threw' | 'late';

const cannotSign = (): never => {
  throw new ConfigError('a verifier of your own cannot sign');
};

export const headersOf = ({ rawHeaders }: Pick<Delivery, 'rawHeaders'>): Headers =>
  new Headers(rawHeaders.filter(([name]) => !name.startsWith(':')).map(([...pair]) => pair));

/** Nothing but `true`, in time, is taken. */
async function verification(
  delivery: Delivery,
  check: OwnVerifier,
  timeoutMs: number,
  clock: Clock,
  failed: (kind: Failure, error: ServiceError) => Verification,
): Promise<Verification> {
  const { method, url, body } = delivery;
  const over = new AbortController();
  const { signal } = over;
  const late = Symbol('late');
  const asked = async (): Promise<unknown> => {
    return check({ method, url, headers: headersOf(delivery), body }, { signal });
  };
  const slept = clock.sleep(timeoutMs, signal).then(
    () => late,
    () => late,
  );
  try {
    const said = await Promise.race([asked(), slept]);
    if (said === true) return { ok: true, key: -1 };
    if (said === late) {
      return failed('late', new ServiceError(`the verifier took longer than ${timeoutMs} ms`));
    }
    return rejected(isReason(said) ? said : 'wrong_credential', 'the verifier refused it');
  } catch (error) {
    // Its text may quote the credential.
    const name = error instanceof Error ? error.name : typeof error;
    const hint = 'what it refuses, it answers with false or a reason';
    return failed('threw', new ServiceError(`the verifier threw ${name}`, { hint }));
  } finally {
    over.abort();
  }
}

const reasons: readonly unknown[] = [
  'missing_credential',
  'malformed_credential',
  'wrong_credential',
  'missing_timestamp',
  'stale_timestamp',
  'future_timestamp',
] satisfies OwnReason[];

const isReason = (said: unknown): said is OwnReason => reasons.includes(said);
