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

/** The result of an examination. */
export interface DialectReport extends ClockSight {
  /** The service could not be asked, or its answer holds no leads. */
  readonly error?: LeadsError;
  readonly requests: number;
  readonly checks: readonly CheckResult[];
  /** Keys of the dialect that the answers prove. */
  readonly keys: readonly LearntKey[];
}

/**
 * Asks the list operation at most 25 times, and tells what it does. With `isLearning` other names of parameters are tried
 * than those in force, and how pages follow each other is examined whatever is set.
 */
export async function examineDialect(service: Service, isLearning: boolean): Promise<DialectReport> {
  const asker = new Asker(service);
  const examination: Examination = { asker, isLearning, checks: [], keys: [] };
  try {
    await examine(examination);
  } catch (error) {
    if (service.signal.aborted || !(error instanceof LeadsError)) throw error;
    const { drift, isReached } = asker;
    return { error, requests: 0, drift, isReached, checks: [], keys: [] };
  }
  const { requests, drift, isReached } = asker;
  return { requests, drift, isReached, ...examination };
}

async function examine(examination: Examination): Promise<void> {
  const { asker, isLearning, checks } = examination;
  const first = await readFirst(examination);
  checks.push(checkEnvelope(first, asker));
  const limit = await findLimit(examination, first);
  // Some services wrap their leads in another way where a limit is sent.
  const { items } = asker;
  if (first.leads.length > 0) learn(examination, 'items', items, `${first.leads.length} leads came there`);
  const isSized = limit.effect === 'honoured';
  if (isLearning) asker.set({ items, pagination: 'auto', next: 'auto', pageSize: undefined });
  if (isLearning && isSized) asker.set({ params: { limit: limit.name } });
  if (isLearning && limit.effect === 'harmful') asker.set({ params: { limit: null } });
  const walked = await findPaging(examination, limit, first);
  checkPageSize(examination, limit, walked);
  const [page = first.leads] = walked.pages;
  const known = walked.pages.length > 0 ? walked.pages.flat() : page;
  const query = isSized ? { [limit.name]: String(page.length) } : {};
  await findFilters({ examination, known, pageSize: page.length, query });
  checks.push(...checkRate(asker));
}

/** The list without any parameter. Throws a `DataError` where that is no page. */
async function readFirst(examination: Examination): Promise<SeenPage> {
  const { asker, isLearning } = examination;
  let seen = await asker.ask({});
  if (seen instanceof Error && isLearning && seen.status === undefined) {
    asker.set({ items: 'auto' });
    seen = await asker.ask({});
  }
  if (seen instanceof Error) throw seen;
  if (seen === undefined) throw new DataError('no request was left');
  const [id, ...others] = idFieldsOf(seen.leads);
  if (!isLearning || seen.leads.every(({ hasId }) => hasId) || id === undefined || others.length > 0)
    return seen;
  learn(examination, 'id', id, `no lead has an id, and each another ${id}`);
  asker.set({ id });
  const reread = await asker.ask({});
  return reread === undefined || reread instanceof Error ? seen : reread;
}

function checkEnvelope({ leads }: SeenPage, { items, dialect: { id = 'id' } }: Asker): CheckResult {
  const name = 'dialect.envelope';
  const place = items === '' ? 'the answer is the array' : `the leads are at ${items}`;
  if (leads.length === 0)
    return warn(name, `${place}, and there is none`, 'run it again when there are leads');
  if (leads.every(({ hasId }) => hasId))
    return pass(name, `${place}, ${leads.length} without asking for more`);
  const commands = idFieldsOf(leads).map((field) => `leads config set api.id ${field}`);
  const hint = `name their id: ${commands.join(', or ') || 'leads config set api.id …'}`;
  return warn(name, `${place}, and some have no usual '${id}'`, hint);
}

/** These are tried one by one where a service answers many names with no leads, or with an error. */
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
function checkPageSize(examination: Examination, limit: NameFinding, { pages }: Walked): void {
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
  } else checks.push(pass(name, `${limit.name}: ${evidence}`));
}

/** An export asks for so many leads at once unless told otherwise. */
const largestSize = 1000;

/** A rate limit that lasts ends the questions. */
function checkRate({ isRefused, waitMs, requests }: Asker): CheckResult[] {
  if (!isRefused) return [];
  const when = waitMs > 0 ? `in ${formatDuration(waitMs)}` : 'later';
  const detail = `reached after ${requests} requests, which ended the questions`;
  return [warn('dialect.rate-limit', detail, `run it again ${when}, when requests are allowed again`)];
}
