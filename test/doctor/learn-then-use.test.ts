import { describe, expect, it } from 'vitest';
import { leads as run } from '../support/run.ts';
import { scripted, sendJson } from '../support/service.ts';
import { diagnose } from './support.ts';

interface Lead {
  readonly id: string;
  readonly category: string;
  readonly createdAt: string;
}

interface ListingService {
  readonly name: string;
  /** Nothing in its answers proves that one page is all: only a person can say so. */
  readonly isLone?: true;
  readonly answer: (leads: readonly Lead[], query: URLSearchParams) => unknown;
}

const leadsOf = (count: number): Lead[] =>
  Array.from({ length: count }, (_, i) => ({
    id: `lead_${String(i).padStart(4, '0')}`,
    category: ['solar', 'roofing'][i % 2] ?? '',
    createdAt: new Date(Date.UTC(2026, 0, 1) + i * 3_600_000).toISOString(),
  }));

const numberIn = (query: URLSearchParams, name: string, otherwise: number): number =>
  Number(query.get(name) ?? otherwise);
const newestFirst = (leads: readonly Lead[]): Lead[] => leads.toReversed();
const dayOf = (time: string | null): number => Date.parse(`${(time ?? '').slice(0, 10)}T00:00:00Z`);

const pageOf = (leads: readonly Lead[], query: URLSearchParams, start: number) => ({
  data: leads.slice(start, start + Math.min(100, numberIn(query, 'limit', 20))),
});

/** Services that filter, each as a function of the leads that it holds. How services page is in `test/services/`. */
const services: readonly ListingService[] = [
  {
    name: 'a date filter that also brings archived leads',
    isLone: true,
    answer: (leads, query) => {
      const since = query.get('since');
      const found = leads.filter(({ createdAt }) => !(Date.parse(createdAt) < Date.parse(since ?? '')));
      return { data: since === null ? newestFirst(leads).slice(0, 40) : newestFirst(found) };
    },
  },
  {
    name: 'a date filter that is ignored',
    answer: (leads, query) => {
      const [page, size] = [numberIn(query, 'page', 1), Math.min(100, numberIn(query, 'limit', 20))];
      const { data } = pageOf(newestFirst(leads), query, (page - 1) * size);
      return { data, page, total_pages: Math.ceil(leads.length / size) };
    },
  },
  {
    name: 'a date filter widened to whole days',
    answer: (leads, query) => {
      const [since, until] = [dayOf(query.get('from')), dayOf(query.get('to'))];
      const found = leads.filter(({ createdAt }) => {
        const time = Date.parse(createdAt);
        return !(time < since) && !(time >= until + 86_400_000);
      });
      return pageOf(found, query, numberIn(query, 'offset', 0));
    },
  },
  {
    name: 'a date filter by the day of the update, a field that no lead shows',
    answer: (leads, query) => {
      const since = Date.parse(query.get('since') ?? '');
      const found = leads.filter(
        ({ createdAt }, i) => !(Date.parse(createdAt) + (i % 7 === 3 ? 3e9 : 0) < since),
      );
      return pageOf(found, query, numberIn(query, 'offset', 0));
    },
  },
];

/**
 * How an export ended beside the truth. `said`: leads are missing, and exit 6 or a note under `-q` says that they may be;
 * `lost`: nothing says so. `alarm`: exit 6 although none is missing.
 */
type Outcome = 'complete' | 'said' | 'lost' | 'alarm';

/** Learns the dialect of a service with some leads, and exports it once it holds others. */
async function learnThenUse({ answer }: ListingService, learntAt: number, usedAt: readonly number[]) {
  let held: readonly Lead[] = leadsOf(learntAt);
  const service = await scripted((request, response) => {
    sendJson(response, answer(held, new URL(request.url ?? '/', 'http://localhost').searchParams));
  });
  const { home, dialect } = await diagnose(service, '--learn');
  const requests = service.requests.length;
  const outcomes: [use: string, outcome: Outcome][] = [];
  for (const count of usedAt) {
    held = leadsOf(count);
    const from = held[Math.floor(count / 3)]?.createdAt ?? '';
    const uses: readonly (readonly [readonly string[], (lead: Lead) => boolean])[] = [
      [[], () => true],
      [['--since', from], ({ createdAt }) => createdAt >= from],
      [['--category', 'solar'], ({ category }) => category === 'solar'],
    ];
    for (const [words, selects] of uses) {
      const env = { LEADS_BASE_URL: service.url, LEADS_API_KEY: 'sandbox-key' };
      const { exitCode, stdout, stderr } = await run(['export', '-q', ...words], { home, env });
      const ids = stdout.split('\n').flatMap((line) => (line === '' ? [] : (JSON.parse(line) as Lead).id));
      const wanted = held.filter(selects).map(({ id }) => id);
      const isAll = ids.toSorted().join() === wanted.join();
      const isSaid = exitCode === 6 || (exitCode === 0 && stderr.includes('nothing proves'));
      const outcome = isAll ? (exitCode === 6 ? 'alarm' : 'complete') : isSaid ? 'said' : 'lost';
      outcomes.push([[count, ...words].join(' '), outcome]);
    }
  }
  await service.close();
  const usesThat = (wanted: Outcome): string[] =>
    outcomes.flatMap(([use, outcome]) => (outcome === wanted ? [use] : []));
  return { dialect, requests, usesThat };
}

const named = services.map((service) => [service.name, service] as const);

describe('a dialect that doctor --learn wrote', () => {
  it.each(named)('loses nothing in silence when the list has grown: %s', async (_name, service) => {
    for (const learntAt of [1, 3, 13]) {
      const { requests, usesThat } = await learnThenUse(service, learntAt, [237]);
      expect(requests).toBeLessThanOrEqual(25);
      expect([learntAt, usesThat('lost')]).toEqual([learntAt, []]);
    }
  });

  const provable = named.filter(([, { isLone }]) => isLone !== true);

  it.each(provable)('raises no false alarm when the list has shrunk: %s', async (_name, service) => {
    const { usesThat } = await learnThenUse(service, 237, [3, 20, 50, 100]);
    expect([usesThat('lost'), usesThat('alarm')]).toEqual([[], []]);
  });
});
