import type { RequestLimits, SchemeChoice, VerifyOptions } from './options.ts';

/** The names of all options: one that a type gets does not compile without a line here. */
export type OptionNames<T> = Readonly<Record<keyof T, true>>;

export const choiceOptions: OptionNames<SchemeChoice> = {
  scheme: true,
  secrets: true,
  toleranceMs: true,
  publicUrl: true,
  verifierTimeoutMs: true,
};

/** What `createReceiver` takes as well. */
export const sharedOptions: OptionNames<SchemeChoice & RequestLimits> = {
  ...choiceOptions,
  maxBodyBytes: true,
  bodyTimeoutMs: true,
};

export const verifyOptions: OptionNames<VerifyOptions<unknown>> = {
  ...sharedOptions,
  leadAt: true,
  idField: true,
  lead: true,
  schema: true,
  now: true,
};

/**
 * Rejects with a `TypeError` for an option that is unknown, and for a number that is none: it would pass every check. Types
 * say the same, and JavaScript does not read them.
 */
export async function checkOptions(
  options: Partial<VerifyOptions<unknown>> | undefined,
  known: Readonly<Record<string, true>>,
  of: string,
): Promise<void> {
  const { now = 1, maxBodyBytes = 1, bodyTimeoutMs = 1 } = options ?? {};
  const areKnown = options !== undefined && Object.keys(options).every((name) => known[name] === true);
  if (areKnown && [now, maxBodyBytes, bodyTimeoutMs].every(Number.isFinite)) return;
  const { requireKnownOptions, requireNumbers } = await import('./option-fault.ts');
  requireKnownOptions(options, known, of);
  requireNumbers({ now, maxBodyBytes, bodyTimeoutMs });
}
