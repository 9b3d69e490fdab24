import { DataError, LeadsError } from '../../errors.ts';
import { isObject } from '../../json/exact.ts';
import type { Service } from '../../service/client/service.ts';
import { numberParams } from '../../service/pagers/names.ts';
import { formatDuration } from '../../time/time-text.ts';
import { type CheckResult, pass, skip, warn } from '../check-result.ts';
import { Examination, keysOf, type SeenLead, type SeenPage, type Walked } from './examination.ts';
import { findFilters } from './find-filters.ts';
import { findName, type NameFinding, type Trial } from './find-name.ts';
import { findPaging } from './find-paging.ts';

export type DialectReport = Readonly<
  Pick<Examination, 'error' | 'requests' | 'checks' | 'keys' | 'drift' | 'isReached'>
>;

/**
 * Asks the list operation at most 25 times, and reports what it does. With `isLearning` other names of parameters are tried
 * than those in force, and how pages follow each other is examined whatever is set.
 */
export async function examineDialect(service: Service, isLearning: boolean): Promise<DialectReport> {
  const examination = new Examination(service, isLearning);
  try {
    await examine(examination);
  } catch (error) {
    if (service.signal.aborted || !(error instanceof LeadsError)) throw error;
    examination.error = error;
  }
  return examination;
}

async function examine(examination: Examination): Promise<void> {
  const { isLearning, checks } = examination;
  const first = await readFirst(examination);
  checks.push(checkEnvelope(first, examination));
  const limit = await findLimit(examination, first);
  // Some services wrap their leads in another way where a limit is sent.
  const { items } = examination;
  if (first.leads.length > 0) examination.learn('items', items, `${first.leads.length} leads came there`);
  const isSized = limit.effect === 'honoured';
  if (isLearning) examination.set({ items, pagination: 'auto', next: 'auto', pageSize: undefined });
  if (isLearning && isSized) examination.set({ params: { limit: limit.name } });
  if (isLearning && limit.effect === 'harmful') examination.set({ params: { limit: null } });
  const walked = await findPaging(examination, limit, first);
  checkPageSize(examination, limit, walked);
  const pages = walked.pages.length > 0 ? walked.pages : [first.leads];
  const [page = []] = pages;
  const query = isSized ? { [limit.name]: String(page.length) } : {};
  await findFilters({ examination, leads: pages.flat(), pageSize: page.length, query });
  checkRate(examination);
}

/** The list without any parameter. Throws a `DataError` where that is no page. */
async function readFirst(examination: Examination): Promise<SeenPage> {
  const { isLearning } = examination;
  let page = await examination.ask({});
  if (page instanceof Error && isLearning && page.status === undefined) {
    examination.set({ items: 'auto' });
    page = await examination.ask({});
  }
  if (page instanceof Error) throw page;
  if (page === undefined) throw new DataError('no request was left');
  const [id, ...more] = idFieldsOf(page.leads);
  if (!isLearning || page.leads.every(({ hasId }) => hasId) || id === undefined || more.length > 0)
    return page;
  examination.learn('id', id, `no lead has an id, and each another ${id}`);
  examination.set({ id });
  const reread = await examination.ask({});
  return reread === undefined || reread instanceof Error ? page : reread;
}

const idNames = ['_id', 'leadId', 'lead_id', 'uuid', 'guid', 'key', 'reference', 'externalId', 'external_id'];

/** Fields with usual names that hold another text or integer in every lead: where there is no `id`, one may be it. */
function idFieldsOf(leads: readonly SeenLead[]): string[] {
  if (leads.length < 2) return [];
  return idNames.filter((name) => {
    const values = leads.map(({ record }) => (isObject(record) ? record[name] : undefined));
    const isUsable = values.every((value) => (typeof value === 'string' && value) || Number.isInteger(value));
    return isUsable && new Set(values).size === values.length;
  });
}

function checkEnvelope({ leads }: SeenPage, { items, dialect: { id = 'id' } }: Examination): CheckResult {
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

async function findLimit(examination: Examination, { leads }: SeenPage): Promise<NameFinding> {
  const { isLearning, params } = examination;
  const { limit: inForce = 'limit', isLimitGuessed } = params;
  const trials = leads.slice(1).map((_, i): Trial => {
    const size = i + 1;
    const fits: Trial['fits'] = (page) => page.length === size;
    const description = size === 1 ? '1 lead' : `${size} leads`;
    return { text: String(size), fits, expected: keysOf(leads.slice(0, 1)), description };
  });
  const search = { query: {}, baseline: leads, trials };
  const names = [...new Set([inForce, ...likelyLimits, ...numberParams.limit.tried])];
  if (isLearning && isLimitGuessed) return findName(examination, search, names);
  const finding = await findName(examination, search, [inForce]);
  return finding.effect === 'honoured' || !isLearning ? finding : findName(examination, search, names);
}

function checkPageSize(examination: Examination, limit: NameFinding, { pages }: Walked): void {
  const { checks } = examination;
  const check = 'dialect.page-size';
  const { effect, evidence, name } = limit;
  const [{ length: cap } = []] = pages;
  if (effect === 'honoured') examination.learn('params.limit', name, evidence);
  if (effect === 'harmful') {
    examination.learn('params.limit', null, evidence);
    checks.push(warn(check, `${evidence}: it must not be sent`, 'leads config set api.params.limit null'));
  } else if (effect === 'ignored') checks.push(warn(check, `${name} is ignored: ${evidence}`));
  else if (effect !== 'honoured') checks.push(skip(check, evidence));
  else if (pages.length > 1 && cap < largestSize) {
    const detail = `${name}=${largestSize} brought ${cap} leads, and there are more`;
    examination.learn('page-size', cap, detail);
    checks.push(pass(check, `${cap} a page: ${detail}`));
  } else checks.push(pass(check, `${name}: ${evidence}`));
}

/** An export asks for so many leads at once unless told otherwise. */
const largestSize = 1000;

function checkRate({ isRefused, waitMs, requests, checks }: Examination): void {
  if (!isRefused) return;
  const end = waitMs > 0 ? `in ${formatDuration(waitMs)}` : 'later';
  const detail = `reached after ${requests} requests, which ended the questions`;
  checks.push(warn('dialect.rate-limit', detail, `run it again ${end}, when requests are allowed again`));
}
