import { verify as verifyGithub } from '@octokit/webhooks-methods';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/time/clock.ts';
import { cases } from '../../webhook/schemes/every.ts';
import { listenInEachTest } from '../listen/support.ts';
import { type Received, records, send } from './support.ts';
import { expectVerified } from './verifying-receiver.ts';

const listen = listenInEachTest();

test.each(cases.map((one) => [one.name, one] as const))(
  'listen accepts what is sent by the scheme %s',
  async (_, one) => {
    const secret = [one.name === 'token' ? '--token' : '--secret', one.secret];
    const listener = await listen([...one.flags, ...secret, '--format', 'events', '--inbox', ':memory:'], {
      clock: systemClock,
    });
    const run = await send(listener.url, [...one.flags, ...secret, '--sample', '2', '--json'], {
      home: listener.home,
      clock: systemClock,
    });
    expect(run).toMatchObject({ exitCode: 0, stderr: '' });
    expect(
      records(run).attempts.map(({ answer }) => (JSON.parse(String(answer)) as { status: string }).status),
    ).toEqual(['accepted', 'accepted']);
  },
);

const whsec = 'whsec_c2VjcmV0IG9mIHRoZSBzZW5kIHRlc3Rz';
const text = 'a secret of the send tests';
const header = ({ headers }: Received, name: string): string => String(headers[name]);

/** Receivers as the vendors' documentation writes them: each throws for what it does not accept. */
const receivers: readonly (readonly [string, string, string, (request: Received) => unknown])[] = [
  [
    'standardwebhooks',
    'standard-webhooks',
    whsec,
    ({ body, headers }) => new StandardWebhook(whsec).verify(body, headers as Record<string, string>),
  ],
  [
    '@octokit/webhooks-methods',
    'github',
    text,
    async (request) => {
      const ok = await verifyGithub(text, request.body.toString(), header(request, 'x-hub-signature-256'));
      if (!ok) throw new Error('wrong signature');
    },
  ],
];

test.each(receivers)("%s accepts it, and rejects another secret's", async (_, scheme, secret, verify) => {
  await expectVerified(scheme, secret, verify);
});
