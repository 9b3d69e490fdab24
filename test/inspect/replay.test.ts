import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import type { WireDelivery, WireReplayed, WireRow } from '../../src/inspect/wire.ts';
import { Secret } from '../../src/secret.ts';
import type { Signer } from '../../src/sender/sign-request.ts';
import { systemClock } from '../../src/time/clock.ts';
import { rejection } from '../../src/webhook/delivery-answer.ts';
import { schemeNamed } from '../../src/webhook/scheme-registry.ts';
import { arrivalOf, deliveryOf, freshFile } from '../inbox/support.ts';
import { FakeClock } from '../support/clock.ts';
import { scriptedReceiver, type ScriptedReceiver } from '../support/scripted-service.ts';
import { inspect, type Inspected, targetAt } from './support.ts';

const apps: ScriptedReceiver[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

async function appThat(answer: (count: number) => number | undefined = () => 200): Promise<ScriptedReceiver> {
  const app = await scriptedReceiver((_, count) => answer(count));
  apps.push(app);
  return app;
}

async function replayed(page: Inspected, asked: object): Promise<{ status: number; answer: WireReplayed }> {
  const { status, text } = await page.post('/api/replays', asked);
  return { status, answer: JSON.parse(text) as WireReplayed };
}

const detailOf = async (page: Inspected, seq: number) =>
  JSON.parse((await page.get(`/api/deliveries/${seq}`)).text) as WireDelivery;

describe('a replay', () => {
  it('sends nothing, and says so, while a receiver sends the lead', async () => {
    const app = await appThat();
    const target = targetAt(app.url);
    const location = freshFile('inbox.db');
    const targets = [target.name];
    const inbox = await openInbox({ location, clock: systemClock, targets, claimMs: 60_000 });
    onTestFinished(() => inbox.close());
    await inbox.take([{ leadId: 'a', delivery: deliveryOf('{"id":"a"}') }]);
    await inbox.claim(target.name, 1);
    const clock = new FakeClock(Date.now(), { hasty: true });
    const page = await inspect({ inbox, targets: [target], clock });
    const { status, answer } = await replayed(page, { seq: 1, target: target.name });
    expect(status).toBe(409);
    expect(answer).toMatchObject({ problem: 'Nothing was sent: a receiver sends it now.' });
    expect(app.received).toEqual([]);
  });

  it('sends the stored bytes, unsigned and marked, and keeps the result', async () => {
    const app = await appThat((count) => (count === 1 ? 500 : 200));
    const page = await inspect({ targets: [targetAt(app.url)] });
    const body = Buffer.from(String.raw`{"id":"a",  "n":1e400,"x":"\u00e9\/" }`);
    const rawHeaders: [string, string][] = [
      ['Content-Type', 'application/json; charset=utf-8'],
      ['X-Webhook-Token', '[redacted]'],
      ['Leads-Replay', 'forged'],
      ['X-Own', 'kept'],
    ];
    await page.inbox.take([{ leadId: 'a', delivery: deliveryOf('{"id":"a"}', { rawHeaders }) }]);
    await page.inbox.take([{ leadId: 'a', delivery: deliveryOf(body, { rawHeaders }) }]);
    const target = `forward ${app.url}`;
    expect(await replayed(page, { seq: 1, target })).toMatchObject({
      status: 200,
      answer: { ok: false, answer: '500' },
    });
    // The delivery that was asked for, and not the lead's first one.
    expect((await replayed(page, { seq: 2, target })).answer).toMatchObject({ ok: true });
    const [, sent] = app.received;
    expect(sent?.body.equals(body)).toBe(true);
    expect(sent?.headers).toMatchObject({ 'leads-replay': '1', 'leads-lead-id': 'a', 'x-own': 'kept' });
    expect(sent?.headers).not.toHaveProperty('x-webhook-token');
    expect(sent?.headers).not.toHaveProperty('leads-verified');
    const { origin } = new URL(app.url);
    expect((await detailOf(page, 1)).results).toMatchObject([{ ok: false, target: `forward ${origin}` }]);
    expect(await detailOf(page, 2)).toMatchObject({ results: [{ ok: true }], done: 0 });
  });

  it('is signed anew by the scheme that was named', async () => {
    const scheme = schemeNamed('standard-webhooks', {});
    const key = scheme.key(new Secret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLwSw'));
    const signer: Signer = { scheme, key };
    const app = await appThat();
    const page = await inspect({ targets: [targetAt(app.url, signer)] });
    const rawHeaders: [string, string][] = [
      ['webhook-id', 'msg_old'],
      ['webhook-timestamp', '1'],
      ['webhook-signature', '[redacted]'],
    ];
    await page.inbox.take([{ leadId: 'a', delivery: deliveryOf('{"id":"a"}', { rawHeaders }) }]);
    await replayed(page, { seq: 1, target: `forward ${app.url}` });
    const [sent] = app.received;
    const delivery = deliveryOf(sent?.body ?? '', { rawHeaders: sent?.rawHeaders ?? [] });
    expect(scheme.authenticate(delivery, [key])).toMatchObject({ ok: true });
    expect(sent?.headers['webhook-id']).not.toBe('msg_old');
    const described = await page.get('/api/inbox');
    expect(JSON.parse(described.text)).toMatchObject({ targets: [{ scheme: 'standard-webhooks' }] });
  });

  it('ends the waiting of the lead for that target, and for nothing else', async () => {
    const [app, other] = [await appThat(), await appThat()];
    const targets = [app, other].map(({ url }) => targetAt(url));
    const [wanted = ''] = targets.map(({ name }) => name);
    const location = freshFile('inbox.db');
    const inbox = await openInbox({ location, clock: systemClock, targets: [wanted] });
    const page = await inspect({ inbox, targets });
    await inbox.take([arrivalOf({ id: 'a' })]);
    expect((await replayed(page, { seq: 1, target: `forward ${other.url}` })).answer.ok).toBe(true);
    expect(await inbox.targetCounts()).toHaveLength(1);
    expect((await replayed(page, { seq: 1, target: wanted })).answer.ok).toBe(true);
    expect(await inbox.targetCounts()).toEqual([]);
    expect(await detailOf(page, 1)).toMatchObject({ verdict: 'accepted', done: 1 });
    // What had it before gets it again: that is what a replay is for.
    expect((await replayed(page, { seq: 1, target: wanted })).answer).toMatchObject({ ok: true });
    expect(app.received.map(({ headers }) => headers['leads-attempt'])).toEqual(['1', '2']);
  });

  it('never sends a rejected delivery, or one that is gone', async () => {
    const app = await appThat();
    const page = await inspect({ targets: [targetAt(app.url)] });
    const lead = '{"id":"a","category":"x"}';
    const wrong = rejection('wrong_credential', 'the token is wrong');
    await page.inbox.reject([{ delivery: deliveryOf(lead), leadId: 'a', rejection: wrong }]);
    await page.inbox.take([arrivalOf({ id: 'gone' })]);
    await page.inbox.erase({ leadIds: ['gone'], rejected: [] });
    const target = `forward ${app.url}`;
    expect(await replayed(page, { seq: 1, target })).toMatchObject({
      status: 409,
      answer: { code: 'not-replayable' },
    });
    expect(await replayed(page, { seq: 2, target })).toMatchObject({
      status: 404,
      answer: { code: 'not-found' },
    });
    expect(app.received).toEqual([]);
  });

  it('is known as one by a receiver that stores it', async () => {
    const page = await inspect();
    const rawHeaders: [string, string][] = [['leads-replay', '1']];
    await page.inbox.take([{ leadId: 'a', delivery: deliveryOf('{"id":"a"}', { rawHeaders }) }]);
    const { text } = await page.get('/api/deliveries');
    expect((JSON.parse(text) as { rows: WireRow[] }).rows[0]?.source).toBe('replay');
  });
});
