import type { KindsOf, LeadsError } from '../../errors.ts';
import type { DialectEvidence } from '../problems.ts';
import type { DialectAsker, Query } from './limited-requests.ts';
import { findHonouredName } from './find-honoured-name.ts';
import { numberParams } from '../../service/pagers/names.ts';
import type { Seen, SeenPage } from './seen-page.ts';

/** What a service does with a parameter that it does not know. */
export type Reaction = 'ignores' | 'rejects' | 'filters';

/** A parameter, and what it was seen to do. */
export interface TriedName {
  readonly name: string;
  readonly evidence: DialectEvidence;
}

export type LimitFinding = KindsOf<{
  /** `companions`: without these the service does not understand it. */
  honoured: TriedName & { companions: Query };
  ignored: TriedName;
  rejected: TriedName;
  filtered: TriedName;
  unknown: { why: DialectEvidence };
}>;

export interface FoundLimit {
  readonly limit: LimitFinding;
  /** Undefined where it was not found out. */
  readonly reaction: Reaction | undefined;
}

/** A name that no service has. */
const nonsense: Query = { leads_doctor: '1' };

/** Tried one by one where a service does not ignore what it does not know. */
const mostAlone = 8;

/** json-server understands `_per_page` only beside `_page`. */
const companionsOf = (name: string): Query => (name === '_per_page' ? { _page: '1' } : {});

/** Which parameter sets the number of leads; `others`: whether other names than the one in force are tried. */
export async function findLimit(asker: DialectAsker, first: SeenPage, others: boolean): Promise<FoundLimit> {
  const { count } = first;
  if (count < 2) return { limit: { kind: 'unknown', why: tooFew(count) }, reaction: undefined };
  const inForce = asker.params.limit;
  const name = inForce ?? 'limit';
  const wanted = count > 3 ? 3 : 1;
  const isLimited = (seen: Seen): boolean => seen.kind === 'page' && seen.count === wanted;
  const asked = { [name]: String(wanted) };
  const together = await asker.ask({ ...asked, ...nonsense });
  if (together.kind === 'unasked')
    return { limit: { kind: 'unknown', why: noRequestLeft }, reaction: undefined };
  if (isLimited(together)) return { limit: honoured(name, wanted), reaction: 'ignores' };
  if (together.kind === 'page' && together.count >= count) {
    const ignored = { kind: 'ignored', name, evidence: brought(`${name}=${wanted}`, count) } as const;
    const found = others ? await narrow(asker, count, namesBut(name)) : undefined;
    return { limit: found ?? ignored, reaction: 'ignores' };
  }
  const reaction = together.kind === 'rejected' ? 'rejects' : 'filters';
  const alone = await asker.ask(asked);
  if (isLimited(alone)) return { limit: honoured(name, wanted), reaction };
  for (const other of others ? oneByOne(name) : []) {
    const companions = companionsOf(other);
    if (isLimited(await asker.ask({ ...companions, [other]: String(wanted) }))) {
      return { limit: honoured(other, wanted, companions), reaction };
    }
  }
  return { limit: withoutEffect(name, wanted, alone, count), reaction };
}

function withoutEffect(name: string, wanted: number, seen: Seen, count: number): LimitFinding {
  const asked = `${name}=${wanted}`;
  if (seen.kind !== 'page') return withoutPage(seen, name, asked);
  const evidence = brought(asked, seen.count);
  if (seen.count === 0) return { kind: 'filtered', name, evidence };
  return seen.count >= count ? { kind: 'ignored', name, evidence } : { kind: 'unknown', why: evidence };
}

const brought = (asked: string, count: number): DialectEvidence => ({ kind: 'brought', asked, count });

/** What is found of a parameter where no page was answered. */
export function withoutPage(
  seen: Exclude<Seen, SeenPage>,
  name: string,
  asked: string,
): Extract<LimitFinding, { kind: 'unknown' | 'rejected' }> {
  if (seen.kind === 'unasked') return { kind: 'unknown', why: noRequestLeft };
  const status = seen.status ?? seen.message;
  if (Number(status) >= 500)
    return { kind: 'unknown', why: { kind: 'answered-with-failure', asked, status } };
  return { kind: 'rejected', name, evidence: { kind: 'parameter-rejected', asked, status } };
}

async function narrow(
  asker: DialectAsker,
  count: number,
  names: readonly string[],
): Promise<LimitFinding | undefined> {
  const values = Array.from({ length: Math.min(count - 1, names.length) }, (_, i) => i + 1);
  const found = await findHonouredName<number>({
    ...{
      asker,
      names,
      values,
      textOf: String,
      base: names.includes('_per_page') ? companionsOf('_per_page') : {},
    },
    read: (seen) => {
      if (seen.count === 0) return { kind: 'unclear' };
      return values.includes(seen.count) ? { kind: 'value', value: seen.count } : { kind: 'nothing' };
    },
  });
  if (found.kind !== 'found') return undefined;
  // Alone, and with another number: what the others do beside it does not count.
  const wanted = found.value === 1 && count > 2 ? 2 : 1;
  const companions = companionsOf(found.name);
  const alone = await asker.ask({ ...companions, [found.name]: String(wanted) });
  const isProven = alone.kind === 'page' && alone.count === wanted;
  return isProven ? honoured(found.name, wanted, companions) : undefined;
}

const honoured = (name: string, wanted: number, companions: Query = {}): LimitFinding => ({
  kind: 'honoured',
  name,
  companions,
  evidence: brought(`${name}=${wanted}`, wanted),
});

const namesBut = (name: string): readonly string[] =>
  numberParams.limit.usual.filter((other) => other !== name);

/** Those first that services have which take other names for fields of a lead. */
const oneByOne = (name: string): readonly string[] => {
  const first = ['$limit', '_limit', '_per_page', 'per_page', 'page_size', 'pageSize', 'first'];
  return [...first, ...namesBut(name).filter((other) => !first.includes(other))].slice(0, mostAlone);
};

export const tooFew = (count: number): DialectEvidence => ({ kind: 'leads-listed-few', count });
export const noRequestLeft = { kind: 'no-request-for-it' } as const;

/** The longest page from the front of the list, which later answers are compared with. */
export interface Reference {
  readonly page: SeenPage;
  /** What it was asked with. */
  readonly query: Query;
  /** The size that was asked for; undefined: none. */
  readonly asked: number | undefined;
  /** The smallest size that was rejected, and how. */
  readonly rejected: { readonly size: number; readonly status: number | undefined } | undefined;
}

const largest = 1000;
/** After a first rejection, a size is looked for in these, from the middle on. */
const usualCaps = [10, 20, 25, 50, 100, 200, 250, 500];

/** Reads as long a page as the service gives. */
export async function readLargestPage(
  asker: DialectAsker,
  first: SeenPage,
  limit: LimitFinding,
): Promise<Reference> {
  const plain: Reference = { page: first, query: {}, asked: undefined, rejected: undefined };
  if (limit.kind !== 'honoured') return plain;
  const { name, companions } = limit;
  const ask = async (
    size: number,
  ): Promise<Reference | { status: number | undefined; error?: LeadsError }> => {
    const query = { ...companions, [name]: String(size) };
    const seen = await asker.ask(query);
    if (seen.kind === 'page' && seen.count > 0)
      return { page: seen, query, asked: size, rejected: undefined };
    return seen.kind === 'rejected' ? seen : { status: undefined };
  };
  const whole = await ask(largest);
  if ('page' in whole) return whole;
  if (whole.status === undefined) return plain;
  let rejected = { size: largest, status: whole.status as number | undefined };
  let best: Reference | undefined;
  const named = namedSizes(whole.error);
  let candidates = [...new Set([...usualCaps, ...named])].toSorted((a, b) => a - b);
  let next = named[0] ?? 100;
  while (asker.left > 12) {
    const one = await ask(next);
    if ('page' in one) best = one;
    else rejected = { size: next, status: one.status };
    const [low, high] = [best?.asked ?? 0, rejected.size];
    candidates = candidates.filter((size) => size > low && size < high);
    const middle = candidates[Math.floor(candidates.length / 2)];
    if (middle === undefined) break;
    next = middle;
  }
  return { ...(best ?? plain), rejected };
}

/** Numbers in the service's own words about an error, which may be the largest size. */
function namedSizes(error: LeadsError | undefined): number[] {
  const { reason } = (error?.problem ?? {}) as { readonly reason?: string };
  return ((reason ?? '').match(/\b\d{1,3}\b/g) ?? [])
    .map(Number)
    .filter((size) => size > 0 && size !== 400 && size !== 422);
}
