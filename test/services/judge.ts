import { leads, type Run } from '../support/run.ts';
import { leadIdsIn, type ListService } from './list-service.ts';
import type { Row } from './row.ts';

/** Counts at which services often cut: a lone page of so many that nothing proves is said with exit 6. */
export const usualCaps: readonly number[] = [
  ...[10, 15, 16, 20, 25, 30, 32, 40, 50, 60, 64, 75, 80, 100, 128, 150, 200, 250, 256, 300, 500, 512],
  ...[1000, 1024],
];

type Verdict =
  /** All leads and exit 0, or what is missing was said. */
  | 'fine'
  /** Leads are missing, exit 0, and not a word. */
  | 'silent loss'
  /** The same, of a service where no client could know. */
  | 'invisible'
  /** Exit 6, although all leads came and nothing spoke against them. */
  | 'false alarm'
  /** Leads are missing, although the answers show how to go on. */
  | 'not read'
  | 'repeated leads'
  | 'too many requests'
  /** Neither 0 nor 6. */
  | 'failed'
  /** Exit 6, and the hint names no command. */
  | 'no way on';

export interface Judged {
  readonly verdict: Verdict;
  /** What happened, in short. */
  readonly seen: string;
}

/** Judges an export of all leads by what the service has. `isAlarmFair`: a lone page of so many may be a part. */
export function judge(row: Row, service: ListService, run: Run, isAlarmFair: boolean): Judged {
  const written = run.stdout.split('\n').flatMap((line) => leadIdsIn(line).slice(0, 1));
  const got = new Set(written);
  const missing = service.ids.filter((id) => !got.has(id)).length;
  const { length: requests } = service.requests;
  const isSaid = run.stderr !== '';
  const isAll = missing === 0;
  const verdict = (): Verdict => {
    if (written.length > got.size) return 'repeated leads';
    if (requests > 3 * service.fruitful + 50) return 'too many requests';
    if (run.exitCode === 0) {
      if (isAll) return 'fine';
      if (!isSaid) return row.invisible === undefined ? 'silent loss' : 'invisible';
      return row.outlook === 'everything' ? 'not read' : 'fine';
    }
    if (run.exitCode !== 6) return 'failed';
    if (row.outlook === 'everything' && !isAll) return 'not read';
    if (row.outlook !== 'alarm' && isAll && !isAlarmFair) return 'false alarm';
    // What the service says of its own failure leads to no setting.
    const isFailure = row.outlook === 'alarm' && run.stderr.includes('answered 200 with an error');
    return isFailure || /hint: .*(leads |--)/.test(run.stderr) ? 'fine' : 'no way on';
  };
  const words = run.stderr.trim().replaceAll('\n', ' | ');
  const came = `exit ${run.exitCode}, ${got.size} of ${service.ids.length} leads, ${requests} requests`;
  return { verdict: verdict(), seen: isSaid ? `${came}: ${words}` : came };
}

interface Place {
  readonly service: ListService;
  /** Where the profile is; a new one by default. */
  readonly home?: string | undefined;
}

/** `leads export -q` with more words. */
export function exported({ service, home }: Place, ...words: readonly string[]): Promise<Run> {
  service.forget();
  return leads(['export', '-q', ...words], { env: envOf(service), ...(home !== undefined && { home }) });
}

/** `leads doctor --learn`. */
export const learnt = ({ service, home }: Place & { readonly home: string }): Promise<Run> =>
  leads(['doctor', '--learn', '--json'], { env: envOf(service), home });

export const envOf = ({ url }: ListService) => ({ LEADS_BASE_URL: url, LEADS_API_KEY: 'a-key-of-a-test' });
