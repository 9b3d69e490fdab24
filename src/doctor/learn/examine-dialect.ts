import { DataError, LeadsError } from '../../errors.ts';
import type { Service } from '../../service/client/service.ts';
import { numberParams } from '../../service/pagers/names.ts';
import { formatDuration } from '../../time/time-text.ts';
import { type CheckResult, pass, skip, warn } from '../check-result.ts';
import type { ClockSight } from '../service-connection.ts';
import { Asker, type Examination, learn, type LearntKey, type SeenPage, type Walked } from './asker.ts';
import { findFilters } from './find-filters.ts';
import { findName, type NameFinding, type Trial } from './find-name.ts';
import { findPaging } from './find-paging.ts';
import { idFieldsOf, keysOf } from './seen-leads.ts';

/** What the service turned out to be. */
export type DialectReport =
  | (ClockSight & {
      readonly kind: 'examined';
      readonly requests: number;
      readonly checks: readonly CheckResult[];
      /** Keys of the dialect that the answers prove. */
      readonly keys: readonly LearntKey[];
    })
  /** The service could not be asked, or its answer holds no leads. */
  | (ClockSight & { readonly kind: 'failed'; readonly error: LeadsError });

/**
 * Asks the list operation at most 25 times, and tells what it does. With `isLearning` other names of parameters are tried
 * than those in force, and it is found out anew how pages follow each other.
 */
export async function examineDialect(service: Service, isLearning: boolean): Promise<DialectReport> {
  const asker = new Asker(service);
  const examination: Examination = { asker, inForce: service.dialect, isLearning, checks: [], keys: [] };
  try {
    await examine(examination);
    const { requests, drift } = asker;
    return { kind: 'examined', requests, drift, isReached: true, ...examination };
  } catch (error) {
    if (service.signal.aborted || !(error instanceof LeadsError)) throw error;
    return { kind: 'failed', error, drift: asker.drift, isReached: asker.isReached };
  }
}

async function examine(examination: Examination): Promise<void> {
  const { asker, isLearning, checks } = examination;
  const first = await readFirst(examination);
  checks.push(checkEnvelope(first, asker));
  const limit = await findLimit(examination, first);
  const { items } = asker;
  if (first.leads.length > 0) learn(examination, 'items', items, `${first.leads.length} leads came there`);
  if (isLearning) asker.set({ items, pagination: 'auto', next: 'auto', pageSize: undefined });
  if (isLearning && limit.effect === 'honoured') asker.set({ params: { limit: limit.name } });
  if (isLearning && limit.effect === 'harmful') asker.set({ params: { limit: null } });
  const asFound = await asker.walk(asker.dialect);
  const [page = first.leads] = asFound.pages;
  const longest = page.length < first.leads.length ? first.leads : page;
  const walked = await findPaging({ examination, limit, first, walked: asFound, front: keysOf(longest) });
  checkPageSize(examination, limit, walked);
  const pageSize = page.length;
  const query = limit.effect === 'honoured' ? { [limit.name]: String(pageSize) } : {};
  const known = walked.pages.length > 0 ? walked.pages.flat() : page;
  await findFilters({ examination, known, pageSize, query });
  checks.push(checkRate(asker));
}

/** The list without any parameter. Throws a `DataError` where that is no page. */
async function readFirst(examination: Examination): Promise<SeenPage> {
  const { asker, isLearning } = examination;
  let seen = await asker.ask({});
  if (seen.kind === 'rejected' && isLearning && seen.error.status === undefined) {
    asker.set({ items: 'auto' });
    seen = await asker.ask({});
  }
  if (seen.kind === 'rejected') throw seen.error;
  if (seen.kind === 'unasked') throw new DataError('no request was left');
  const [id, ...others] = idFieldsOf(seen.leads);
  if (!isLearning || seen.leads.every(({ hasId }) => hasId) || id === undefined || others.length > 0)
    return seen;
  learn(examination, 'id', id, `no lead has an id, and each another ${id}`);
  asker.set({ id });
  const reread = await asker.ask({});
  return reread.kind === 'page' ? reread : seen;
}

function checkEnvelope({ leads }: SeenPage, { items, dialect: { id = 'id' } }: Asker): CheckResult {
  const name = 'dialect.envelope';
  const place = items === '' ? 'the answer is the array' : `the leads are at ${items}`;
  if (leads.length === 0)
    return warn(name, `${place}, and there is none`, 'run it again when there are leads');
  if (leads.every(({ hasId }) => hasId))
    return pass(name, `${place}, ${leads.length} without asking for more`);
  const missing = `${place}, and some have no usable '${id}'`;
  const [first, second] = idFieldsOf(leads);
  const set = `leads config set api.id ${first ?? '…'}`;
  if (first === undefined) return warn(name, missing, `name their id: ${set}`);
  if (second === undefined)
    return warn(name, `${missing}; each has another ${first}`, `if that is it: ${set}`);
  const hint = `decide: ${set}, or leads config set api.id ${second}`;
  return warn(name, `${missing}; ${first} and ${second} both fit`, hint);
}

/** Where a service answers to many names with no leads, or with an error, these are tried one by one. */
const likelyLimits = ['per_page', '$limit', '_limit'];

/** Finds the parameter that sets the number of leads. */
async function findLimit({ asker, isLearning }: Examination, { leads }: SeenPage): Promise<NameFinding> {
  const { limit: inForce = 'limit', isLimitGuessed } = asker.params;
  const trials = leads.slice(1).map((_, i): Trial => {
    const size = i + 1;
    const fits: Trial['fits'] = (page) => page.length === size;
    const wanted = size === 1 ? '1 lead' : `${size} leads`;
    return { text: String(size), fits, expected: keysOf(leads.slice(0, 1)), wanted };
  });
  const search = { asker, query: {}, without: leads, trials };
  const names = new Set([inForce, ...likelyLimits, ...numberParams.limit.usual]);
  if (isLearning && isLimitGuessed) return findName(search, [...names]);
  const set = await findName(search, [inForce]);
  return set.effect === 'honoured' || !isLearning ? set : findName(search, [...names]);
}

/** How many leads the service gives at once, at most. */
function checkPageSize(examination: Examination, limit: NameFinding, { pages, completion }: Walked): void {
  const { checks } = examination;
  const name = 'dialect.page-size';
  const { effect, evidence } = limit;
  const [{ length: cap } = []] = pages;
  if (effect === 'honoured') learn(examination, 'params.limit', limit.name, evidence);
  if (effect === 'harmful') learn(examination, 'params.limit', null, evidence);
  if (effect === 'harmful')
    checks.push(warn(name, `${evidence}: it must not be sent`, 'leads config set api.params.limit null'));
  else if (effect === 'ignored') checks.push(warn(name, `${limit.name} is ignored: ${evidence}`));
  else if (effect !== 'honoured') checks.push(skip(name, evidence));
  else if (pages.length > 1 && cap < largestSize) {
    const seen = `${limit.name}=${largestSize} brought ${cap} leads, and there are more`;
    learn(examination, 'page-size', cap, seen);
    checks.push(pass(name, `${cap} a page: ${seen}`));
  } else if (pages.length > 1) checks.push(pass(name, `${limit.name}, ${cap} a page and perhaps more`));
  else if (completion === undefined) checks.push(pass(name, `${limit.name}: ${evidence}`));
  else checks.push(pass(name, `${limit.name}; all ${cap} leads came at once, so no cap shows`));
}

/** An export asks for so many leads at once unless told otherwise. */
const largestSize = 1000;

function checkRate({ isRefused, waitMs, requests, headers }: Asker): CheckResult {
  const name = 'dialect.rate-limit';
  if (isRefused) {
    const when = waitMs > 0 ? `in ${formatDuration(waitMs)}` : 'later';
    const detail = `reached after ${requests} requests, which ended the questions`;
    return warn(name, detail, `run it again ${when}, when requests are allowed again`);
  }
  const names = Object.keys(headers).filter((header) => /^(x-)?rate-?limit/.test(header));
  if (names.length === 0) return pass(name, 'no header tells of one');
  const [limit] = /^\d+/.exec(headers[names.find((header) => header.endsWith('-limit')) ?? ''] ?? '') ?? [];
  return pass(name, `${limit === undefined ? 'told' : `${limit} requests`} (${names.join(', ')})`);
}
