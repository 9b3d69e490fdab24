import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.ts';
import { InterruptedError } from '../../../src/errors.ts';
import { FakeClock } from '../../support/clock.ts';
import { freshHome, leads, type LiveRun, type RunOptions, startLeads } from '../../support/run.ts';
import { sendJson } from '../../support/service.ts';
import { textWidth } from '../../../src/output/text-width.ts';
import { until } from '../../support/until.ts';
import { serving } from '../export/support.ts';

const now = Date.UTC(2026, 0, 15, 12);
let box: Sandbox;
beforeAll(async () => {
  box = await startSandbox({ leads: 250, newest: now }, { clock: new FakeClock(now) });
});
afterAll(() => box.close());

const at = (url: string): RunOptions => ({
  clock: new FakeClock(now, { hasty: true }),
  env: { LEADS_API_KEY: 'sandbox-key', LEADS_BASE_URL: url },
});
const list = (...flags: string[]) => leads(['list', ...flags], at(box.url));
const ids = (ndjson: string): string[] =>
  ndjson
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { id: string }).id);

/** Runs `list` against a service that lists these records. */
async function listed(records: unknown, ...flags: string[]) {
  const server = await serving((_, response) =>
    sendJson(response, Array.isArray(records) ? { data: records as unknown[], has_more: false } : records),
  );
  return leads(['list', ...flags], at(server.url));
}

describe('leads list', () => {
  it('shows the first twenty as a table, and says that there are more', async () => {
    const run = await list();
    const lines = run.stdout.trimEnd().split('\n');
    expect(lines).toHaveLength(21);
    expect(lines[0]).toMatch(/^ID +CREATED +CATEGORY +NAME +EMAIL +PHONE +SOURCE +STATUS$/);
    expect(lines[1]).toMatch(/^lead_\w+ +2026-01-1\dT\d\d:\d\d:\d\dZ +\S+ +/);
    expect(run.stderr).toBe('note: these are the first 20 leads; for more: --limit 100, or --limit all\n');
    expect(run.exitCode).toBe(0);
  });

  it('counts the limit after filtering', async () => {
    const filters = ['--category', 'solar', '--where', 'metadata.source!=google'];
    const run = await list(...filters, '--limit', '12', '--format', 'ndjson');
    const records = run.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { category: string; metadata: { source: string } });
    expect(records).toHaveLength(12);
    expect(records.every((one) => one.category === 'solar' && one.metadata.source !== 'google')).toBe(true);
  });

  it('shows all with --limit all, and then has nothing to say', async () => {
    const run = await list('--limit', 'all', '--format', 'ndjson');
    expect(ids(run.stdout)).toEqual([...box.leads].map((lead) => lead.id).reverse());
    expect(run.stderr).toBe('');
    expect((await list('--limit', '250', '--format', 'ndjson')).stderr).toBe('');
  });

  it('asks for no more than it needs', async () => {
    const run = await list('--limit', '3', '--format', 'ndjson', '--verbose');
    expect(run.stderr).toContain('GET /api/leads?limit=3 →');
    expect(run.stderr.match(/GET/g)).toHaveLength(1);
  });

  describe('a text', () => {
    const records = [
      { id: 'l-0', contact: { name: 'Ángel Muñoz', phone: '+34 600-11-22-33' } },
      { id: 'l-1', contact: { name: 'ANNA', email: 'a@example.com' } },
      { id: 'l-2', tags: ['Angelica'], note: null },
    ];

    it.each([
      [['angel'], ['l-0', 'l-2']],
      [['ÁNGEL MUNOZ'], ['l-0']],
      [['anna'], ['l-1']],
      [['600112233'], ['l-0']],
      [['null'], []],
      [['--where', 'contact.name~MUNOZ'], ['l-0']],
      [['--where', 'contact.name~X'], []],
    ])('%j is found in any case, with accents or without', async (words, expected) => {
      const run = await listed(records, ...words, '--format', 'ndjson');
      expect(run.stdout.match(/l-\d/g) ?? []).toEqual(expected);
    });
  });

  describe('a stretch of time', () => {
    const records = ['2026-01-30T23:30:00Z', '2026-01-31T23:00:00Z'].map((createdAt, i) => ({
      id: `l-${i}`,
      createdAt,
    }));

    it.each([
      [['--in', '2026-01-31'], ['l-1']],
      [['--in', '2026-02', '--zone', 'Europe/Madrid'], ['l-1']],
      [['--since', '2026-02-01', '--zone', 'Europe/Madrid'], ['l-1']],
      [['--where', 'createdAt<2026-01-31', '--zone', 'Europe/Madrid'], []],
      [['--where', 'createdAt<2026-01-31'], ['l-0']],
    ])('%j', async (flags, expected) => {
      const run = await listed(records, ...flags, '--format', 'ndjson');
      expect(run.stdout.match(/l-\d/g) ?? []).toEqual(expected);
      expect(run.stderr).toBe('');
    });

    it('shows its times in the zone, which may be a setting', async () => {
      const server = await serving((_, response) => sendJson(response, { data: records, has_more: false }));
      const options = { ...at(server.url), home: freshHome() };
      await leads(['config', 'set', 'zone', 'europe/madrid'], options);
      const run = await leads(['list', '--in', '2026-02'], options);
      expect(run.stdout).toContain('l-1  2026-02-01T00:00:00+01:00');
      const there = await leads(['list', '--in', '2026-01', '--zone', 'UTC'], options);
      expect(there.stdout).toContain('l-1  2026-01-31T23:00:00Z');
    });

    it('has one beginning and one end', async () => {
      expect(await listed(records, '--in', '2026-01', '--until', '2026-02')).toMatchObject({
        exitCode: 2,
        stderr: 'error: --in and --until do not go together\nhint: leave one of them out\n',
      });
      expect((await listed(records, '--in', '2026-W54')).stderr).toContain(
        "--in: '2026-W54' is not a stretch",
      );
      expect((await listed(records, '--zone', 'Mars')).stderr).toContain("'Mars' is not a time zone such as");
    });

    it.each([
      ['2026-01-31', '2026-02-01'],
      ['2026-01', '2026-02'],
      ['2026-12-31', '2027-01-01'],
    ])('--until %s is before it, and a note says so', async (typed, next) => {
      const run = await listed(records, '--until', typed, '--format', 'ndjson');
      expect(run.stderr).toBe(
        `note: --until ${typed} is before ${typed} begins; with all of it: --until ${next}\n`,
      );
      expect(
        (await listed(records, '--until', `${next.padEnd(10, '-01')}T00:00`, '--format', 'ndjson')).stderr,
      ).toBe('');
    });
  });

  it('takes only the fields that are asked for', async () => {
    const records = [{ id: 'a', contact: { email: 'x@example.com', name: 'X' }, n: 1 }];
    expect((await listed(records, '--fields', 'id,contact.email')).stdout).toBe(
      'id  contact.email\na   x@example.com\n',
    );
    expect((await listed(records, '--fields', 'contact.email,id', '--json')).stdout).toBe(
      '[\n{"contact":{"email":"x@example.com"},"id":"a"}\n]\n',
    );
  });

  it('says so when nothing matches', async () => {
    const run = await listed([], '--category', 'none');
    expect(run).toMatchObject({ stdout: '', stderr: 'no lead matches\n', exitCode: 0 });
  });

  it('says which window of time nothing matches', async () => {
    const records = [{ id: 'a', createdAt: '2025-11-30T23:30:00Z' }];
    expect((await listed(records, '--in', 'last-month')).stderr).toBe(
      'no lead matches from 2025-12-01T00:00:00Z until 2026-01-01T00:00:00Z; the newest: leads list -n 1\n',
    );
    const inMadrid = await listed([], '--since', 'today', '--zone', 'Europe/Madrid');
    expect(inMadrid.stderr).toContain('no lead matches from 2026-01-15T00:00:00+01:00; the newest');
  });

  it.each([
    [['--limit', '0'], "'0' is not a whole number from 1, or 'all'"],
    [['--since', 'soonish'], "'soonish' is not a point in time"],
    [['--where', 'nonsense'], "'nonsense' is not a condition"],
    [['--format', 'xml'], "'xml' is not one of table, json, ndjson, csv"],
    [['--json', '--watch'], 'with --watch, --format is table, ndjson or csv'],
  ])('refuses %s', async (flags, message) => {
    const run = await list(...flags);
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain(message);
    expect(run.stdout).toBe('');
  });
});

describe('a filter that cannot match', () => {
  const records = [
    { id: 'a', category: 'solar', score: 3, contact: { email: 'e' }, createdAt: '2026-01-02' },
    { id: 'b', category: 'dental', score: 12, contact: { email: 'f' }, createdAt: '2026-01-01' },
  ];

  it.each([
    [
      ['--category', 'solar,dental'],
      "no lead has the category 'solar,dental'; any of several is --category solar --category dental",
    ],
    [['--where', 'email=e'], "--where: there is no field 'email'; did you mean 'contact.email'?"],
    [
      ['--where', 'source=x', '--where', 'campaign=y'],
      "--where: there are no fields 'source', 'campaign'; the fields are id, category, score, contact.email, createdAt",
    ],
  ])('says so: %j', async (flags, note) => {
    const run = await listed(records, ...flags, '--format', 'ndjson');
    expect(run).toMatchObject({ exitCode: 0, stdout: '', stderr: `note: ${note}\n` });
  });

  it('is a usage error when --since is not before --until', async () => {
    const run = await listed(records, '--since', '1d', '--until', '7d');
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toMatch(
      /^error: no lead can match: --since 2026-01-14\S+ is not before --until 2026-01-08\S+\nhint: /,
    );
    expect((await listed(records, '--since', 'today', '--until', 'today')).exitCode).toBe(2);
  });

  it.each([
    ['score=>10', 'score>=10'],
    ['category=~sol', 'category~sol'],
  ])('has a hint for the operator of %s', async (typed, meant) => {
    const run = await listed(records, '--where', typed);
    expect(run).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(`did you mean '${meant}'?`) as string,
    });
  });

  it('is not one that one lead passes', async () => {
    const run = await listed(records, '--where', 'score>=10', '--category', 'dental', '--format', 'ndjson');
    expect(run).toMatchObject({ stderr: '', stdout: expect.stringContaining('"id":"b"') as string });
  });

  it('names fields of --fields that no lead has', async () => {
    const run = await listed(records, '--fields', 'id,nmae,contact.email', '--format', 'csv');
    expect(run.stdout).toContain('id,nmae,contact.email\r\n');
    expect(run.stderr).toBe(
      "note: --fields: there is no field 'nmae'; the fields are id, category, score, contact.email, createdAt\n",
    );
    expect((await listed([], '--fields', 'nmae', '--format', 'csv')).stderr).toBe('');
  });
});

describe('a narrow terminal', () => {
  const leadsOf = (days: number) =>
    [0, days].map((day) => ({
      id: `lead_0000${day}`,
      createdAt: new Date(now - day * 86_400_000).toISOString(),
      category: 'solar',
      contact: { name: 'A long name of somebody', email: 'somebody@example.com', phone: '+49 30 1234567' },
      metadata: { source: 'facebook' },
      status: 'delivered',
    }));
  const drawn = async (columns: number, days: number, ...flags: string[]) => {
    const service = await serving((_, response) =>
      sendJson(response, { data: leadsOf(days), has_more: false }),
    );
    const options = at(service.url);
    const env = { ...options.env, NO_COLOR: '1' };
    return leads(['list', ...flags], { ...options, terminal: columns, env });
  };

  it.each([40, 60, 80, 100, 200])('of %i columns shows ids and times whole', async (columns) => {
    const { stdout } = await drawn(columns, 1);
    const [, ...rows] = stdout.trimEnd().split('\n');
    for (const row of rows) {
      expect(textWidth(row)).toBeLessThanOrEqual(columns);
      expect(row).toMatch(/^lead_0000\d +(2026-)?01-1\d[T ]12:00:00/);
    }
  });

  it('shows the day where all leads are of one day', async () => {
    expect((await drawn(40, 0)).stdout).toMatch(/^lead_00000 +01-15 12:00:00 +delivered$/m);
  });

  it('says which of the fields that were asked for have no room', async () => {
    const run = await drawn(40, 1, '--fields', 'id,createdAt,contact.name,contact.email');
    expect(run.stdout).toMatch(/^id +createdAt +contact.name$/m);
    expect(run.stderr).toBe(
      'note: the terminal is too narrow for contact.email; --format ndjson shows all\n',
    );
  });
});

describe('leads list --watch', () => {
  const clock = new FakeClock(now);
  let service: Sandbox;
  let polls: number;

  const watching = (url: string, ...words: readonly string[]): LiveRun => {
    polls = clock.sleeps.length;
    const live = startLeads(['list', '--watch', '10s', ...words], { ...at(url), clock });
    onTestFinished(async () => {
      live.abort(new InterruptedError('SIGINT'));
      await live.done;
    });
    return live;
  };
  const polled = async (): Promise<void> => {
    polls += 1;
    await until(() => clock.sleeps.length === polls);
  };
  const sandboxOf = async (config: Parameters<typeof startSandbox>[0]): Promise<void> => {
    service = await startSandbox({ newest: clock.now(), ...config }, { clock });
    onTestFinished(() => service.close());
  };

  it('keeps one order: oldest first, before and while new leads come', async () => {
    await sandboxOf({ leads: 30 });
    const live = watching(service.url, '--limit', '5', '--format', 'ndjson');
    await polled();
    for (let i = 0; i < 2; i += 1) {
      clock.advance(1000);
      service.addLead();
    }
    clock.advance(10_000);
    await polled();
    expect(ids(live.stdout.text())).toEqual([...service.leads].slice(-7).map(({ id }) => id));
  });

  it('shows once what comes while the first list is read', async () => {
    const started = clock.now();
    const made = (id: string, afterMs: number) => ({
      id,
      createdAt: new Date(started + afterMs).toISOString(),
    });
    // Of a service whose clock is ahead.
    const stored = [made('ahead', 60_000), made('old', -60_000)];
    let release: (() => void) | undefined;
    const slow = await serving((request, response, nth) => {
      const answer = (data: readonly object[], next: string | null): void =>
        sendJson(response, { data, next_cursor: next });
      if (request.url?.includes('cursor=') !== true) answer(stored.slice(0, -1), 'behind');
      else if (nth === 1) release = () => answer(stored.slice(-1), null);
      else answer(stored.slice(-1), null);
    });
    const live = watching(slow.url, '--limit', 'all', '--format', 'ndjson');
    await until(() => release !== undefined);
    clock.advance(1000);
    stored.unshift(made('between', 1000));
    clock.advance(1000);
    release?.();
    await polled();
    expect(ids(live.stdout.text())).toEqual(['old', 'ahead', 'between']);
  });

  it('ends with 6 where its first poll does not prove that it learnt of every lead', async () => {
    const record = { id: 'a', createdAt: new Date(clock.now()).toISOString() };
    const short = await serving((_, response) => sendJson(response, { data: [record], total: 2 }));
    const { exitCode, stderr } = await watching(short.url, '--limit', '1').done;
    expect(exitCode).toBe(6);
    expect(stderr).toContain('leads may be missing');
  });

  it('shows new leads as rows without another head', async () => {
    await sandboxOf({ leads: 3 });
    const live = watching(service.url, '--fields', 'id');
    await polled();
    const { id } = service.addLead();
    clock.advance(10_000);
    await polled();
    expect(live.stdout.text().split('\n').slice(-2)).toEqual([id, '']);
    expect(live.stdout.text().match(/^id$/gm)).toHaveLength(1);
    live.abort(new InterruptedError('SIGTERM'));
    expect((await live.done).exitCode).toBe(143);
  });
});

it('names the --where that narrows when the status filter is ignored', async () => {
  const records = ['new', 'sent'].map((status, i) => ({ id: `l${i}`, status }));
  const run = await listed(records, '--status', 'new', '--fields', 'id');
  expect(run.stderr).toBe(
    "note: the service also lists leads with status 'sent'; to narrow here: --where status=new\n",
  );
  expect(run.stdout).toBe('id\nl0\nl1\n');
});
