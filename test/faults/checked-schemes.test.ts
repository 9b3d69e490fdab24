import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { probes } from '../../src/check/run-probes.ts';
import { openInboxReader } from '../../src/inbox/open-inbox.ts';
import { schemeNames } from '../../src/webhook/vendor-presets.ts';
import { systemClock } from '../../src/time/clock.ts';
import { freshHome } from '../support/run.ts';
import { listenInEachTest } from '../commands/listen/support.ts';
import { check } from '../check/support.ts';
import { full } from '../support/faults.ts';
import { openServer } from '../support/open-server.ts';

const listen = listenInEachTest();

const pem = (type: 'ed25519' | 'p256' | 'rsa'): string => {
  const encoding = { privateKeyEncoding: { type: 'pkcs8', format: 'pem' } } as const;
  const publicKeyEncoding = { type: 'spki', format: 'pem' } as const;
  if (type === 'ed25519')
    return generateKeyPairSync('ed25519', { ...encoding, publicKeyEncoding }).privateKey;
  return type === 'p256'
    ? generateKeyPairSync('ec', { namedCurve: 'P-256', ...encoding, publicKeyEncoding }).privateKey
    : generateKeyPairSync('rsa', { modulusLength: 2048, ...encoding, publicKeyEncoding }).privateKey;
};

const base64 = Buffer.from('a shared secret of thirty bytes').toString('base64');

const secretOf = (scheme: string): string =>
  ({
    'standard-webhooks': `whsec_${base64}`,
    svix: `whsec_${base64}`,
    discord: pem('ed25519'),
    sendgrid: pem('p256'),
  })[scheme] ?? 's3cret-of-the-tests';

const custom = {
  signatureHeader: 'x-acme-signature',
  nonceHeader: 'x-acme-id',
  encoding: 'base64',
  timestampHeader: 'x-acme-time',
  signedContent: '{id}.{timestamp}.{body}',
};

const timedToken = { scheme: 'token', timestampHeader: 'x-time', nonceHeader: 'x-nonce' };

const rows: readonly (readonly [what: string, flags: readonly string[]])[] = [
  ...schemeNames
    .filter((name) => name !== 'custom')
    .map((name): [string, string[]] => [
      name,
      ['--scheme', name, name === 'token' ? '--token' : '--secret', secretOf(name)],
    ]),
  ['a token with time and nonce', ['--scheme', JSON.stringify(timedToken), '--token', secretOf('token')]],
  ['custom', ['--scheme', JSON.stringify(custom), '--secret', 'another-secret']],
  [
    'an Ed25519 key of standard-webhooks',
    ['--scheme', 'standard-webhooks', '--secret', `whsk_${Buffer.alloc(32, 7).toString('base64')}`],
  ],
];

/** One of each way to sign: what else there are differs in names, which the tests of the schemes show. */
const main = [
  'token',
  'a token with time and nonce',
  'standard-webhooks',
  'stripe',
  'github',
  'square',
  'discord',
  'custom',
];

/** Serves how often the lead of an id is stored in the inbox. */
async function storedCounter(location: string): Promise<string> {
  const inbox = await openInboxReader({ location, clock: systemClock });
  const server = createServer((request, response) => {
    const leadId = new URL(request.url ?? '', 'http://localhost').searchParams.get('id') ?? '';
    const count = async (): Promise<number> => {
      let times = 0;
      for await (const _ of inbox.list({ leadId, verdicts: ['accepted'] })) times += 1;
      return times;
    };
    count().then(
      (times) => response.end(String(times)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const opened = await openServer(server);
  onTestFinished(async () => {
    await opened.close();
    await inbox.close();
  });
  return `${opened.url}/`;
}

const home = freshHome();

test.each(full ? rows : rows.filter(([what]) => main.includes(what)))(
  'listen passes every must and should with %s, and no probe is skipped without a reason',
  async (what, flags) => {
    // A handshake costs more than all the rest.
    const plain = what === 'token' || what === 'square' ? [] : ['--http'];
    const location = join(freshHome(), 'inbox.db');
    const listener = await listen([...flags, ...plain, '--inbox', location], {
      home,
      clock: systemClock,
    });
    const oracle = await storedCounter(location);
    const startedAt = performance.now();
    const run = await check(
      [listener.url, ...flags, '--strict', '--oracle', `curl -sG --data-urlencode "id=$LEAD_ID" ${oracle}`],
      { home },
    );
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    const odd = run.probes.filter(({ result }) => result === 'fail' || result === 'warn');
    expect(odd).toEqual([]);
    expect(run.probes.filter(({ result, detail }) => result === 'skip' && detail === '')).toEqual([]);
    expect([run.exitCode, run.probes.length]).toEqual([0, probes.length]);
    expect(run.summary.accepted.length).toBeGreaterThan(10);
  },
);
