import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { seeded } from '../../support/faulty-service.ts';
import { freshHome, leads } from '../../support/run.ts';
import { type Scripted, scripted, sendJson } from '../../support/service.ts';
import { serving } from './support.ts';

const hour = 3_600_000;

interface Stored {
  readonly id: string;
  readonly createdAt: string;
}

/** Lists what has arrived so far, by the time of creation, in pages of 20. */
function serve(arrived: () => readonly Stored[]): Promise<Scripted> {
  return scripted((request, response) => {
    const from = Number(new URL(request.url ?? '/', 'http://localhost').searchParams.get('cursor') ?? 0);
    const all = [...arrived()].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
    const data = all.slice(from, from + 20);
    sendJson(response, { data, next_cursor: from + 20 < all.length ? String(from + 20) : null });
  });
}

const env = (service: Scripted) => ({ LEADS_API_KEY: 'key-0123456789', LEADS_BASE_URL: service.url });
const idsIn = (text: string): string[] =>
  text.split('\n').flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as Stored).id]));

describe('export --bookmark', () => {
  it.each([
    ['stdout', 25],
    ['file', 20],
  ])(
    'gives every lead exactly once to %s over %i runs of late arrivals and shared timestamps',
    async (place, runs) => {
      const random = seeded(50);
      const clock = new FakeClock();
      const home = freshHome();
      const bookmark = join(home, 'bookmark.json');
      const pending: (Stored & { arrivesAt: number })[] = [];
      let made = 0;
      const service = await serve(() => pending.filter(({ arrivesAt }) => arrivesAt <= clock.now()));
      const got: string[] = [];
      for (let run = 0; run < runs; run += 1) {
        clock.advance(Math.floor(random() * 3 * hour));
        for (let i = 0; i < 15; i += 1) {
          // A third share the hour they were created in; all come at most five hours late.
          const created = clock.now() - Math.floor(random() * hour);
          const shared = random() < 0.33 ? Math.floor(created / hour) * hour : created;
          const arrivesAt = shared + Math.floor(random() * 5 * hour);
          pending.push({ id: `l${made}`, createdAt: new Date(shared).toISOString(), arrivesAt });
          made += 1;
        }
        if (run === runs - 1) clock.advance(10 * hour);
        const file = join(home, `out-${run}`);
        const output = place === 'file' ? ['-o', file] : [];
        const argv = ['export', '--bookmark', bookmark, '--overlap', '6h', '--page-size', '20', ...output];
        const { exitCode, stdout, stderr } = await leads(argv, { env: env(service), clock, home });
        expect({ exitCode, stderr: stderr.includes('error') }).toEqual({ exitCode: 0, stderr: false });
        got.push(...idsIn(place === 'file' ? readFileSync(file, 'utf8') : stdout));
      }
      await service.close();
      expect(new Set(got).size).toBe(got.length);
      expect(got.length).toBe(made);
      // What lies behind the window is forgotten.
      const { ids } = JSON.parse(readFileSync(bookmark, 'utf8')) as { ids: unknown[] };
      expect(ids.length).toBeLessThan(made / 2);
    },
  );

  it('does not move on when a run fails', async () => {
    const home = freshHome();
    const bookmark = join(home, 'bookmark.json');
    const lead = { id: '1', createdAt: '2026-01-01T00:00:00Z' };
    const failing = await serving((_, response, nth) => {
      if (nth === 0) sendJson(response, { data: [lead], next_cursor: 'x' });
      else response.writeHead(400).end();
    });
    const argv = ['export', '--bookmark', bookmark];
    expect((await leads(argv, { env: env(failing), home })).exitCode).not.toBe(0);
    expect(existsSync(bookmark)).toBe(false);
    expect(existsSync(`${bookmark}.lock`)).toBe(false);
  });

  it('is not led astray by a lead dated in the future, or without a date', async () => {
    const stored: Stored[] = [
      { id: 'future', createdAt: '2099-01-01T00:00:00Z' },
      { id: 'undated', createdAt: 'some day' },
    ];
    const service = await serve(() => stored);
    const home = freshHome();
    const argv = ['export', '--bookmark', join(home, 'b')];
    const clock = new FakeClock(Date.UTC(2026, 0, 15, 12), { hasty: true });
    const first = await leads(argv, { env: env(service), home, clock });
    stored.push({ id: 'later', createdAt: '2026-01-15T11:00:00Z' });
    const second = await leads(argv, { env: env(service), home, clock });
    await service.close();
    expect(idsIn(first.stdout).sort()).toEqual(['future', 'undated']);
    expect(idsIn(second.stdout)).toEqual(['later']);
  });

  it('gives no lead again to a run with a longer overlap than the one before', async () => {
    const stored = ['2026-01-01T00:00:00Z', '2026-01-09T00:00:00Z'].map((createdAt, i) => ({
      id: `${i}`,
      createdAt,
    }));
    const service = await serve(() => stored);
    const home = freshHome();
    const gotWith = async (overlap: string): Promise<string[]> => {
      const argv = ['export', '--bookmark', join(home, 'b'), '--overlap', overlap];
      return idsIn((await leads(argv, { env: env(service), home })).stdout);
    };
    expect([await gotWith('1h'), await gotWith('30d')]).toEqual([['0', '1'], []]);
    await service.close();
  });

  it('refuses a bookmark of other filters, and one that is not its own', async () => {
    const service = await serve(() => []);
    const home = freshHome();
    const path = join(home, 'b');
    await leads(['export', '--bookmark', path], { env: env(service), home });
    const other = await leads(['export', '--bookmark', path, '--status', 'new'], { env: env(service), home });
    writeFileSync(path, '{"torn');
    const torn = await leads(['export', '--bookmark', path], { env: env(service), home });
    await service.close();
    expect(other.exitCode).toBe(2);
    expect(torn.exitCode).toBe(6);
    expect(readFileSync(path, 'utf8')).toBe('{"torn');
  });
});
