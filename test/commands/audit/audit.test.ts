import { utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { gzipSync } from 'node:zlib';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { allClasses } from '../../../src/audit/classify-lead.ts';
import { InterruptedError } from '../../../src/errors.ts';
import type { Inbox } from '../../../src/inbox/inbox.ts';
import { readCreatedAt } from '../../../src/lead/raw-lead.ts';
import { startSandbox } from '../../../src/sandbox/start-sandbox.ts';
import { rejection } from '../../../src/webhook/delivery-answer.ts';
import { arrivalOf, openReceiver } from '../../support/both-sides.ts';
import { FakeClock } from '../../support/clock.ts';
import { freshHome, leads, type Run, type RunOptions } from '../../support/run.ts';
import { type Scripted, scripted, sendJson } from '../../support/service.ts';

const now = Date.UTC(2026, 5, 1, 12);
const hour = 3_600_000;
const ago = (hours: number): string => new Date(now - hours * hour).toISOString();

interface Lead {
  readonly id: string | number;
  readonly createdAt?: string | number | undefined;
  readonly [field: string]: unknown;
}

let listed: readonly Lead[];
let home: string;
let service: Scripted;
/** By how much the service's clock is ahead, ms; undefined: it sends no `Date`. */
let clockAhead: number | undefined;
/** Called before each answer. */
let onRequest: (nth: number) => Promise<void> | void;
/** The answer to a request; undefined: a page of the list by cursor. */
let answerWith: ((nth: number) => { status: number } | undefined) | undefined;

beforeEach(async () => {
  listed = [];
  home = freshHome();
  onRequest = () => undefined;
  answerWith = undefined;
  clockAhead = undefined;
  service = await scripted((request, response, nth) => {
    response.sendDate = false;
    if (clockAhead !== undefined) response.setHeader('date', new Date(now + clockAhead).toUTCString());
    void (async () => {
      await onRequest(nth);
      const failure = answerWith?.(nth);
      if (failure !== undefined) {
        response.writeHead(failure.status, { 'content-type': 'application/json' }).end('{"error":"x"}');
        return;
      }
      const url = new URL(request.url ?? '', 'http://localhost');
      const start = Number(url.searchParams.get('cursor') ?? 0);
      const end = start + Math.min(2, Number(url.searchParams.get('limit') ?? 2));
      const data = listed.slice(start, end).map((lead) => ({ ...lead, status: 'delivered' }));
      sendJson(response, { data, nextCursor: end < listed.length ? String(end) : null });
    })();
  });
});
afterEach(() => service.close());

const options = (more: RunOptions = {}): RunOptions => ({
  home,
  env: { LEADS_API_KEY: 'k', LEADS_BASE_URL: service.url, TMPDIR: tmpdir() },
  clock: new FakeClock(now, { hasty: true }),
  ...more,
});

const audit = (words: readonly string[] = [], more: RunOptions = {}): Promise<Run> =>
  leads(['audit', ...words], options(more));

interface Line {
  readonly type: string;
  readonly id: string;
  readonly class: string;
  readonly [field: string]: unknown;
}

interface Report {
  readonly exitCode: number;
  readonly stderr: string;
  /** Class by id. */
  readonly classes: Readonly<Record<string, string>>;
  readonly findings: readonly Line[];
  readonly summary: Readonly<Record<string, unknown>>;
}

async function report(words: readonly string[] = [], more: RunOptions = {}): Promise<Report> {
  const { stdout, stderr, exitCode } = await audit([...words, '--json'], more);
  const lines = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
  const findings = lines.filter(({ type }) => type === 'finding');
  const classes = Object.fromEntries(findings.map((line) => [line.id, line.class]));
  return { exitCode, stderr, classes, findings, summary: lines.at(-1) ?? {} };
}

async function receive(
  use: (inbox: Inbox) => Promise<unknown>,
  targets: readonly string[] = [],
): Promise<void> {
  const inbox = await openReceiver(home, now, targets);
  try {
    await use(inbox);
  } finally {
    await inbox.close();
  }
}

/** Takes leads in, a second after each was created, unless a time is given. */
const take = (received: readonly Lead[], receivedAt?: string, targets?: readonly string[]): Promise<void> =>
  receive(
    (inbox) =>
      inbox.take(
        received.map((lead) => {
          const created = readCreatedAt(lead.createdAt) ?? Number.NaN;
          const at = receivedAt === undefined ? created : Date.parse(receivedAt);
          const body = Buffer.from(JSON.stringify(lead));
          return arrivalOf(String(lead.id), body, (Number.isNaN(at) ? now - 24 * hour : at) + 1000);
        }),
      ),
    targets,
  );

const leadOf = (id: string, hours: number, more: object = {}): Lead => ({
  id,
  category: 'solar',
  createdAt: ago(hours),
  ...more,
});

/** The inbox keeps that a delivery with this body was rejected. */
const reject = (...bodies: readonly unknown[]): Promise<void> =>
  receive((inbox) =>
    inbox.reject(
      bodies.map((body) => ({
        delivery: arrivalOf('', Buffer.from(JSON.stringify(body)), now - hour).delivery,
        rejection: rejection('wrong_credential', 'not the token'),
      })),
    ),
  );

/** The finding of a lead whose id is its class. */
const findingOf = (kind: string, facts: object): object => ({
  ...{ type: 'finding', class: kind, id: kind, fields: null, receivedAt: null, reason: null },
  ...facts,
});

describe('leads audit', () => {
  it('under --quiet prints nothing where all is well, and on stderr what is wrong', async () => {
    listed = [leadOf('a', 1)];
    await take(listed);
    expect(await audit(['-q'])).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
    listed = [...listed, leadOf('b', 2)];
    const { exitCode, stdout, stderr } = await audit(['-q']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 7, stdout: '' });
    expect(stderr).toMatch(/^missing +b /m);
    expect(stderr.trimEnd().split('\n').at(-1)).toBe('not in order: 1 missing; 1 lead is on both sides');
  });

  it('finds nothing where both sides are equal, whatever the status is and how the body was written', async () => {
    listed = [leadOf('a', 1), leadOf('b', 2, { score: 1.5 }), leadOf('c', 3, { status: 'new' })];
    await receive((inbox) =>
      inbox.take([
        arrivalOf('a', Buffer.from(JSON.stringify(listed[0], undefined, 2)), now - hour),
        arrivalOf(
          'b',
          Buffer.from(`{"score":1.50,"id":"b","createdAt":"${ago(2)}","category":"solar"}`),
          now - 2 * hour,
        ),
        arrivalOf('c', Buffer.from(JSON.stringify({ ...listed[2], status: 'new' })), now - 3 * hour),
      ]),
    );
    const { exitCode, findings, summary, stderr } = await report();
    expect({ exitCode, findings, stderr }).toEqual({ exitCode: 0, findings: [], stderr: '' });
    expect(summary).toEqual({
      type: 'summary',
      window: { since: ago(7 * 24), until: null },
      horizon: ago(3),
      pulled: 3,
      received: 3,
      matched: 3,
      withoutId: 0,
      byClass: Object.fromEntries(allClasses.map((kind) => [kind, 0])),
      repaired: 0,
    });
  });

  it('names one class an id, the gravest that fits', async () => {
    listed = ['refused', 'missing', 'different', 'waiting', 'late', 'fine', 'young'].map((id, i) =>
      leadOf(id, id === 'young' ? 0.1 : i + 1),
    );
    listed = [...listed, leadOf('oldest', 100)];
    const [, , different, waiting, late, fine] = listed as Lead[];
    await take([fine as Lead, leadOf('extra', 50), leadOf('beyond', 110), leadOf('oldest', 100)]);
    await take([late as Lead], ago(1));
    await take([{ ...(different as Lead), contact: { name: 'x' }, category: 'roofing' }], ago(1));
    await take([waiting as Lead], ago(1), ['forward http://127.0.0.1:1/']);
    await reject(...['refused', 'fine', 'unlisted'].map((id) => leadOf(id, 1)));
    const { exitCode, findings, classes, summary } = await report();
    expect(exitCode).toBe(7);
    expect(classes).toEqual({
      refused: 'refused',
      missing: 'missing',
      extra: 'extra',
      different: 'different',
      waiting: 'waiting',
      late: 'late',
      young: 'unsettled',
      beyond: 'beyond-horizon',
    });
    const received = (hours: number): string => new Date(now - hours * hour + 1000).toISOString();
    expect(findings.slice(0, 4)).toEqual([
      findingOf('refused', { createdAt: ago(1), reason: 'wrong_credential' }),
      findingOf('missing', { createdAt: ago(2) }),
      findingOf('extra', { createdAt: ago(50), receivedAt: received(50) }),
      findingOf('different', { createdAt: ago(3), receivedAt: received(1), fields: ['category', 'contact'] }),
    ]);
    expect(summary).toMatchObject({ pulled: 8, received: 7, matched: 5 });
  });

  it('ends with 0 where leads are only too young, or older than what the service lists', async () => {
    listed = [leadOf('young', 0.1), leadOf('a', 1)];
    await take([leadOf('a', 1), leadOf('old', 30), leadOf('too young to be listed', 0.05)]);
    const { exitCode, classes } = await report();
    expect({ exitCode, classes }).toEqual({
      exitCode: 0,
      classes: { young: 'unsettled', old: 'beyond-horizon', 'too young to be listed': 'unsettled' },
    });
    expect((await report(['--settle', '0s'])).classes).toMatchObject({ young: 'missing' });
  });

  it('counts only what was created in the window, by whichever side says so', async () => {
    listed = [
      leadOf('in', 5),
      leadOf('in by the service, out by the body', 5),
      leadOf('out by the service, in by the body', 15),
      leadOf('out', 15),
      leadOf('missing, out', 16),
    ];
    await take([
      leadOf('in', 5),
      leadOf('in by the service, out by the body', 15),
      leadOf('out by the service, in by the body', 5),
    ]);
    await take([leadOf('created before, received within', 15)], ago(6));
    await take([leadOf('extra, out', 15)]);
    const { classes, summary } = await report(['--since', '10h']);
    expect(classes).toEqual({
      'in by the service, out by the body': 'different',
      'out by the service, in by the body': 'different',
    });
    expect(summary).toMatchObject({ pulled: 2, received: 3, matched: 2 });
  });

  it('does not take a lead for an extra one that the service lists outside of the filters', async () => {
    listed = [leadOf('moved', 5, { category: 'roofing' }), leadOf('a', 6), leadOf('end', 100)];
    await take([
      leadOf('moved', 5),
      leadOf('a', 6),
      leadOf('really extra', 7),
      leadOf('other', 7, { category: 'legal' }),
    ]);
    const { classes, findings } = await report(['--category', 'solar']);
    expect(classes).toEqual({ 'really extra': 'extra', end: 'missing', moved: 'different' });
    expect(findings.find(({ id }) => id === 'moved')).toMatchObject({
      fields: null,
      reason: 'the service lists it outside of the window or the filters',
    });
    expect((await report(['--where', 'category=solar'])).classes).toMatchObject({ 'really extra': 'extra' });
  });

  it('claims no extra lead where it filters by what only the list shows', async () => {
    listed = [leadOf('a', 5)];
    await take([leadOf('a', 5), leadOf('delivered by now', 1)]);
    for (const words of [
      ['--status', 'new'],
      ['--where', 'status=delivered'],
    ]) {
      const { exitCode, classes, summary } = await report(words);
      expect({ exitCode, classes }).toEqual({ exitCode: 0, classes: {} });
      expect(summary).toMatchObject({ byClass: { extra: null, 'beyond-horizon': null, missing: 0 } });
    }
    await leads(['config', 'set', 'api.path', '/api/leads?status=new'], options());
    expect(await report()).toMatchObject({ exitCode: 0, classes: {}, summary: { byClass: { extra: null } } });
    const { stdout } = await audit(['--status', 'new']);
    expect(stdout).toMatch(/^extra +\? +cannot be told$/m);
  });

  it('takes the leads of a delivery for refused that was rejected for another one in it', async () => {
    listed = [leadOf('a', 5), leadOf('b', 6), leadOf('c', 7)];
    await reject(
      [leadOf('a', 5), { category: 'solar' }],
      { data: [{ category: 'solar' }, leadOf('b', 6)] },
      { data: [leadOf('d', 7)], meta: leadOf('c', 7) },
    );
    expect((await report()).classes).toEqual({ a: 'refused', b: 'refused', c: 'refused' });
  });

  it('looks for the leads of rejected deliveries where listen was told that they are', async () => {
    listed = [leadOf('a', 5)];
    await reject({ a: { b: { c: { d: { e: leadOf('a', 5) } } } } });
    expect((await report()).classes).toEqual({ a: 'missing' });
    expect((await report(['--lead-at', '/a/b/c/d/e'])).classes).toEqual({ a: 'refused' });
  });

  it('says how many records of the service have no id', async () => {
    listed = [leadOf('a', 5), { ...leadOf('', 6), id: '' }];
    await take([leadOf('a', 5)]);
    const { exitCode, stderr, summary } = await report(['--quiet']);
    expect({ exitCode, summary }).toMatchObject({ exitCode: 7, summary: { pulled: 1, withoutId: 1 } });
    expect(stderr).toBe(
      'warning: 1 record of the service has no usable id, so nothing can be said about it\n',
    );
  });

  it('claims no all-clear where no record has the id that it looks for', async () => {
    listed = [leadOf('', 5, { id: undefined, ref: 'a' })];
    await take([leadOf('z', 1000)]);
    const { exitCode, stderr } = await report();
    expect(exitCode).toBe(7);
    expect(stderr).toBe(
      'warning: 1 record of the service has no usable id, so nothing can be said about it: leads config set api.id FIELD names another field\n',
    );
  });

  it('claims no extra lead where no lead of the list says how far back it reaches', async () => {
    listed = [{ id: 'a' }, { id: 'b' }];
    await take([{ id: 'a' }, { id: 'b' }, { id: 'x' }]);
    const { exitCode, findings, summary, stderr } = await report();
    expect({ exitCode, findings }).toEqual({ exitCode: 0, findings: [] });
    expect(summary).toMatchObject({ byClass: { missing: 0, extra: null, 'beyond-horizon': null } });
    expect(stderr).toContain("no lead of the list says in 'createdAt' when it was created");
  });

  it('names in the verdict what cannot be told', async () => {
    listed = [leadOf('a', 1)];
    await take(listed);
    const verdict = async (words: readonly string[]): Promise<string | undefined> =>
      (await audit(words)).stdout.trimEnd().split('\n').at(-1);
    expect(await verdict(['--status', 'delivered'])).toBe(
      'no finding; extra cannot be told; 1 lead is on both sides',
    );
    listed = [...listed, leadOf('b', 2)];
    expect(await verdict(['--status', 'delivered'])).toBe(
      'not in order: 1 missing; extra cannot be told; 1 lead is on both sides',
    );
    expect(await verdict([])).toBe('not in order: 1 missing; 1 lead is on both sides');
  });

  it('looks again at the end for a lead that arrives while the service is asked', async () => {
    listed = [leadOf('late comer', 1), leadOf('a', 2), leadOf('b', 3), leadOf('c', 4)];
    await take(listed.slice(1));
    onRequest = async (nth) => {
      if (nth === 1) await take([leadOf('late comer', 1)], ago(0));
    };
    const { exitCode, classes } = await report();
    expect({ exitCode, classes }).toEqual({ exitCode: 7, classes: { 'late comer': 'late' } });
  });

  it('does not claim that a lead is too much where the service lists nothing', async () => {
    await take([leadOf('a', 1)]);
    const { exitCode, classes, stderr } = await report(['--quiet']);
    expect({ exitCode, classes }).toEqual({ exitCode: 6, classes: { a: 'beyond-horizon' } });
    expect(stderr).toContain(
      'warning: the service lists no lead: whether one is missing, or too many, cannot be told\n',
    );
  });

  it('needs an inbox, also one that has none of the leads', async () => {
    listed = [leadOf('a', 1)];
    const none = await audit();
    expect(none.exitCode).toBe(3);
    expect(none.stderr).toMatch(/^error: there is no inbox at .*inbox\.db\nhint: .* --received FILE/);
    expect(service.requests).toEqual([]);
    await take([leadOf('z', 1000)]);
    expect(await audit()).toMatchObject({ exitCode: 7 });
  });

  it('says of leads whose body was pruned that they were not compared, and claims no difference', async () => {
    listed = [leadOf('same', 24), leadOf('other', 25, { n: 1 })];
    await take([leadOf('same', 24), leadOf('other', 25)]);
    await receive((inbox) => inbox.prune(now));
    const { exitCode, findings, stderr } = await report();
    expect({ exitCode, findings }).toEqual({ exitCode: 0, findings: [] });
    expect(stderr).toContain('1 lead has other bytes than what was received, and could not be compared');
  });

  it('finds extra leads whose body was pruned, as far as the filters let it', async () => {
    listed = [leadOf('a', 5), leadOf('outside', 10, { category: 'legal' }), leadOf('end', 100)];
    await take([...listed, leadOf('kept', 2), leadOf('x', 20), leadOf('json:"y"', 30), leadOf('old', 150)]);
    await take([leadOf('outside of the window', 1000)]);
    await receive((inbox) => inbox.prune(now - 4 * hour));
    const { exitCode, findings, summary } = await report();
    expect(exitCode).toBe(7);
    expect(summary).toMatchObject({ received: 7, byClass: { extra: 3, 'beyond-horizon': 1 } });
    expect(findings.map(({ id, class: kind, reason }) => [id, kind, reason])).toEqual([
      ['kept', 'extra', null],
      ['json:"y"', 'extra', 'when it was created is not known: its body was pruned'],
      ['x', 'extra', 'when it was created is not known: its body was pruned'],
      ['old', 'beyond-horizon', null],
    ]);
    const filtered = await report(['--category', 'solar']);
    expect(filtered.classes).toEqual({ kept: 'extra' });
    expect(filtered.stderr).toContain('warning: 3 received leads are not in the list, and may be extra');
  });
});

describe('what only the list has', () => {
  const minutes = (n: number): number => n / 60;

  it('is no finding where no push has it', async () => {
    listed = [
      leadOf('a', 1, { score: 7, owner: { name: 'x' } }),
      leadOf('b', 2),
      leadOf('c', 3, { score: 1 }),
    ];
    await take([leadOf('a', 1, { owner: null }), leadOf('b', 2), leadOf('c', 3)]);
    const { exitCode, findings, summary } = await report();
    expect({ exitCode, findings }).toEqual({ exitCode: 0, findings: [] });
    expect(summary).toMatchObject({ matched: 3 });
  });

  it.each([
    ['other', 8],
    ['the same', 7],
  ])('is a difference where another push has it, with %s content', async (_, pushed) => {
    listed = [leadOf('a', 1, { score: 7 }), leadOf('b', 2, { score: 7 })];
    await take([leadOf('a', 1), leadOf('b', 2, { score: pushed })]);
    expect((await report()).classes).toEqual({ a: 'different', ...(pushed === 8 && { b: 'different' }) });
  });

  it('leaves what else is wrong with the lead as it is, and --ignore names what is not compared', async () => {
    listed = [leadOf('late', 1, { score: 7 }), leadOf('edited', 2, { score: 7, name: 'y', tags: [1] })];
    await take([leadOf('edited', 2, { name: 'x', tags: [2] })]);
    await take([leadOf('late', 1)], ago(minutes(30)));
    const found = await report();
    expect(found.classes).toEqual({ late: 'late', edited: 'different' });
    expect(found.findings[0]).toMatchObject({ id: 'edited', fields: ['name', 'tags.0'] });
    const some = await report(['--ignore', 'name', '--ignore', 'score']);
    expect(some.findings[0]).toMatchObject({ id: 'edited', fields: ['tags.0'] });
    expect((await report(['--ignore', 'name', '--ignore', 'tags'])).classes).toEqual({ late: 'late' });
  });
});

describe("the service's clock", () => {
  it('decides how old a lead is, where it differs by more than a minute, and that is said', async () => {
    const minute = 60_000;
    for (const ahead of [-600 * minute, -20 * minute, 20 * minute, 600 * minute]) {
      clockAhead = ahead;
      home = freshHome();
      const theirs = (minutes: number): string => new Date(now + ahead - minutes * minute).toISOString();
      const at = (id: string, minutes: number): Lead => ({ ...leadOf(id, 0), createdAt: theirs(minutes) });
      listed = [at('young', 5), at('missing', 20), at('in time', 30), at('late', 40), at('end', 50)];
      const came = (minutes: number): string => new Date(now - minutes * minute).toISOString();
      await take([at('in time', 30)], came(29));
      await take([at('late', 40)], came(33));
      await take([at('end', 50)], came(50));
      const { classes, findings, stderr } = await report();
      expect(classes).toEqual({ young: 'unsettled', missing: 'missing', late: 'late' });
      expect(findings.find(({ id }) => id === 'late')?.['receivedAt']).toBe(
        new Date(now - 33 * minute + 1000).toISOString(),
      );
      const far = Math.abs(ahead) > 30 * minute ? '10h 0m' : '20m [01]s';
      const side = ahead > 0 ? 'behind' : 'ahead of';
      expect(stderr).toMatch(new RegExp(`^note: this machine's clock is ${far} ${side} the service's`, 'm'));
    }
  });

  it('decides whether a lead without a creation time came within the window', async () => {
    for (const ahead of [4, -4]) {
      clockAhead = ahead * hour;
      home = freshHome();
      listed = [leadOf('end', 200)];
      for (const hours of [10, 14, 22, 26]) await take([{ id: `${hours} h` }], ago(hours + ahead));
      for (const isPruned of [false, true]) {
        if (isPruned) await receive((inbox) => inbox.prune(now + 10 * hour));
        const { classes, summary } = await report(['--since', '24h', '--until', '12h']);
        expect(classes).toEqual({ '14 h': 'extra', '22 h': 'extra' });
        expect(summary).toMatchObject({ received: 2 });
      }
    }
  });

  it('does not decide where the service lists leads that are younger than its Date, and that is said', async () => {
    const leadsOf = Array.from({ length: 10 }, (_, i) => leadOf(`lead_${i + 2}`, i + 2));
    const received = leadsOf.filter((_, i) => i % 2 === 1);
    await take(received.slice(1));
    // Half an hour after it was created.
    await take(received.slice(0, 1), ago(2.5));
    for (const order of [leadsOf, leadsOf.toReversed(), [leadOf('old', 40), ...leadsOf.toReversed()]]) {
      for (const behind of [5, 20]) {
        listed = order;
        clockAhead = -behind * hour;
        const { exitCode, classes, stderr } = await report(['--since', '30h']);
        expect({ exitCode, classes }).toEqual({
          exitCode: 7,
          classes: {
            lead_3: 'late',
            ...Object.fromEntries([2, 4, 6, 8, 10].map((i) => [`lead_${i}`, 'missing'])),
          },
        });
        expect(stderr).toMatch(
          /^note: the service's 'Date' is older than .* \d+h \d+m behind this machine's clock/m,
        );
        expect(stderr).not.toContain('ahead of');
      }
    }
  });

  it('decides where a listed lead is younger than both clocks, or by less than a minute', async () => {
    clockAhead = -20 * hour;
    await take([leadOf('end', 25)]);
    for (const hours of [-2, 20 - 1 / 120]) {
      listed = [leadOf('a', hours), leadOf('b', 20.1), leadOf('c', 21), leadOf('end', 25)];
      const { classes, stderr } = await report(['--since', '30h']);
      expect(classes).toEqual({ a: 'unsettled', b: 'unsettled', c: 'missing' });
      expect(stderr).toContain("this machine's clock is 20h 0m ahead of the service's");
    }
  });

  it('says nothing where it differs by less', async () => {
    clockAhead = 50_000;
    listed = [leadOf('a', 1)];
    await take(listed);
    expect(await report()).toMatchObject({ exitCode: 0, stderr: '' });
  });
});

describe('test leads', () => {
  it('are counted where the service does not list them, and no finding', async () => {
    listed = [leadOf('a', 1), leadOf('b', 100)];
    await take([
      ...listed,
      leadOf('leads-send-abc-1', 0.01),
      leadOf('leads-check-k3f9x2-1', 2),
      leadOf('leads-check-k3f9x2-2', 150),
    ]);
    await reject(leadOf('leads-check-k3f9x2-3', 1));
    const { exitCode, classes, summary } = await report();
    expect({ exitCode, classes }).toEqual({ exitCode: 0, classes: {} });
    expect(summary).toMatchObject({ received: 5, byClass: { test: 3, extra: 0, 'beyond-horizon': 0 } });
    expect((await audit()).stdout).toMatch(
      /^test +3 +60\.00% +sent by leads send or leads check, and not listed: no finding$/m,
    );
  });
});

describe('an audit of a list that does not reach back far enough', () => {
  it('ends with 6 where most of what was received is older, and names the --since that fits', async () => {
    listed = [leadOf('a', 1), leadOf('b', 2)];
    await take([...listed, leadOf('c', 30), leadOf('d', 40)]);
    expect((await report()).exitCode).toBe(0);
    await take([leadOf('e', 50)]);
    const { exitCode, classes, stderr } = await report(['-q']);
    expect({ exitCode, classes }).toEqual({
      exitCode: 6,
      classes: { c: 'beyond-horizon', d: 'beyond-horizon', e: 'beyond-horizon' },
    });
    const { error } = JSON.parse(stderr) as { error: { message: string; hint: string } };
    expect(error.message).toContain('3 of 5 leads are older than the list');
    expect(error.hint).toBe('compare what it lists: leads audit --since 2026-06-01T10:00:01Z');
    expect(await report(['--since', '2026-06-01T10:00:01Z'])).toMatchObject({ exitCode: 0, classes: {} });
    listed = [];
    const empty = await audit();
    expect(empty).toMatchObject({ exitCode: 6 });
    expect(empty.stderr).toContain('5 of 5 leads are older than the list, and the service lists no lead');
  });

  it.each([10, 37])(
    'wants a proof of the one page of %d leads, and names the --since that fits',
    async (count) => {
      await service.close();
      const all = Array.from({ length: 60 }, (_, i) => leadOf(`lead_${i}`, i + 1));
      let page = all.slice(0, count);
      service = await scripted((request, response) => {
        response.sendDate = false;
        const { searchParams } = new URL(request.url ?? '', 'http://localhost');
        // That it takes a limit would be a proof for a number at which services rarely cut.
        const limit = count === 10 ? searchParams.get('limit') : null;
        sendJson(response, { data: page.slice(0, Number(limit ?? count)) });
      });
      // What never arrived is behind the page: nothing is missing in it.
      await take(page);
      const since = ago(count).replace(':00:00.000Z', ':00:01Z');
      const { stdout, exitCode, stderr } = await audit();
      expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 6 });
      expect(stderr).toContain(`or ask for no older leads than came: --since ${since}; or take`);
      expect(await report(['--since', since])).toMatchObject({ exitCode: 0, summary: { pulled: count - 1 } });
      const accepted = await report(['--accept-incomplete']);
      expect(accepted).toMatchObject({ exitCode: 0, summary: { pulled: count, byClass: { extra: null } } });
      page = page.reverse();
      expect((await audit()).stderr).not.toContain('--since');
      await leads(['config', 'set', 'api.pagination', 'none'], options());
      expect((await audit()).exitCode).toBe(0);
    },
  );
});

describe('an audit whose walk is not complete', () => {
  beforeEach(async () => {
    listed = Array.from({ length: 9 }, (_, i) => leadOf(`lead_${i}`, i + 1));
    await take([...listed.slice(1, 3), leadOf('extra', 2)]);
  });

  it('claims nothing where the service fails on the way, and says what was compared', async () => {
    answerWith = (nth) => (nth >= 2 ? { status: 500 } : undefined);
    const { stdout, stderr, exitCode } = await audit(['--json', '--retries', '1']);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 5 });
    expect(stderr).toMatch(
      /^note: \d leads were compared before that, 2 of them received; whether others are missing is not known$/m,
    );
    expect((await audit(['--missing', '--retries', '1'])).stdout).toBe('');
  });

  it('claims nothing where it is interrupted', async () => {
    const stop = new AbortController();
    onRequest = (nth) => {
      if (nth === 2) stop.abort(new InterruptedError('SIGINT'));
    };
    const run = await audit(['--json'], { signal: stop.signal });
    expect(run).toMatchObject({ exitCode: 130, stdout: '' });
  });
});

describe('leads audit --received', () => {
  const file = (content: string): string => {
    const path = join(home, 'received.ndjson');
    writeFileSync(path, content);
    return path;
  };
  const lines = (received: readonly Lead[]): string =>
    received.map((lead) => `${JSON.stringify(lead)}\n`).join('');

  it("compares with an application's own leads, and claims nothing that they do not show", async () => {
    listed = [leadOf('a', 1), leadOf('b', 2), leadOf('c', 3), leadOf('end', 100)];
    const received = lines([
      leadOf('a', 1),
      leadOf('b', 2, { category: 'legal' }),
      leadOf('x', 5),
      leadOf('end', 100),
      leadOf('end', 100),
    ]);
    const packed = join(home, 'received');
    writeFileSync(packed, gzipSync(received));
    for (const [words, stdin] of [
      [['--received', file(received)], ''],
      [['--received', packed], ''],
      [['--received', '-'], received],
    ] as const) {
      const { exitCode, classes, summary, stderr } = await report(words, { stdin });
      expect({ exitCode, classes }).toEqual({
        exitCode: 7,
        classes: { b: 'different', c: 'missing', x: 'extra' },
      });
      expect(summary).toMatchObject({ byClass: { late: null, waiting: null, refused: null } });
      expect(stderr).toContain('came before in it: of each id the first is compared');
    }
  });

  describe('with a file that was written before the end of the window', () => {
    /** A file that was written that many hours ago, with the leads that had been created by then. */
    const oldFile = (hours: number): string => {
      const written = now - hours * hour;
      const path = file(lines(listed.filter(({ createdAt }) => (readCreatedAt(createdAt) ?? 0) < written)));
      utimesSync(path, written / 1000, written / 1000);
      return path;
    };

    beforeEach(() => {
      listed = [leadOf('young', 0.1), leadOf('a', 1), leadOf('b', 2), leadOf('c', 30), leadOf('d', 200)];
    });

    it('ends with 6, also under --quiet, and names the window that it can show', async () => {
      const { exitCode, stdout, stderr } = await audit(['-q', '--received', oldFile(24)]);
      expect({ exitCode, stdout }).toEqual({ exitCode: 6, stdout: '' });
      expect(stderr).toMatch(
        /^error: .*received\.ndjson was written 1d 0h ago, too early to show whether 3 leads were received\nhint: write it again just before the audit, or compare what it can show: --since 2026-05-25T12:00:00\.000Z --until 2026-05-31T12:00:00\.000Z\n$/,
      );
      const window = /--since \S+ --until \S+/.exec(stderr)?.[0].split(' ') ?? [];
      expect(await audit(['-q', '--received', oldFile(24), ...window])).toMatchObject({
        ...{ exitCode: 0, stdout: '', stderr: '' },
      });
    });

    it('proposes no window where it was written before the window begins', async () => {
      const { exitCode, stderr } = await audit(['-q', '--received', oldFile(10 * 24)]);
      expect(exitCode).toBe(6);
      expect(stderr).toMatch(
        / 10d 0h ago, .* 4 leads were received\nhint: write it again just before the audit\n$/,
      );
    });

    it('says which leads were created after it or just before, apart from those that are young', async () => {
      const minutes: Readonly<Record<string, number>> = { after: 6, young: 12, 'just before': 21, lost: 27 };
      const path = oldFile(9 / 60);
      listed = [
        ...Object.entries(minutes).map(([id, n]) => leadOf(id, n / 60)),
        ...listed.filter(({ id }) => id !== 'young'),
      ];
      expect(await report(['--received', path])).toMatchObject({
        exitCode: 7,
        classes: { after: 'after-file', young: 'unsettled', 'just before': 'after-file', lost: 'missing' },
        summary: { byClass: { missing: 1, unsettled: 1, 'after-file': 2 } },
      });
      const { stdout, stderr } = await audit(['--received', path]);
      expect(stdout).toMatch(/^after-file +2 .* created after the file was written, or just before$/m);
      expect(stdout).toMatch(/^unsettled +1 .* younger than --settle: not counted$/m);
      expect(stderr).toBe('1 lead is younger than --settle: --settle 0s counts it\n');
      expect((await report(['--received', path, '--settle', '0s'])).classes).toEqual({
        ...{ after: 'after-file', young: 'missing', 'just before': 'missing', lost: 'missing' },
      });
    });

    it('ends with 6 as well where it lacks older leads, which it shows', async () => {
      const path = oldFile(24);
      listed = [...listed, leadOf('lost', 40)];
      expect(await report(['--received', path])).toMatchObject({ exitCode: 6, classes: { lost: 'missing' } });
    });

    it.each<[what: string, hours: number, ...words: string[]]>([
      ['was written a minute ago', 1 / 60],
      ['is newer than --until', 24, '--until', '25h'],
      ['is older than --until by less than --settle', 24, '--until', '2026-05-31T12:14Z'],
      ['is older than --until, while no lead was created after it', 24, '--until', '2026-05-31T12:16Z'],
      ['is newer than the end of --in', 0.5, '--in', 'yesterday'],
      ['is from the future', -1],
    ])('ends with 0 where it %s', async (_, hours, ...words) => {
      const path = oldFile(hours);
      expect(await audit(['-q', '--received', path, ...words])).toMatchObject({ exitCode: 0, stderr: '' });
    });

    it("is compared with the leads' times by the service's clock", async () => {
      clockAhead = 2 * hour;
      listed = listed.slice(2);
      const path = oldFile(1);
      // The service's clock shows 14:00 now, and showed 13:00 when the file was written.
      listed = [leadOf('after', -1.5), leadOf('before', -0.5), ...listed];
      expect((await report(['--received', path])).classes).toEqual({
        before: 'missing',
        after: 'after-file',
      });
    });
  });

  it('finds the id under the name that the profile has for it, and under the usual one', async () => {
    listed = ['a', 'b', 'c'].map((ref, i) => leadOf('', i + 5, { id: undefined, ref }));
    await leads(['config', 'set', 'api.id', 'ref'], options());
    const received = lines([leadOf('', 5, { id: undefined, ref: 'a' }), leadOf('b', 6)]);
    expect((await report(['--received', file(received)])).classes).toEqual({ c: 'missing' });
  });

  it('says that ids were rounded where missing and extra ones are the same floating-point number, and repairs nothing', async () => {
    const ids = ['9007199254740993', '9007199254740995', '12345678901234567891', '9007199254740990'];
    listed = [...ids.map((id, i) => leadOf(id, i + 1)), leadOf('end', 100)];
    const written = listed.map((lead) => (lead.id === 'end' ? lead : { ...lead, id: Number(lead.id) }));
    const words = ['--received', file(lines(written)), '--send-to', `${service.url}/receiver`, '--no-verify'];
    const { exitCode, summary, stderr } = await report(words);
    expect({ exitCode, summary }).toMatchObject({
      exitCode: 7,
      summary: { byClass: { missing: 3, extra: 3 }, repaired: 0 },
    });
    expect(stderr).toMatch(
      /^warning: 3 ids are those of missing leads, rounded by what wrote .*received\.ndjson, so that nothing is repaired: write ids as text, or by .* as jq does from 1\.7$/m,
    );
    expect(service.requests.filter((url) => url.startsWith('/receiver'))).toEqual([]);
    const others = lines([leadOf('9007199254740985', 1), leadOf('12e400', 1), leadOf('end', 100)]);
    expect((await report(['--received', file(others)])).stderr).toBe('');
  });

  it('reads an envelope of more leads than a delivery may have', async () => {
    listed = [leadOf('lead_1499', 1), leadOf('missing', 2)];
    const all = Array.from({ length: 1500 }, (_, i) => leadOf(`lead_${i}`, 1));
    const path = file(JSON.stringify({ data: all }));
    expect(await report(['--received', path])).toMatchObject({
      summary: { matched: 1, received: 1500, byClass: { missing: 1, extra: 1499 } },
    });
  });

  it('ends with 6 where objects hold no lead, and names --lead-at', async () => {
    listed = [leadOf('a', 1)];
    const deep = file(JSON.stringify({ data: { leads: listed } }));
    for (const words of [
      ['--lead-at', '/data'],
      ['--lead-at', '/rows'],
    ]) {
      const { exitCode, stdout, stderr } = await audit(['--received', deep, ...words]);
      expect([exitCode, stdout]).toEqual([6, '']);
      expect(stderr).toMatch(
        /^error: no lead was found in .*received\.ndjson: 1 record without a usable id$/m,
      );
      expect(stderr).toMatch(/^hint: --lead-at POINTER/m);
    }
    for (const words of [[], ['--lead-at', '/data/leads'], ['--lead-at', '/data/leads/*']])
      expect((await audit(['--received', deep, ...words])).exitCode).toBe(0);
    for (const empty of ['', '[]']) {
      const { exitCode, stderr } = await audit(['--received', file(empty)]);
      expect([empty, exitCode]).toEqual([empty, 7]);
      expect(stderr).toContain('holds no lead');
    }
    const { exitCode, stderr } = await audit(['--received', file('{"id":"a"}\n{"n":1}\n')]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('1 record of');
  });

  it('rejects a file that is no JSON, or is not there, and asks the service nothing', async () => {
    for (const content of ['{"id":"a"}\nnot json\n', '<html>', 'lead_1\nlead_2\n', 'null', '"a"']) {
      const { exitCode, stdout, stderr } = await audit(['--received', file(content)]);
      expect({ content, exitCode, stdout }).toEqual({ content, exitCode: 6, stdout: '' });
      expect(stderr).toMatch(/^error: .*received\.ndjson: /);
    }
    writeFileSync(join(home, 'cut.gz'), gzipSync('{"id":"a"}').subarray(0, -9));
    expect((await audit(['--received', join(home, 'cut.gz')])).stderr).toMatch(
      /^error: cannot read the leads in .*: the file is cut off\n/,
    );
    const none = await audit(['--received', join(home, 'none')]);
    expect(none.exitCode).toBe(6);
    expect(service.requests).toEqual([]);
  });

  it('rejects bare ids with an example of an object that has an id alone, which can be compared', async () => {
    listed = [leadOf('lead_1', 1)];
    const bare = await audit(['--received', file('lead_1\n')]);
    const [example = ''] = /\{.*\}/.exec(bare.stderr) ?? [];
    expect(await report(['--received', file(example)])).toMatchObject({
      exitCode: 0,
      summary: { matched: 1 },
    });
  });

  it('goes with no inbox, and --missing with no --json', async () => {
    expect((await audit(['--received', 'x', '--inbox', 'y'])).exitCode).toBe(2);
    expect((await audit(['--missing', '--json'])).exitCode).toBe(2);
    expect((await audit(['--inbox', ':memory:'])).exitCode).toBe(2);
  });
});

it('holds more missing leads than fit into its memory', async () => {
  const box = await startSandbox({ leads: 4000, newest: now - hour }, { clock: new FakeClock(now) });
  try {
    await take([leadOf('other', 10_000)]);
    const env = { LEADS_API_KEY: 'sandbox-key', LEADS_BASE_URL: box.url };
    const found = await report(['--since', '1000d'], { env });
    expect(found.summary).toMatchObject({ pulled: 4000, byClass: { missing: 4000 } });
    expect(Object.keys(found.classes)).toHaveLength(4001);
    const missing = await audit(['--since', '1000d', '--missing'], { env });
    expect(missing.stdout).toBe((await leads(['export', '--since', '1000d'], options({ env }))).stdout);
  } finally {
    await box.close();
  }
});

it('names the --late-after by which no lead is late that is only older than the receiver', async () => {
  listed = [leadOf('a', 1), leadOf('b', 5), leadOf('c', 6.5)];
  await take(listed, ago(0.1));
  const { exitCode, stderr } = await audit();
  expect(exitCode).toBe(7);
  expect(stderr).toBe('late leads that are only older than the receiver: --late-after 7h allows for them\n');
  expect(await audit(['--late-after', '7h'])).toMatchObject({ exitCode: 0, stderr: '' });
});

describe('what leads audit prints', () => {
  beforeEach(async () => {
    listed = [leadOf('a', 1), leadOf('b', 2), leadOf('evil\u001b[2J', 3), leadOf('end', 4)];
    await take([leadOf('a', 1), leadOf('end', 4, { category: 'x' })]);
  });

  it('is the counts, then the findings, as far as --limit says', async () => {
    const { stdout, stderr, exitCode } = await audit(['--limit', '2']);
    expect(exitCode).toBe(7);
    expect(stdout).toMatch(/^pulled +4 +created from 2026-05-25T12:00Z until now$/m);
    expect(stdout).toMatch(/^missing +2 +50\.00% +pulled, never received$/m);
    expect(stdout).toMatch(/^missing +b +2026-06-01T10:00:00\.000Z$/m);
    expect(stdout).not.toMatch(/^different +end/m);
    expect(stdout).not.toContain('\u001b');
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(
      'not in order: 2 missing, 1 different; 2 leads are on both sides',
    );
    expect(stderr).toBe('1 more finding: --limit all, or --json\n');
    expect((await audit(['--limit', 'all'])).stdout).toMatch(/^different +end .* fields: category$/m);
  });

  it('fits a terminal of 80 columns, and of 40', async () => {
    for (const terminal of [80, 40]) {
      const { stdout } = await audit([], { terminal });
      const widths = stdout.split('\n').map((line) => line.replace(/\u001b\[\d*m/g, '').length);
      expect(Math.max(...widths)).toBeLessThanOrEqual(terminal);
    }
  });

  it("is with --missing nothing but the missing leads, in the service's own bytes", async () => {
    const { stdout, stderr, exitCode } = await audit(['--missing']);
    expect(exitCode).toBe(7);
    expect(stdout).toBe(
      listed
        .slice(1, 3)
        .map((lead) => `${JSON.stringify({ ...lead, status: 'delivered' })}\n`)
        .join(''),
    );
    expect(stderr).toBe('2 leads are missing\n');
  });
});
