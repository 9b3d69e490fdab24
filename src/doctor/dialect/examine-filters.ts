import type { DialectAsker } from './limited-requests.ts';
import type { DialectFindings } from './dialect-findings.ts';
import { findFilter, type StatusField, statusFieldsOf, valuesOf } from './find-filter.ts';
import type { Reaction, Reference } from './find-limit.ts';
import type { PositionFinding } from './find-position.ts';
import { type DateFormat, findTimeFilter, type TimeFilterFinding } from './find-time-filter.ts';
import { categoryParams, statusParams, timeParams } from '../../service/pagination/service-names.ts';

interface Known {
  readonly reaction: Reaction | undefined;
  readonly reference: Reference;
  readonly position: PositionFinding;
  readonly isLearning: boolean;
}

type Filters = Pick<DialectFindings, 'status' | 'category' | 'since' | 'until' | 'statusFields'>;

/** Which filters are honoured, and by which names. */
export async function examineFilters(asker: DialectAsker, known: Known): Promise<Filters> {
  const { reaction, reference, isLearning } = known;
  const { leads } = reference.page;
  const { params, dialect } = asker;
  // A filter must not take the place of a position.
  const taken = [params.limit, params.page, params.offset, params.cursor];
  const names = (inForce: string | undefined, usual: readonly string[]): string[] => {
    const all = isLearning ? [inForce, ...usual] : [inForce];
    return [...new Set(all.filter((name) => name !== undefined && !taken.includes(name)))] as string[];
  };
  const base = { asker, reaction, reference };
  const configured = dialect.statusField === 'auto' ? undefined : dialect.statusField;
  const statusFields = statusFieldsOf(leads, configured);
  const field = fieldToFilter(statusFields)?.name;
  const statusNames = names(params.status, [...statusParams, ...(field === undefined ? [] : [field])]);
  const status = await findFilter({ ...base, names: statusNames, field, what: 'status' });
  const category = await findFilter({
    ...base,
    names: names(params.category, categoryParams),
    field: valuesOf(leads, 'category').length > 0 ? 'category' : undefined,
    what: 'category',
  });
  const [since, until] = await examineTimes(known, asker, names);
  return { status, category, since, until, statusFields };
}

async function examineTimes(
  { reaction, reference, isLearning }: Known,
  asker: DialectAsker,
  names: (inForce: string | undefined, usual: readonly string[]) => string[],
): Promise<[TimeFilterFinding, TimeFilterFinding]> {
  const { params, dialect } = asker;
  const base = { asker, reaction, reference };
  const inForce: DateFormat = dialect.dateFormat ?? 'iso';
  const formats: readonly DateFormat[] = isLearning
    ? [...new Set<DateFormat>([inForce, 'iso', 'unix', 'unix-ms'])]
    : [inForce];
  const sinceNames = names(
    params.since,
    timeParams.map(([name]) => name),
  );
  const since = await findTimeFilter({ ...base, bound: 'since', names: sinceNames, formats });
  const found = since.kind === 'honoured' ? since : undefined;
  const format = found?.format === undefined ? [inForce] : [found.format];
  const partner = timeParams.find(([name]) => name === found?.name)?.[1];
  const likely = names(params.until, partner === undefined ? [] : [partner]).slice(0, 2);
  const first =
    found === undefined || likely.length === 0
      ? undefined
      : await findTimeFilter({
          ...base,
          reaction: undefined,
          bound: 'until',
          names: likely,
          formats: format,
        });
  if (first?.kind === 'honoured' || !isLearning) {
    return [
      since,
      first ??
        (await findTimeFilter({ ...base, bound: 'until', names: names(params.until, []), formats: format })),
    ];
  }
  const all = names(
    params.until,
    timeParams.map(([, name]) => name),
  );
  return [since, await findTimeFilter({ ...base, bound: 'until', names: all, formats: format })];
}

/** Of several fields, the first one by which leads differ. */
const fieldToFilter = (fields: readonly StatusField[]): StatusField | undefined =>
  fields.find(({ values }) => values.length > 1) ?? fields[0];
