import { numberParams } from '../../service/pagers/names.ts';
import type { DialectEvidence } from '../problems.ts';
import type { Asker, Query, Seen, SeenPage, Walked } from './asker.ts';
import { findName } from './find-name.ts';
import { isRefused, noRequest, refusalOf, type Report } from './report.ts';

/** Which parameter sets the number of leads. */
export interface FoundLimit {
  /** `harmful`: it must not be sent; `unknown`: it was not found out. */
  readonly kind: 'honoured' | 'ignored' | 'harmful' | 'unknown';
  readonly name: string;
  readonly evidence: DialectEvidence;
  readonly ignoresUnknown: boolean;
}

/** No service has this parameter. */
const nonsense: Query = { leads_doctor: '1' };
/** Names that are tried one by one where a service does not ignore what it does not know; of such services, these first. */
const mostAlone = 5;
const likelyAlone = ['per_page', '$limit', '_limit', 'page_size', 'pageSize'];

const isOf = (seen: Seen, count: number): boolean => seen.kind === 'page' && seen.count === count;

export async function findLimit(asker: Asker, { count }: SeenPage, isLearning: boolean): Promise<FoundLimit> {
  const inForce = asker.params.limit ?? 'limit';
  const size = count > 3 ? 3 : 1;
  const foundAs = (
    kind: FoundLimit['kind'],
    ignoresUnknown: boolean,
    evidence: DialectEvidence = { kind: 'brought', asked: `${inForce}=${size}`, count: size },
    name = inForce,
  ): FoundLimit => ({ kind, name, evidence, ignoresUnknown });
  if (count < 2) return foundAs('unknown', false, { kind: 'leads-listed-few', count });
  const asked = { [inForce]: String(size) };
  const beside = await asker.ask({ ...asked, ...nonsense });
  if (beside.kind === 'unasked') return foundAs('unknown', false, noRequest);
  if (isOf(beside, size)) return foundAs('honoured', true);
  const isIgnored = beside.kind === 'page' && beside.count >= count;
  const seen = isIgnored ? beside : await asker.ask(asked);
  if (isOf(seen, size)) return foundAs('honoured', false);
  const others = isLearning ? numberParams.limit.usual.filter((name) => name !== inForce) : [];
  const honoured = isIgnored ? await findAmong(asker, others, count) : await findAlone(asker, others, size);
  if (honoured !== undefined) {
    const [name, brought] = honoured;
    const evidence = { kind: 'brought', asked: `${name}=${brought}`, count: brought } as const;
    return foundAs('honoured', isIgnored, evidence, name);
  }
  if (seen.kind !== 'page') {
    const evidence = seen.kind === 'unasked' ? noRequest : refusalOf(`${inForce}=${size}`, seen);
    return foundAs(isRefused(seen) ? 'harmful' : 'unknown', false, evidence);
  }
  const evidence = { kind: 'brought', asked: `${inForce}=${size}`, count: seen.count } as const;
  return foundAs(
    seen.count >= count ? 'ignored' : seen.count === 0 ? 'harmful' : 'unknown',
    isIgnored,
    evidence,
  );
}

type NamedSize = readonly [name: string, size: number];

async function findAmong(
  asker: Asker,
  names: readonly string[],
  count: number,
): Promise<NamedSize | undefined> {
  if (names.length === 0) return undefined;
  const sizes = Array.from({ length: Math.min(count - 1, names.length) }, (_, i) => i + 1);
  const found = await findName(names, sizes, async (sent) => {
    const seen = await asker.ask(Object.fromEntries([...sent].map(([name, size]) => [name, String(size)])));
    if (seen.kind === 'unasked') return 'unasked';
    if (seen.kind === 'rejected' || seen.count === 0) return 'unclear';
    return sizes.includes(seen.count) ? { value: seen.count } : 'nothing';
  });
  if (typeof found === 'string') return undefined;
  // Alone, and with another number: what the others do beside it does not count.
  return findAlone(asker, [found.name], found.value === 1 && count > 2 ? 2 : 1);
}

async function findAlone(
  asker: Asker,
  names: readonly string[],
  size: number,
): Promise<NamedSize | undefined> {
  const likely = likelyAlone.filter((name) => names.includes(name));
  for (const name of [...new Set([...likely, ...names])].slice(0, mostAlone))
    if (isOf(await asker.ask({ [name]: String(size) }), size)) return [name, size];
  return undefined;
}

/** The longest page from the front of the list, which later answers are compared with. */
export interface Reference {
  readonly page: SeenPage;
  readonly query: Query;
  /** The size that was asked for; undefined: none. */
  readonly size: number | undefined;
  /** The smallest size that was rejected, and how. */
  readonly rejected: { readonly size: number; readonly status: number | undefined } | undefined;
}

const largest = 1000;
/** Where that is rejected, a size is looked for in these. */
const usualCaps = [10, 20, 25, 50, 100, 200, 250, 500];

/** Reads as long a page as the service gives. */
export async function readLargestPage(asker: Asker, first: SeenPage, limit: FoundLimit): Promise<Reference> {
  let best: Reference = { page: first, query: {}, size: undefined, rejected: undefined };
  if (limit.kind !== 'honoured') return best;
  let rejected: Reference['rejected'];
  let candidates = usualCaps;
  for (let size: number | undefined = largest; size !== undefined && asker.left > 12;) {
    const query = { [limit.name]: String(size) };
    const seen = await asker.ask(query);
    if (seen.kind === 'unasked') break;
    if (seen.kind === 'page' && seen.count > 0) best = { page: seen, query, size, rejected };
    else rejected = { size, status: seen.kind === 'rejected' ? seen.error.status : undefined };
    if (best.size === largest) break;
    const [low, high] = [best.size ?? 0, rejected?.size ?? largest];
    candidates = candidates.filter((one) => one > low && one < high);
    size = candidates[Math.floor(candidates.length / 2)];
  }
  return { ...best, rejected };
}

/** How many leads the service gives at once, at most; `walked` asked for as many as `reference`. */
export function reportPageSize(
  report: Report,
  { kind, name, evidence }: FoundLimit,
  { page: { count }, size, rejected }: Reference,
  { pages, completion }: Walked,
): void {
  const add = report.add.bind(report, 'page-size');
  if (kind === 'harmful') report.learn('params.limit', null, evidence);
  if (kind === 'honoured') report.learn('params.limit', name, evidence);
  const addCap = (cap: number, why: DialectEvidence): void => {
    report.learn('page-size', cap, why);
    add('pass', { kind: 'page-cap', size: cap, evidence: why });
  };
  if (kind === 'unknown') add('skip', evidence);
  else if (kind === 'harmful') add('warn', { kind: 'limit-harmful', evidence });
  else if (kind === 'ignored') add('warn', { kind: 'limit-ignored', name, evidence });
  else if (size === undefined) add('pass', { kind: 'limit-honoured', name, evidence });
  else if (rejected !== undefined) addCap(size, { kind: 'size-rejected', name, ...rejected, taken: size });
  else if (count >= size) add('pass', { kind: 'page-cap-unknown', name, size });
  else if (pages.length > 1) addCap(count, { kind: 'brought-part', asked: `${name}=${size}`, count });
  else if (completion === undefined) add('pass', { kind: 'limit-honoured', name, evidence });
  else add('pass', { kind: 'page-cap-unreached', name, count });
}
