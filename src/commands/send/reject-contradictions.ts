import { UsageError } from '../../errors.ts';
import type { SendOptions } from './options.ts';

/** Throws a `UsageError` for flags that contradict each other, or that would be ignored. */
export function rejectContradictions(options: SendOptions): void {
  const { sample, lead, id, from, seed, rate, tokenFile, secretFile } = options;
  const sources = {
    '--sample': sample,
    '--lead': lead,
    '--id': id.length > 0 ? id : undefined,
    '--from': from,
  };
  const [first, second] = Object.entries(sources).flatMap(([flag, value]) =>
    value === undefined ? [] : [flag],
  );
  if (first !== undefined && second !== undefined) {
    throw new UsageError(`${first} and ${second} are two sources of leads: give one`);
  }
  if (seed !== undefined && first !== undefined && first !== '--sample') {
    throw new UsageError(`--seed is for generated leads, not for ${first}`);
  }
  if (lead === '-' && [...tokenFile, ...secretFile].includes('-')) {
    throw new UsageError('stdin (-) can give either the leads or a secret');
  }
  rejectFilters(options);
  if (rate !== undefined && options.dryRun !== undefined) {
    throw new UsageError('--rate does not go with --dry-run, which sends nothing');
  }
  if (first === undefined) rejectEndlessRate(options);
}

/** Generated leads never run out. */
function rejectEndlessRate({ rate, for: forMs, count, repeat }: SendOptions): void {
  if (rate === undefined || forMs !== undefined || count !== undefined || repeat > 1) return;
  throw new UsageError('--rate: nothing says when to end', {
    hint: 'add a time or a number of deliveries, such as --for 10s or --count 500',
  });
}

function rejectFilters({ from, status, category, since, until, where }: SendOptions): void {
  const filters = {
    '--status': status,
    '--category': category.length > 0 || undefined,
    '--since': since,
    '--until': until,
    '--where': where.length > 0 || undefined,
  };
  const [flag] = Object.entries(filters).find(([, value]) => value !== undefined) ?? [];
  if (flag !== undefined && from === undefined) {
    throw new UsageError(`${flag} chooses among stored leads: it needs --from inbox or --from service`);
  }
  if (status !== undefined && from === 'inbox') {
    throw new UsageError('--status is judged by the service: it needs --from service', {
      hint: "a lead's own field is chosen by --where, such as --where status=new",
    });
  }
}
