import { valueAt, withValue } from '../../config/check-config.ts';
import type { Dialect } from '../../config/dialect.ts';
import { readConfig } from '../../config/load-settings.ts';
import { settingKeys } from '../../config/setting-keys.ts';
import { updateProfile } from '../../config/write-config.ts';
import type { Context } from '../../context.ts';
import type { DialectEvidence } from '../problems.ts';
import type { DialectFindings } from './dialect-findings.ts';
import type { FilterFinding } from './find-filter.ts';

/** A key of the dialect that the answers prove. */
interface LearntKey {
  /** As `leads config` names it. */
  readonly key: string;
  readonly value: string | number | boolean | null;
  readonly evidence: DialectEvidence;
}

/** What the findings prove, in the order of the settings. What is not proven is left out. */
export function learntKeys(findings: DialectFindings, inForce: Dialect): LearntKey[] {
  const { position, cap, status, category, since, until, limit, items, count } = findings;
  const keys: LearntKey[] = [];
  const add: Add = (key, value, evidence) => {
    if (value !== undefined) keys.push({ key: `api.${key}`, value, evidence });
  };
  if (
    limit.kind === 'honoured' &&
    (position.kind === 'found' || Object.keys(limit.companions).length === 0)
  ) {
    add('params.limit', limit.name, limit.evidence);
  }
  if (limit.kind === 'filtered' || limit.kind === 'rejected') add('params.limit', null, limit.evidence);
  const inForceNames = { status: 'status', category: 'category', ...inForce.params };
  for (const [name, filter] of Object.entries({ status, category, since, until })) {
    addFilter(`params.${name}`, filter, inForceNames[name as keyof typeof inForceNames], add);
  }
  if (position.kind === 'found') {
    const { pagination, params = {}, next } = position.dialect;
    for (const name of ['cursor', 'page', 'offset'] as const)
      add(`params.${name}`, params[name], position.evidence);
    // What is found without being told needs no setting, unless there is another one.
    if (pagination !== 'auto' || (inForce.pagination ?? 'auto') !== 'auto')
      add('pagination', pagination, position.evidence);
    add('next', next, position.evidence);
    if (position.isNextSeen) add('next-seen', true, { kind: 'next-page-named' });
  }
  if (position.kind === 'alone') add('proven-up-to', position.upTo, position.evidence);
  if (position.kind !== 'alone' && position.uncutUpTo !== undefined) {
    add('proven-up-to', position.uncutUpTo, { kind: 'leads-in-one-answer', count: position.uncutUpTo + 1 });
  }
  if (count > 0 || position.kind === 'found')
    add('items', items, { kind: items === '' ? 'leads-in-array' : 'leads-came-there', count });
  const [onlyId, ...otherIds] = findings.id.candidates;
  if (onlyId !== undefined && otherIds.length === 0) add('id', onlyId, { kind: 'id-distinct', name: onlyId });
  if (status.kind === 'honoured') add('status-field', status.field, status.evidence);
  if (cap.kind === 'cap') add('page-size', cap.size, cap.evidence);
  const timed = [since, until].find((one) => one.kind === 'honoured');
  if (timed !== undefined && timed.format !== (inForce.dateFormat ?? 'iso'))
    add('date-format', timed.format, timed.evidence);
  return keys;
}

type Add = (key: string, value: LearntKey['value'] | undefined, evidence: DialectEvidence) => void;

function addFilter(key: string, filter: FilterFinding, inForce: string | null | undefined, add: Add): void {
  if (filter.kind === 'honoured') add(key, filter.name, filter.evidence);
  // A parameter that fails every request must not be sent, nor one that leaves out the leads that are asked for.
  // By which field a status filter goes is the service's to know.
  const isLossy = filter.kind === 'wrong' && filter.isLossy === true && key !== 'params.status';
  const isHarmful = filter.kind === 'rejected' || isLossy;
  if (isHarmful && filter.name === inForce) add(key, null, filter.evidence);
}

type WriteContext = Pick<Context, 'paths' | 'pid' | 'clock' | 'signal'>;

/** A learnt key, and what the profile held before. */
export interface LearntChange extends LearntKey {
  readonly path: readonly string[];
  /** Undefined where the key was not set. */
  readonly old: unknown;
}

/** The learnt keys with what the profile holds now. */
export function compareWithProfile(
  keys: readonly LearntKey[],
  profile: string,
  { paths }: Pick<WriteContext, 'paths'>,
): LearntChange[] {
  const stored = readConfig(paths.configDir).profiles?.[profile] ?? {};
  return keys.flatMap((key) => {
    const path = settingKeys.find(({ name }) => name === key.key)?.path;
    return path === undefined ? [] : [{ ...key, path, old: valueAt(stored, path) }];
  });
}

/** Writes all of them in one step. Throws a `ConfigError`, an `OutputError`. */
export async function writeDialect(
  changes: readonly LearntChange[],
  profile: string,
  context: WriteContext,
): Promise<void> {
  await updateProfile(context, profile, (stored) =>
    changes.reduce((changed, { path, value }) => withValue(changed, path, value), stored),
  );
}
