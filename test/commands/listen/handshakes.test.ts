import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sign } from '../../../src/library/webhook.ts';
import { freshHome, leads } from '../../support/run.ts';
import { type Listener, listenInEachTest } from './support.ts';

const start = listenInEachTest();

const listenFor = (scheme: string, secret: string, home = freshHome()): Promise<Listener> =>
  start(['--format', 'events', '--scheme', scheme, '--secret', secret], { home });

/** Posts what the vendor signs. */
async function signed(
  listener: Listener,
  scheme: 'slack' | 'twitch' | 'discord' | 'meta' | 'intercom',
  secrets: string,
  body: unknown,
  more: Readonly<Record<string, string>> = {},
) {
  const delivery = await sign(JSON.stringify(body), { scheme, secrets, now: listener.clock.now() });
  return listener.post(delivery.body, { ...delivery.headers, ...more });
}

const answered = { verdict: 'other', reason: 'handshake', leadId: null, lead: null };

describe('the registration at a vendor is answered', () => {
  it('slack: with the challenge, once its signature verifies', async () => {
    const listener = await listenFor('slack', 's3cret');
    const body = { token: 't', challenge: '3eZbrw1aBm2rZgRNFdxV', type: 'url_verification' };
    expect(await signed(listener, 'slack', 's3cret', body)).toMatchObject({
      status: 200,
      text: '3eZbrw1aBm2rZgRNFdxV',
      headers: { 'content-type': 'text/plain' },
    });
    expect(listener.events().at(-1)).toMatchObject({ ...answered, status: 200 });
    expect((await signed(listener, 'slack', 'another', body)).status).toBe(401);
    expect((await signed(listener, 'slack', 's3cret', { ...body, challenge: 1 })).status).toBe(400);
    await listener.stop();
    const { stdout } = await leads(['inbox', 'list', '--json'], { home: listener.home });
    expect((JSON.parse(stdout) as unknown[]).length).toBe(2);
  });

  it('twitch: with the challenge of what its header calls a verification', async () => {
    const listener = await listenFor('twitch', 's3cret');
    const body = { challenge: 'pogchamp-kappa-360noscope', subscription: { id: 'f1c2' } };
    const type = 'Twitch-Eventsub-Message-Type';
    const verification = await signed(listener, 'twitch', 's3cret', body, {
      [type]: 'webhook_callback_verification',
    });
    expect(verification).toMatchObject({ status: 200, text: 'pogchamp-kappa-360noscope' });
    expect((await signed(listener, 'twitch', 's3cret', body, { [type]: 'notification' })).status).toBe(400);
  });

  it('discord: with a pong of the kind that was asked for', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const key = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex');
    const listener = await listenFor('discord', key);
    const ping = (body: unknown) => signed(listener, 'discord', pem, body);
    expect(await ping({ id: '1', version: 1, type: 1, token: 't' })).toMatchObject({
      status: 200,
      body: { type: 1 },
    });
    expect(await ping({ version: 1, type: 0 })).toMatchObject({ status: 204, text: '' });
    expect((await ping({ version: 1, type: 1, event: { type: 'ENTITLEMENT_CREATE' } })).status).toBe(400);
    expect(listener.events().slice(1, 3)).toMatchObject([answered, answered]);
    for (const type of [0, 1]) {
      const lead = { id: `lead_${type}`, type, category: 'solar', contact: { name: 'Ada' } };
      expect((await ping(lead)).status).toBe(200);
      await expect
        .poll(() => listener.events().at(-1))
        .toMatchObject({ verdict: 'accepted', leadId: lead.id });
    }
  });

  it('intercom: a HEAD finds the address', async () => {
    const listener = await listenFor('intercom', 's3cret');
    expect(await listener.post('', {}, '/', 'HEAD')).toMatchObject({ status: 200, text: '' });
    expect((await listener.post('', {}, '/', 'GET')).status).toBe(405);
  });

  it('meta: with the challenge, where its GET brings the verify token', async () => {
    const listener = await listenFor('{"scheme":"meta","verifyToken":"meaty&hamhock"}', 's3cret');
    const get = (token: string, mode = 'subscribe') =>
      listener.post(
        '',
        { accept: '*/*' },
        `/?hub.mode=${mode}&hub.challenge=1158201444&hub.verify_token=${encodeURIComponent(token)}`,
        'GET',
      );
    expect(await get('meaty&hamhock')).toMatchObject({
      status: 200,
      text: '1158201444',
      headers: { 'content-type': 'text/plain' },
    });
    expect(await get('of another app')).toMatchObject({ status: 403, body: { error: 'wrong_verify_token' } });
    expect((await get('meaty&hamhock', 'unsubscribe')).status).toBe(405);
    expect((await signed(listener, 'meta', 's3cret', { id: 'a', category: 'x' })).body).toMatchObject({
      id: 'a',
    });
    expect(listener.events().slice(1, 3)).toMatchObject([answered, { verdict: 'rejected', status: 403 }]);
    await listener.stop();
    const { stdout } = await leads(['inbox', 'list', '--json'], { home: listener.home });
    expect(stdout).toContain('hub.verify_token=[redacted]');
    expect(stdout + listener.stdout.text() + listener.stderr.text()).not.toMatch(/hamhock|another/);
  });

  it('meta: without a verify token of the scheme, the operator is told', async () => {
    const listener = await listenFor('meta', 's3cret');
    const path = '/?hub.mode=subscribe&hub.challenge=1&hub.verify_token=x';
    expect((await listener.post('', {}, path, 'GET')).status).toBe(405);
    expect(listener.events().at(-1)).toMatchObject({
      detail: expect.stringContaining('verifyToken') as string,
    });
  });
});

it('a verify token that is stored is not shown', async () => {
  const home = freshHome();
  const scheme = '{"scheme":"meta","verifyToken":"meaty-hamhock"}';
  expect((await leads(['config', 'set', 'webhook.scheme', scheme], { home })).exitCode).toBe(0);
  for (const argv of [['list'], ['list', '--json'], ['get', 'webhook.scheme']]) {
    const { stdout } = await leads(['config', ...argv], { home });
    expect(stdout).toContain('…hock');
    expect(stdout).not.toContain('hamhock');
  }
  const listener = await start(['--scheme', 'meta', '--secret', 's3cret'], { home });
  const path = '/?hub.mode=subscribe&hub.challenge=1&hub.verify_token=meaty-hamhock';
  expect((await listener.post('', {}, path, 'GET')).text).toBe('1');
});
