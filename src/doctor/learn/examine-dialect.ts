import { ConfigError, DataError, LeadsError } from '../../errors.ts';
import { isObject } from '../../json/exact.ts';
import type { Service } from '../../service/client/service.ts';
import { numberParams } from '../../service/pagers/names.ts';
import { formatDuration } from '../../time/time-text.ts';
import { type CheckResult, fail, pass, skip, warn } from '../check-result.ts';
import { Examination, keysOf, type SeenLead, type SeenPage, type ShortWalk } from './examination.ts';
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
  const first = await readFirstPage(examination);
  checks.push(checkEnvelope(first, examination));
  const limit = await findLimit(examination, first);
  // Read only now: some services wrap their leads in another way where a limit is sent.
  const { items } = examination;
  if (first.leads.length > 0)
    examination.addLearntKey('items', items, `${first.leads.length} leads came there`);
  const isLimitHonoured = limit.effect === 'honoured';
  if (isLearning) examination.changeDialect({ items, pagination: 'auto', next: 'auto', pageSize: undefined });
  if (isLearning && isLimitHonoured) examination.changeDialect({ params: { limit: limit.name } });
  if (isLearning && limit.effect === 'harmful') examination.changeDialect({ params: { limit: null } });
  const walk = await findPaging(examination, limit, first);
  checkPageSize(examination, limit, walk);
  const pages = walk.pages.length > 0 ? walk.pages : [first.leads];
  const [page = []] = pages;
  const query = isLimitHonoured ? { [limit.name]: String(page.length) } : {};
  await findFilters({ examination, leads: pages.flat(), pageSize: page.length, query });
  checkRate(examination);
}

/**
 * Reads the list without any parameter, and when learning finds out where its leads and their ids are. Throws a `DataError` where
 * the answer is no page.
 */
async function readFirstPage(examination: Examination): Promise<SeenPage> {
  const { isLearning } = examination;
  let page = await examination.ask({});
  const isWrongPlace = page instanceof Error && page.status === undefined;
  if (isWrongPlace && isLearning) {
    examination.changeDialect({ items: 'auto' });
    page = await examination.ask({});
  }
  if (page instanceof Error) throw page;
  if (page === undefined) throw new DataError('no request was left');
  const [id, ...furtherFields] = idFieldsOf(page.leads);
  const isIdMissing = page.leads.some(({ hasId }) => !hasId);
  if (!isLearning || !isIdMissing || id === undefined || furtherFields.length > 0) return page;
  examination.addLearntKey('id', id, `no lead has an id, and each another ${id}`);
  examination.changeDialect({ id });
  const reread = await examination.ask({});
  return reread === undefined || reread instanceof Error ? page : reread;
}

const idNames = ['_id', 'leadId', 'lead_id', 'uuid', 'guid', 'key', 'reference', 'externalId', 'external_id'];

/** The fields, of usual names, that may be the id of leads without an `id`: each lead has another text or integer there. */
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
  // Every size that is smaller than the page may be honoured: a request for so many leads brings fewer of them.
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

function checkPageSize(examination: Examination, limit: NameFinding, { pages }: ShortWalk): void {
  const { checks } = examination;
  const check = 'dialect.page-size';
  const { effect, evidence, name } = limit;
  if (effect === 'harmful') {
    examination.addLearntKey('params.limit', null, evidence);
    checks.push(warn(check, `${evidence}: it must not be sent`, 'leads config set api.params.limit null'));
  } else if (effect === 'ignored') checks.push(warn(check, `${name} is ignored: ${evidence}`));
  else if (effect !== 'honoured') checks.push(skip(check, evidence));
  else {
    examination.addLearntKey('params.limit', name, evidence);
    const [{ length: largestPage } = []] = pages;
    const isCapped = pages.length > 1 && largestPage < exportSize;
    const detail = `${name}=${exportSize} brought ${largestPage} leads, and there are more`;
    if (isCapped) examination.addLearntKey('page-size', largestPage, detail);
    checks.push(pass(check, isCapped ? `${largestPage} a page: ${detail}` : `${name}: ${evidence}`));
  }
}

/** The page size that an export asks for where none is set. */
const exportSize = 1000;

function checkRate({ isRateLimited, waitMs, requests, checks }: Examination): void {
  if (!isRateLimited) return;
  const end = waitMs > 0 ? `in ${formatDuration(waitMs)}` : 'later';
  const detail = `reached after ${requests} requests, which ended the questions`;
  checks.push(warn('dialect.rate-limit', detail, `run it again ${end}, when requests are allowed again`));
}

export const dialectChecks = 'envelope pagination page-size status category since until'
  .split(' ')
  .map((name) => `dialect.${name}`);

/** The checks of the dialect where this error ended the examination. */
export function unexaminedDialect(error: LeadsError): CheckResult[] {
  if (error instanceof ConfigError) return dialectChecks.map((name) => skip(name, error));
  const isDataFault = error instanceof DataError;
  const [envelope = '', ...further] = dialectChecks;
  const why = 'the service did not answer';
  return [
    isDataFault ? failedEnvelope(envelope, error) : skip(envelope, why),
    ...further.map((name) => skip(name, isDataFault ? 'the answer holds no leads' : why)),
  ];
}

/** The specification's list operation takes GET; those of others may not. */
function failedEnvelope(name: string, error: LeadsError): CheckResult {
  const { status, message } = error;
  if (status !== 405 && !/\bPOST\b/.test(message)) return fail(name, error);
  const statusText = status === undefined ? '' : ` (${status})`;
  const detail = `the service wants POST there${statusText}, and lists are read by GET alone`;
  return fail(name, detail, 'if it has a list for GET, too: leads config set api.path /…');
}
