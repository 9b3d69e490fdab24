import type { DialectAsker, Query } from '../dialect-asker.ts';
import { usualNames } from '../parameter-names.ts';
import type { Seen, SeenPage } from '../seen-page.ts';
import { narrowNames, type Shown } from '../narrow-names.ts';

/** What a service does with a parameter that it does not know. */
export type Reaction = 'ignores' | 'rejects' | 'filters';

export type LimitFinding =
  | {
      readonly kind: 'honoured';
      readonly name: string;
      /** Without these the service does not understand it. */
      readonly companions: Query;
      readonly evidence: string;
    }
  | { readonly kind: 'ignored' | 'rejected' | 'filtered'; readonly name: string; readonly evidence: string }
  | { readonly kind: 'unknown'; readonly why: string };

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
    const ignored = { kind: 'ignored', name, evidence: `${name}=${wanted} brought ${count} leads` } as const;
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
  if (seen.kind === 'unasked') return { kind: 'unknown', why: noRequestLeft };
  if (seen.kind === 'rejected' && (seen.status ?? 0) >= 500)
    return { kind: 'unknown', why: `${asked} was answered ${seen.status}` };
  if (seen.kind === 'rejected')
    return { kind: 'rejected', name, evidence: `${asked} was rejected (${seen.status ?? seen.message})` };
  if (seen.count === 0) return { kind: 'filtered', name, evidence: `${asked} brought no lead` };
  if (seen.count >= count) return { kind: 'ignored', name, evidence: `${asked} brought ${seen.count} leads` };
  return { kind: 'unknown', why: `${asked} brought ${seen.count} leads` };
}

async function narrow(
  asker: DialectAsker,
  count: number,
  names: readonly string[],
): Promise<LimitFinding | undefined> {
  const values = Array.from({ length: Math.min(count - 1, names.length) }, (_, i) => i + 1);
  const found = await narrowNames(
    names,
    values,
    async (sent): Promise<Shown<number>> => {
      const query = Object.fromEntries([...sent].map(([name, value]) => [name, String(value)]));
      const seen = await asker.ask({ ...(sent.has('_per_page') ? companionsOf('_per_page') : {}), ...query });
      if (seen.kind === 'unasked') return seen;
      if (seen.kind === 'rejected' || seen.count === 0) return { kind: 'unclear' };
      return values.includes(seen.count) ? { kind: 'value', value: seen.count } : { kind: 'nothing' };
    },
    asker,
  );
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
  evidence: `${name}=${wanted} brought ${wanted} lead${wanted === 1 ? '' : 's'}`,
});

const namesBut = (name: string): readonly string[] => usualNames.limit.filter((other) => other !== name);

/** Those first that services have which take other names for fields of a lead. */
const oneByOne = (name: string): readonly string[] => {
  const first = ['$limit', '_limit', '_per_page', 'per_page', 'page_size', 'pageSize', 'first'];
  return [...first, ...namesBut(name).filter((other) => !first.includes(other))].slice(0, mostAlone);
};

export const tooFew = (count: number): string =>
  count === 0 ? 'the service lists no lead' : 'the service lists one lead only';
export const noRequestLeft = 'no request was left for it, or none got through';
