import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { jsonServerAnswer } from '../../support/json-server-answer.ts';
import { freshHome, leads, type Run } from '../../support/run.ts';
import { type Scripted, scripted, sendJson } from '../../support/service.ts';

const day = 86_400_000;
const categories = ['solar', 'solar', 'roofing', 'legal', 'dental'];

interface Lead {
  readonly [name: string]: string;
  readonly id: string;
  readonly createdAt: string;
}

interface Kind {
  readonly order: 'newest first' | 'oldest first';
  /** As many leads it gives at most, and shows no way to the others. */
  readonly cap?: number;
  readonly honours?: 'limit' | 'category' | 'status' | undefined;
  readonly isJsonServer?: boolean;
}

const open: Scripted[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

/** A service that does not page, and the nights of one bookmark. */
class Nights {
  readonly all: Lead[] = [];
  readonly bookmark = join(freshHome(), 'bookmark');
  readonly #exported: string[] = [];
  readonly #url: string;
  #arrived = 0;
  #now = Date.now() - 60 * day;

  private constructor(url: string) {
    this.#url = url;
  }

  static async over(kind: Kind): Promise<Nights> {
    const server = await scripted((request, response) => {
      const url = new URL(request.url ?? '', 'http://localhost');
      const list = kind.order === 'newest first' ? nights.all.toReversed() : nights.all;
      if (kind.isJsonServer === true) {
        url.pathname = '/leads';
        const { status, headers, body } = jsonServerAnswer('0.17', list, url);
        response
          .writeHead(status, { 'content-type': 'application/json', ...headers })
          .end(JSON.stringify(body));
        return;
      }
      sendJson(response, answerOf(kind, list, url.searchParams));
    });
    open.push(server);
    const nights = new Nights(server.url);
    return nights;
  }

  /** These arrived during a day; then comes the night. */
  async after(arrivals: number, ...flags: readonly string[]): Promise<Run> {
    for (let i = 0; i < arrivals; i += 1) {
      const n = this.#arrived;
      this.#arrived += 1;
      const createdAt = new Date(this.#now + ((i + 1) * day) / (arrivals + 1)).toISOString();
      const status = n % 3 === 0 ? 'new' : 'sent';
      this.all.push({ id: `l${n}`, category: categories[(n * 7) % 5] ?? '', status, createdAt });
    }
    this.#now += day;
    const run = await leads(['export', '-q', '--bookmark', this.bookmark, ...flags], {
      clock: new FakeClock(this.#now, { hasty: true }),
      env: { LEADS_API_KEY: 'key', LEADS_BASE_URL: this.#url },
    });
    const lines = run.stdout.split('\n').filter((line) => line !== '');
    this.#exported.push(...lines.map((line) => (JSON.parse(line) as Lead).id));
    return run;
  }

  get lost(): number {
    return this.all.length - new Set(this.#exported).size;
  }

  get repeated(): number {
    return this.#exported.length - new Set(this.#exported).size;
  }

  get stored(): { readonly newest?: number } {
    return existsSync(this.bookmark) ? (JSON.parse(readFileSync(this.bookmark, 'utf8')) as object) : {};
  }
}

function answerOf(
  { cap = Infinity, honours }: Kind,
  list: readonly Lead[],
  query: URLSearchParams,
): readonly Lead[] {
  if (honours === 'limit') return list.slice(0, Math.min(cap, Number(query.get('limit') ?? cap)));
  const wanted = honours === undefined ? null : query.get(honours);
  const found = wanted === null ? list : list.filter((lead) => lead[honours ?? ''] === wanted);
  return found.slice(0, cap);
}

const orders = ['newest first', 'oldest first'] as const;

describe('thirty nights over a service that does not page', () => {
  const kinds: Kind[] = [
    { order: 'newest first', isJsonServer: true },
    { order: 'oldest first', isJsonServer: true },
    { order: 'newest first' },
    { order: 'newest first', honours: 'limit' },
    { order: 'newest first', honours: 'category' },
  ];

  it.each<Kind>(kinds)('bring each lead once, and none is red: %j', async (kind) => {
    const nights = await Nights.over(kind);
    for (let night = 0; night < 30; night += 1) {
      const { exitCode, stderr } = await nights.after([1, 10, 4, 15, 20][night % 5] ?? 0);
      expect([night, exitCode, stderr]).toEqual([night, 0, '']);
    }
    expect([nights.all.length, nights.lost, nights.repeated]).toEqual([300, 0, 0]);
  });
});

describe('nights over a service that cuts its one page', () => {
  const kinds: Kind[] = [15, 37, 40, 60, 120].flatMap((cap) =>
    orders.flatMap((order) => [undefined, 'category' as const].map((honours) => ({ cap, order, honours }))),
  );

  it.each(kinds)('lose no lead without a word: %j', async (kind) => {
    const nights = await Nights.over(kind);
    for (let night = 0; night < 5; night += 1) {
      const { exitCode, stderr } = await nights.after(night === 0 ? 79 : 90);
      if (nights.lost > 0)
        expect([night, exitCode === 6 || stderr.startsWith('note: ')]).toEqual([night, true]);
    }
  });
});

describe('a night that meets no lead of the one before', () => {
  it('leaves the bookmark, until --accept-incomplete moves it on', async () => {
    const nights = await Nights.over({ order: 'newest first', honours: 'limit' });
    // Nothing proves that the first page is everything.
    await nights.after(20, '--accept-incomplete');
    const before = nights.stored;
    nights.all.splice(0, 20);
    const night = await nights.after(21);
    expect(night.exitCode).toBe(6);
    expect(night.stderr).toMatch(
      /^error: leads may be missing: none of the \d+ newest leads of the run before came again\nhint: .*--accept-incomplete\n$/,
    );
    expect(nights.stored).toEqual(before);
    expect((await nights.after(0, '--accept-incomplete')).exitCode).toBe(0);
    expect(nights.stored.newest).toBeGreaterThan(before.newest ?? Infinity);
    expect(await nights.after(3)).toMatchObject({ exitCode: 0, stderr: '' });
  });
});
