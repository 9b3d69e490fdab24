import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Delivery } from '../../src/webhook/delivery.ts';
import type { Key, Scheme } from '../../src/webhook/scheme.ts';
import { systemClock, type Clock } from '../../src/time/clock.ts';
import { freshHome } from '../support/run.ts';
import { type Running, startReceiver, type Steps } from './obedient-receiver.ts';
import { check, type CheckRun, hurriedClock, named } from './support.ts';

const token = 'Token-of-the-Tests';
const standard = `whsec_${Buffer.from('a shared secret of thirty bytes').toString('base64')}`;

/** Time and nonce stand beside the token and are not signed. */
const timedToken = JSON.stringify({ scheme: 'token', timestampHeader: 'x-time', nonceHeader: 'x-nonce' });

const secretOf = (scheme: string): string => (scheme === 'standard-webhooks' ? standard : token);
const flagsOf = (scheme: string): string[] =>
  scheme === 'token'
    ? ['--token', token]
    : scheme === timedToken
      ? ['--scheme', scheme, '--token', token]
      : ['--scheme', scheme, '--secret', secretOf(scheme)];

async function checkBroken(
  scheme: string,
  broken: (running: Running) => Partial<Steps>,
  argv: readonly string[] = [],
  clock: Clock = hurriedClock,
): Promise<CheckRun> {
  const { url } = await startReceiver(scheme, secretOf(scheme), broken);
  return check([url, ...flagsOf(scheme), ...argv], { clock });
}

const tokenOf = (delivery: { rawHeaders: readonly (readonly [string, string])[] }): string | undefined => {
  const values = delivery.rawHeaders.filter(([name]) => /^x-webhook-token$/i.test(name));
  return values.length === 1 ? values[0]?.[1] : undefined;
};

/** Takes a delivery where this holds, besides every genuine one. */
const takesAlso = (isTaken: (delivery: Delivery) => boolean) => (): Pick<Steps, 'authenticates'> => ({
  authenticates: (delivery, scheme, key) => isTaken(delivery) || scheme.authenticate(delivery, [key]).ok,
});

const headerOf = ({ rawHeaders }: Pick<Delivery, 'rawHeaders'>, wanted: string): string | undefined =>
  rawHeaders.find(([name]) => name.toLowerCase() === wanted)?.[1];

/** How long ago it was signed, in milliseconds; endless for a forgery. */
function ageOf(delivery: Delivery, scheme: Scheme, key: Key): number {
  const verification = scheme.authenticate(delivery, [key]);
  return verification.ok ? Date.now() - (verification.timestamp ?? 0) : Infinity;
}

interface Row {
  readonly what: string;
  /** Of section 4.2 of the specification: what breaks it fails a `must`. */
  readonly rule?: 2 | 3 | 5 | 6 | undefined;
  readonly scheme?: string;
  readonly broken: (running: Running) => Partial<Steps>;
  /** The form that the first of them names. */
  readonly form?: string;
  readonly failed: readonly string[];
}

const rows: readonly Row[] = [
  {
    what: 'takes any token',
    broken: () => ({ authenticates: (delivery) => Boolean(tokenOf(delivery)) }),
    rule: 3,
    failed: ['credential.wrong'],
  },
  {
    what: 'compares tokens without regard to case',
    broken: () => ({ authenticates: (one) => tokenOf(one)?.toLowerCase() === token.toLowerCase() }),
    rule: 3,
    form: 'to one in other letter case',
    failed: ['credential.wrong'],
  },
  {
    what: 'compares as much of the token as was sent',
    broken: () => ({ authenticates: (one) => token.startsWith(tokenOf(one) ?? '-') }),
    rule: 3,
    failed: ['credential.missing', 'credential.wrong'],
  },
  {
    what: 'compares as much as the token is long',
    broken: () => ({ authenticates: (one) => tokenOf(one)?.startsWith(token) === true }),
    rule: 3,
    form: 'to one with more behind it',
    failed: ['credential.wrong'],
  },
  {
    what: 'lets a delivery without a token in',
    broken: takesAlso((one) => headerOf(one, 'x-webhook-token') === undefined),
    rule: 3,
    form: 'without x-webhook-token',
    failed: ['credential.missing'],
  },
  {
    what: 'takes the first of two tokens',
    broken: () => ({
      authenticates: (one) => one.rawHeaders.find(([name]) => /^x-webhook-token$/i.test(name))?.[1] === token,
    }),
    failed: ['credential.doubled'],
  },
  {
    what: 'takes any signature that has the right form',
    scheme: 'github',
    broken: () => ({
      authenticates(delivery, scheme, key) {
        const verification = scheme.authenticate(delivery, [key]);
        return verification.ok || verification.reason === 'wrong_credential';
      },
    }),
    rule: 3,
    form: 'to a wrong one',
    failed: ['credential.wrong'],
  },
  {
    what: 'ignores the signed time',
    scheme: 'slack',
    broken: () => ({ isInTime: () => true }),
    rule: 5,
    failed: ['time.far', 'time.window'],
  },
  {
    what: 'tolerates what comes from the future',
    scheme: 'stripe',
    broken: () => ({ isInTime: (...delivered) => ageOf(...delivered) < 300_000 }),
    rule: 5,
    form: 'signed a week in the future',
    failed: ['time.far'],
  },
  {
    what: 'takes a nonce twice',
    scheme: 'standard-webhooks',
    broken: () => ({ isReplay: () => false }),
    rule: 5,
    failed: ['replay.nonce'],
  },
  {
    what: 'takes a retry for a replay',
    scheme: 'standard-webhooks',
    broken() {
      const seen = new Set<string>();
      return { isReplay: (nonce) => seen.has(nonce) || !seen.add(nonce).has(nonce) };
    },
    rule: 5,
    failed: ['replay.retry'],
  },
  {
    what: 'verifies what it has parsed and written again',
    scheme: 'github',
    broken: () => ({
      authenticates(delivery, scheme, key) {
        try {
          const body = Buffer.from(JSON.stringify(JSON.parse(Buffer.from(delivery.body).toString())));
          return scheme.authenticate({ ...delivery, body }, [key]).ok;
        } catch {
          return scheme.authenticate(delivery, [key]).ok;
        }
      },
    }),
    failed: ['body.spelling'],
  },
  {
    what: 'answers 500 to what it cannot parse',
    broken: () => ({
      parse(body) {
        try {
          return JSON.parse(body.toString()) as unknown;
        } catch (cause) {
          throw new Error('unexpected', { cause });
        }
      },
    }),
    failed: ['body.no-lead'],
  },
  {
    what: 'answers 500 to everything once one lead came ten times',
    broken() {
      const counts = new Map<string, number>();
      return {
        withBody({ body }, _chunks, response) {
          const isSpoilt = [...counts.values()].includes(10);
          const id = idOf(body) ?? '';
          counts.set(id, (counts.get(id) ?? 0) + 1);
          if (isSpoilt) response.writeHead(500).end();
          return isSpoilt;
        },
      };
    },
    rule: 2,
    failed: ['health.alive'],
  },
  {
    what: 'answers 204',
    broken: () => ({ answer: (response, status) => response.writeHead(status === 200 ? 204 : status).end() }),
    rule: 2,
    failed: ['delivery.valid'],
  },
  {
    what: 'refuses what it knows',
    broken({ stored }) {
      return {
        answer: (response, status, { delivery }) =>
          response.writeHead(status === 200 && isKnown(delivery.body) ? 409 : status).end(),
      };
      function isKnown(body: Uint8Array): boolean {
        const { id } = JSON.parse(Buffer.from(body).toString()) as { id: string };
        const count = (stored.get(`answered ${id}`) ?? 0) + 1;
        stored.set(`answered ${id}`, count);
        return count > 1;
      }
    },
    rule: 6,
    failed: ['dedupe.repeat'],
  },
  {
    what: 'tells the token',
    broken: () => ({
      answer: (response, status) => response.writeHead(status, { 'x-debug': `want ${token}` }).end(token),
    }),
    rule: 3,
    failed: ['leak.secret'],
  },
  {
    what: 'takes PUT for POST',
    broken: () => ({ takesMethod: (method) => method !== 'GET' }),
    failed: ['protocol.method'],
  },
  {
    what: 'takes any content type',
    broken: () => ({ takesType: () => true }),
    failed: ['protocol.content-type'],
  },
  {
    what: 'takes no parameter of the content type',
    broken: () => ({ takesType: (type) => type === 'application/json' }),
    form: 'to charset=utf-8',
    failed: ['protocol.variants'],
  },
  {
    what: 'verifies nothing without webhook-id',
    scheme: 'standard-webhooks',
    broken: takesAlso((one) => headerOf(one, 'webhook-id') === undefined),
    rule: 3,
    form: 'without webhook-id',
    failed: ['credential.missing'],
  },
  {
    what: 'verifies nothing without all headers of the scheme',
    scheme: 'standard-webhooks',
    broken: takesAlso(({ rawHeaders }) => rawHeaders.every(([name]) => !/^webhook-/i.test(name))),
    rule: 3,
    form: 'without all of them',
    failed: ['credential.missing'],
  },
  {
    what: 'verifies nothing where the time is empty',
    scheme: 'slack',
    broken: takesAlso((one) => headerOf(one, 'x-slack-request-timestamp') === ''),
    rule: 3,
    form: 'with x-slack-request-timestamp empty',
    failed: ['credential.missing'],
  },
  {
    what: 'verifies nothing without a signature of version 1',
    scheme: 'stripe',
    broken: takesAlso((one) => /^t=\d+$/.test(headerOf(one, 'stripe-signature') ?? '')),
    rule: 3,
    form: 'without part 2 of stripe-signature',
    failed: ['credential.missing'],
  },
  {
    what: 'verifies in the parser of JSON, and takes any content type',
    broken: () => ({
      takesType: () => true,
      ...takesAlso((one) => !/json/.test(headerOf(one, 'content-type') ?? ''))(),
    }),
    rule: 3,
    form: 'without any, as text/plain',
    failed: ['credential.missing', 'protocol.content-type'],
  },
  {
    what: 'tolerates a day',
    scheme: 'slack',
    broken: () => ({ isInTime: (...delivered) => Math.abs(ageOf(...delivered)) < 86_400_000 }),
    failed: ['time.window'],
  },
  {
    what: 'tolerates ten seconds',
    scheme: 'slack',
    broken: () => ({ isInTime: (...delivered) => Math.abs(ageOf(...delivered)) < 10_000 }),
    failed: ['time.skew'],
  },
  {
    what: 'remembers the nonce of a forgery',
    scheme: 'standard-webhooks',
    broken() {
      const forged = new Set<string>();
      return {
        authenticates(delivery, scheme, key) {
          const nonce = headerOf(delivery, 'webhook-id') ?? '';
          const { ok } = scheme.authenticate(delivery, [key]);
          if (!ok) forged.add(nonce);
          return ok && !forged.has(nonce);
        },
      };
    },
    rule: 3,
    failed: ['dedupe.forged'],
  },
  {
    what: 'answers 500 to characters of four bytes',
    broken: () => ({
      parse(body) {
        if (body.includes('👩')) throw new Error('Incorrect string value');
        return JSON.parse(body.toString() || '!') as unknown;
      },
    }),
    rule: 2,
    failed: ['body.unicode'],
  },
  {
    what: 'takes a delivery without the time beside the token',
    scheme: timedToken,
    broken: takesAlso((one) => tokenOf(one) === token && headerOf(one, 'x-time') === undefined),
    rule: 3,
    form: 'without x-time',
    failed: ['credential.missing'],
  },
];

describe('a receiver that', () => {
  test.each(rows)(
    '$what is caught by $failed alone',
    async ({ scheme = 'token', broken, rule, form, failed }) => {
      const run = await checkBroken(scheme, broken);
      expect([...run.failed].sort()).toEqual([...failed].sort());
      const broken42 = run.probes.filter(({ result, level }) => result === 'fail' && level === 'must');
      expect(run.exitCode).toBe(broken42.length > 0 ? 7 : 0);
      expect([...new Set(broken42.map((one) => one.rule))]).toEqual(
        rule === undefined ? [] : [`specification 4.2 rule ${rule}`],
      );
      if (form !== undefined)
        expect(run.probes.find(({ name }) => name === failed[0])?.detail).toContain(form);
      const output = run.stdout + run.stderr;
      expect(output).not.toContain(secretOf(scheme).replace('whsec_', ''));
      for (const { curl, name } of run.probes.filter(({ result }) => result === 'fail')) {
        expect([name, curl]).toEqual([name, expect.stringMatching(/(?:^|\| )curl -i /)]);
      }
    },
  );

  test('obeys fails nothing, and what cannot be seen from outside is a warning', async () => {
    for (const scheme of ['token', timedToken, 'standard-webhooks', 'stripe', 'slack', 'github']) {
      const run = await checkBroken(scheme, () => ({}));
      expect(run.failed).toEqual([]);
      expect(named(run, 'warn')).toEqual(['dedupe.repeat']);
      expect(run.exitCode).toBe(0);
    }
  });

  test('answers after 20 s fails by its time, and after 10 s is warned of', async () => {
    const times = (factor: number): Clock => ({
      ...hurriedClock,
      steady: () => systemClock.steady() * factor,
    });
    const late = (ms: number) => (): Partial<Steps> => ({
      answer: (response, status) => void setTimeout(() => response.writeHead(status).end(), ms),
    });
    const slow = await checkBroken('token', late(250), [], times(90));
    expect(slow.failed).toEqual(['health.time']);
    // On a busy machine an answer comes later still, so there is a second up to the time that fails.
    const notable = await checkBroken(
      'token',
      late(1000),
      ['--only', 'credential', '--only', 'health'],
      times(10.5),
    );
    expect(notable.failed).toEqual([]);
    expect(named(notable, 'warn')).toEqual(['health.time']);
  });
});

interface StorageRow {
  readonly what: string;
  readonly broken: (write: (id: string) => void) => Partial<Steps>;
  /** At least these: what others sent meanwhile decides on more. */
  readonly failed: readonly string[];
}

/** Stores what is new by `keyOf`. */
const storing =
  (keyOf: (id: string, body: Buffer) => string) =>
  (write: (id: string) => void): Partial<Steps> => {
    const known = new Set<string>();
    return {
      store(id, body) {
        if (!known.has(keyOf(id, body))) write(id);
        known.add(keyOf(id, body));
      },
    };
  };

const idOf = (body: Uint8Array): string | undefined =>
  /"id":"([^"]*)"/.exec(Buffer.from(body).toString())?.[1];

const storageRows: readonly StorageRow[] = [
  { what: 'stores each id once', broken: storing((id) => id), failed: [] },
  {
    what: 'stores each body once',
    broken: storing((_, body) => body.toString()),
    failed: ['dedupe.repeat'],
  },
  {
    what: 'stores each person once',
    broken: storing((_, body) => /"contact":\{[^}]*\}/.exec(body.toString())?.[0] ?? ''),
    failed: ['dedupe.other-lead'],
  },
  {
    what: 'remembers the last id alone',
    broken(write) {
      let last = '';
      return {
        store(id) {
          if (id !== last) write(id);
          last = id;
        },
      };
    },
    failed: ['dedupe.repeat'],
  },
  {
    what: 'looks whether it knows a lead long before it stores it',
    broken(write) {
      const known = new Set<string>();
      return {
        store(id) {
          if (!known.has(id)) write(id);
        },
        answer(response, status, { delivery }) {
          setTimeout(() => {
            known.add(idOf(delivery.body) ?? '');
            response.writeHead(status).end();
          }, 50);
        },
      };
    },
    failed: ['dedupe.repeat'],
  },
  {
    what: 'stores before it verifies',
    broken(write) {
      const known = new Set<string>();
      return {
        withBody(delivery) {
          const id = idOf(delivery.body);
          if (id !== undefined && !known.has(id)) write(id);
          known.add(id ?? '');
          return false;
        },
      };
    },
    failed: ['dedupe.forged'],
  },
  {
    what: 'remembers the id of a forgery',
    broken(write) {
      const known = new Set<string>();
      return {
        authenticates(one) {
          const isRight = tokenOf(one) === token;
          if (!isRight) known.add(idOf(one.body) ?? '');
          return isRight;
        },
        store(id) {
          if (!known.has(id)) write(id);
          known.add(id);
        },
      };
    },
    failed: ['dedupe.forged'],
  },
];

describe('with an oracle', () => {
  const withOracle = async (
    copies: number,
    pretends = (id: string): boolean => id === '',
  ): Promise<CheckRun> => {
    const file = join(freshHome(), 'stored');
    writeFileSync(file, '');
    const { url } = await startReceiver('token', token, () => ({
      store(id) {
        if (!pretends(id)) writeFileSync(file, `${id}\n`.repeat(copies), { flag: 'a' });
      },
    }));
    const oracle = `grep -cx "$LEAD_ID" ${file}; true`;
    return check([url, ...flagsOf('token'), '--only', 'delivery', '--only', 'dedupe', '--oracle', oracle]);
  };

  test('a receiver that acknowledges without storing is caught by all that counts what is stored', async () => {
    expect((await withOracle(0)).failed).toEqual(['dedupe.repeat', 'dedupe.other-lead', 'dedupe.forged']);
  });

  test('a receiver that stores what it knows again is caught by the probes of dedupe alone', async () => {
    const run = await withOracle(1);
    expect(run.failed).toEqual(['dedupe.repeat']);
    expect(run.probes.find(({ name }) => name === 'dedupe.repeat')?.detail).toBe(
      'it is stored 2 times when it came twice',
    );
    expect(run.exitCode).toBe(7);
  });

  test.each(storageRows)('a receiver that $what is caught by $failed', async ({ broken, failed }) => {
    const file = join(freshHome(), 'stored');
    writeFileSync(file, '');
    const { url } = await startReceiver('token', token, () =>
      broken((id) => writeFileSync(file, `${id}\n`, { flag: 'a' })),
    );
    const oracle = `grep -cx "$LEAD_ID" ${file}; true`;
    const run = await check([url, ...flagsOf('token'), '--only', 'dedupe', '--oracle', oracle]);
    expect(run.failed).toEqual(expect.arrayContaining([...failed]));
    expect(run.exitCode).toBe(failed.length > 0 ? 7 : 0);
    if (failed.length === 0) expect(named(run, 'warn')).toEqual([]);
  });

  test('an oracle that fails, or prints no number, proves nothing: the probe fails and says so', async () => {
    const { url } = await startReceiver('token', token);
    for (const [oracle, detail] of [
      ['exit 3', 'the oracle failed: exit 3'],
      ['echo many', 'the oracle printed no line with a number'],
    ]) {
      const run = await check([
        url,
        ...flagsOf('token'),
        '--only',
        'dedupe.repeat',
        '--oracle',
        oracle ?? '',
      ]);
      expect(run.probes.at(-1)?.detail).toBe(detail);
      expect(run.exitCode).toBe(7);
    }
  });
});
