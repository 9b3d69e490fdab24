import { describe, expect, it } from 'vitest';
import { leads as run } from '../support/run.ts';
import { scripted } from '../support/service.ts';
import { type Lead, leadsOf, type ListingService, listingServices } from './listing-services.ts';
import { diagnose } from './support.ts';

/**
 * How an export ended beside the truth. `said`: leads are missing, and exit 6 or a note under `-q` says that they may be;
 * `lost`: nothing says so. `alarm`: exit 6 although none is missing.
 */
type Outcome = 'complete' | 'said' | 'lost' | 'alarm';

/** Learns the dialect of a service with some leads, and exports it once it holds others. */
async function learnThenUse({ answer }: ListingService, learntAt: number, usedAt: readonly number[]) {
  let held: readonly Lead[] = leadsOf(learntAt);
  const service = await scripted((request, response) => {
    const url = new URL(request.url ?? '/', `http://${request.headers.host ?? ''}`);
    const { headers, body } = answer(held, url.searchParams, url);
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
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

const named = listingServices.map((service) => [service.name, service] as const);

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
