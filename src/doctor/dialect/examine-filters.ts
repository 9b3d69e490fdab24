import { categoryParams, statusParams, timeParams } from '../../service/pagination/service-names.ts';
import type { DialectFindings } from './dialect-findings.ts';
import {
  type FilterSearch,
  findFieldFilter,
  type KnownList,
  type StatusField,
  statusFieldsOf,
  valuesOf,
} from './find-filter.ts';
import { findTimeFilter, type TimeFilterFinding } from './find-time-filter.ts';
import type { Reaction } from './find-limit.ts';
import type { DialectAsker } from './limited-requests.ts';

type Filters = Pick<DialectFindings, 'status' | 'category' | 'since' | 'until' | 'statusFields'>;

/** Which filters are honoured, and by which names. */
export async function examineFilters(
  asker: DialectAsker,
  list: KnownList,
  reaction: Reaction | undefined,
  isLearning: boolean,
): Promise<Filters> {
  const { params, dialect } = asker;
  // A filter must not take the place of a position.
  const taken = [params.limit, params.page, params.offset, params.cursor];
  const by = (inForce: string | undefined, usual: readonly (string | undefined)[]): FilterSearch => {
    const all = isLearning ? [inForce, ...usual] : [inForce];
    const names = new Set(all.filter((name) => name !== undefined && !taken.includes(name)));
    return { asker, list, reaction, names: [...names] as string[] };
  };
  const statusFields = statusFieldsOf(
    list.leads,
    dialect.statusField === 'auto' ? undefined : dialect.statusField,
  );
  const field = fieldToFilter(statusFields)?.name;
  const status = await findFieldFilter(by(params.status, [...statusParams, field]), field, 'status');
  const category = await findFieldFilter(
    by(params.category, categoryParams),
    valuesOf(list.leads, 'category').length > 0 ? 'category' : undefined,
    'category',
  );
  const inForce = dialect.dateFormat ?? 'iso';
  const formats = isLearning ? [...new Set([inForce, 'iso', 'unix', 'unix-ms'] as const)] : [inForce];
  const sinceNames = timeParams.map(([name]) => name);
  const since = await findTimeFilter(by(params.since, sinceNames), 'since', formats);
  const found = since.kind === 'honoured' ? since : undefined;
  const findUntil = (search: FilterSearch): Promise<TimeFilterFinding> =>
    findTimeFilter(search, 'until', [found?.format ?? inForce]);
  const partner = timeParams.find(([name]) => name === found?.name)?.[1];
  const likely = { ...by(params.until, [partner]), reaction: undefined };
  const first = found === undefined ? undefined : await findUntil(likely);
  const isDone = first?.kind === 'honoured' || (first !== undefined && !isLearning);
  const untilNames = timeParams.map(([, name]) => name);
  const until = isDone ? first : await findUntil(by(params.until, untilNames));
  return { status, category, since, until, statusFields };
}

/** Of several fields, the first one by which leads differ. */
const fieldToFilter = (fields: readonly StatusField[]): StatusField | undefined =>
  fields.find(({ values }) => values.length > 1) ?? fields[0];
