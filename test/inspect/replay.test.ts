import { afterEach, describe, expect, it } from 'vitest';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import type { WireDelivery, WireReplayed, WireRow } from '../../src/inspect/wire.ts';
import { sentenceOf } from '../../src/messages/find-message.ts';
import { deliveryOfPulledLead } from '../../src/receiver/backfill.ts';
import { createReceiver } from '../../src/receiver/create-receiver.ts';
import { inboxRequirements } from '../../src/receiver/inbox-requirements.ts';
import type { Target, TargetResult } from '../../src/receiver/targets/target.ts';
import { Secret } from '../../src/secret.ts';
import type { Signer } from '../../src/sender/sign-request.ts';
import { type Clock, systemClock } from '../../src/time/clock.ts';
import { rejection } from '../../src/webhook/delivery-answer.ts';
import { schemeNamed } from '../../src/webhook/scheme-registry.ts';
import { all, arrivalOf, deliveryOf } from '../inbox/support.ts';
import { FakeClock } from '../support/clock.ts';
import { ScriptedReceiver } from '../support/scripted-receiver.ts';
import { inspect, type Inspected, targetAt } from './support.ts';

const apps: ScriptedReceiver[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

async function appThat(answer: (count: number) => number | undefined = () => 200): Promise<ScriptedReceiver> {
  const app = await new ScriptedReceiver((_, count) => answer(count)).open();
  apps.push(app);
  return app;
}

async function replayed(page: Inspected, asked: object): Promise<{ status: number; answer: WireReplayed }> {
  const { status, text } = await page.post('/api/replays', asked);
  return { status, answer: JSON.parse(text) as WireReplayed };
}

const detailOf = async (page: Inspected, seq: number) =>
  JSON.parse((await page.get(`/api/deliveries/${seq}`)).text) as WireDelivery;

/** An app that answers when the test says so. */
class HeldApp implements Target {
  readonly name = 'forward http://127.0.0.1:1';
  readonly answers: ((result: TargetResult) => void)[] = [];

  deliver(...[, leads]: Parameters<Target['deliver']>): readonly Promise<TargetResult>[] {
    const result = new Promise<TargetResult>((resolve) => this.answers.push(resolve));
    return leads.map(() => result);
  }

  async requests(count: number): Promise<void> {
    await expect.poll(() => this.answers.length).toBe(count);
  }

  /** To its last request. */
  answer(status: number): void {
    const ok = status === 200;
    this.answers.at(-1)?.({ to: 'forward', ok, answer: String(status), durationMs: 1, status });
  }
}

/** The page of a receiver whose app it replays to. */
async function besideReceiver(clock: Clock = systemClock) {
  const app = new HeldApp();
  const scheme = schemeNamed('token', {});
  const policy = { path: undefined, scheme, keys: [] };
  const inbox = await openInbox({ location: ':memory:', clock, ...inboxRequirements(policy, [app]) });
  const receiver = createReceiver({
    ...{ policy, inbox, targets: [app], clock, sentenceOf },
    note: () => undefined,
  });
  const wire = { name: app.name, isLocal: true, scheme: null };
  const { handAlone } = receiver;
  const page = await inspect({ inbox, targets: [{ target: app, url: app.name, wire }], handAlone });
  return { app, page, receiver, inbox };
}

const pulledLead = deliveryOfPulledLead(
  { bytes: Buffer.from('{"id":"a"}'), id: 'a', createdAt: undefined, category: undefined },
  new URL('https://service.test/api'),
  1_000,
);

describe('a replay', () => {
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
      answer: { ok: false, answer: '500', leadId: 'a', settled: null },
    });
    // The delivery that was asked for, and not the lead's first one.
    expect((await replayed(page, { seq: 2, target })).answer).toMatchObject({ ok: true, settled: null });
    const [, sent] = app.received;
    expect(sent?.body.equals(body)).toBe(true);
    expect(sent?.headers).toMatchObject({ 'leads-replay': '1', 'leads-lead-id': 'a', 'x-own': 'kept' });
    expect(sent?.headers).not.toHaveProperty('x-webhook-token');
    expect(sent?.headers).not.toHaveProperty('leads-verified');
    const { origin } = new URL(app.url);
    expect((await detailOf(page, 1)).results).toMatchObject([{ ok: false, target: `forward ${origin}` }]);
    expect(await detailOf(page, 2)).toMatchObject({ results: [{ ok: true }], delivered: 1 });
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

  it('settles what is outstanding for that target, and nothing else', async () => {
    const [app, other] = [await appThat(), await appThat()];
    const targets = [app, other].map(({ url }) => targetAt(url));
    const [wanted = ''] = targets.map(({ target }) => target.name);
    const inbox = await openInbox({ location: ':memory:', clock: systemClock, targets: [wanted] });
    const page = await inspect({ inbox, targets });
    await inbox.take([arrivalOf({ id: 'a' })]);
    expect((await replayed(page, { seq: 1, target: `forward ${other.url}` })).answer.settled).toBe(null);
    expect(await inbox.outstanding()).toHaveLength(1);
    const { origin } = new URL(app.url);
    expect((await replayed(page, { seq: 1, target: wanted })).answer.settled).toBe(`forward ${origin}`);
    expect(await inbox.outstanding()).toEqual([]);
    expect(await detailOf(page, 1)).toMatchObject({ verdict: 'accepted', delivered: 2 });
    // What had it before gets it again: that is what a replay is for.
    expect((await replayed(page, { seq: 1, target: wanted })).answer).toMatchObject({
      ok: true,
      settled: null,
    });
    expect(app.received.map(({ headers }) => headers['leads-attempt'])).toEqual(['1', '2']);
  });

  it('never sends a rejected delivery, one that is gone, or one that is on its way', async () => {
    const app = await appThat();
    const page = await inspect({
      targets: [targetAt(app.url)],
      handAlone: ({ leadId }, hand) => (leadId === 'busy' ? Promise.resolve(undefined) : hand()),
    });
    const lead = '{"id":"a","category":"x"}';
    const wrong = rejection('wrong_credential', 'the token is wrong');
    await page.inbox.reject([{ delivery: deliveryOf(lead), leadId: 'a', rejection: wrong }]);
    await page.inbox.take([arrivalOf({ id: 'busy' }), arrivalOf({ id: 'gone' })]);
    await page.inbox.erase({ leadIds: ['gone'], rejected: [] });
    const target = `forward ${app.url}`;
    expect(await replayed(page, { seq: 1, target })).toMatchObject({
      status: 409,
      answer: { code: 'not-replayable' },
    });
    expect(await replayed(page, { seq: 1, target, body: lead })).toMatchObject({ status: 409 });
    expect(await replayed(page, { seq: 2, target })).toMatchObject({ status: 409, answer: { code: 'busy' } });
    expect(await replayed(page, { seq: 3, target })).toMatchObject({
      status: 404,
      answer: { code: 'not-found' },
    });
    expect(app.received).toEqual([]);
  });

  it.each([
    ['took', 200, 'duplicate', 200],
    ['did not take', 500, 'pending', 502],
  ])(
    'of a receiver and a delivery of its lead are one forward, which the app %s',
    async (_, answer, verdict, status) => {
      const { app, page, receiver, inbox } = await besideReceiver();
      await inbox.take([arrivalOf({ id: 'a' })]);
      const replay = replayed(page, { seq: 1, target: app.name });
      await app.requests(1);
      const answered = receiver.handleChecked(pulledLead, 'push');
      await expect.poll(async () => (await all(inbox.list({}))).length).toBe(2);
      // The delivery is dispatched, and another replay is refused.
      await new Promise(setImmediate);
      expect(receiver.isDispatching('a')).toBe(true);
      app.answer(answer);
      expect((await replay).answer).toMatchObject({ ok: answer === 200 });
      expect((await answered).status).toBe(status);
      const [second] = await all(inbox.list({}));
      expect(second?.verdict).toBe(verdict);
      expect(app.answers.length).toBe(1);
    },
  );

  it('keeps its lease while the app takes long, and is refused while the receiver hands the lead on', async () => {
    const clock = new FakeClock();
    const { app, page, receiver, inbox } = await besideReceiver(clock);
    await inbox.take([arrivalOf({ id: 'a' })]);
    const replay = replayed(page, { seq: 1, target: app.name });
    await app.requests(1);
    for (let step = 1; step <= 40; step += 1) {
      await expect.poll(() => clock.sleeps.length).toBe(step);
      clock.advance(250);
      await new Promise(setImmediate);
      expect(await inbox.due(app.name, clock.now(), 10)).toEqual([]);
    }
    app.answer(500);
    expect((await replay).answer).toMatchObject({ ok: false });
    expect(await inbox.due(app.name, clock.now(), 10)).toMatchObject([{ leadId: 'a', tries: 1 }]);
    await new Promise(setImmediate);
    const answered = receiver.handleChecked(pulledLead, 'push');
    await app.requests(2);
    expect(await replayed(page, { seq: 1, target: app.name })).toMatchObject({ status: 409 });
    app.answer(200);
    expect((await answered).status).toBe(200);
    expect(app.answers.length).toBe(2);
  });

  it('that nobody takes is a result that is kept', async () => {
    const app = await appThat(() => undefined);
    const page = await inspect({ targets: [targetAt(app.url)] });
    await page.inbox.take([arrivalOf({ id: 'a' })]);
    expect(await replayed(page, { seq: 1, target: `forward ${app.url}` })).toMatchObject({
      status: 200,
      answer: { ok: false },
    });
    expect(await detailOf(page, 1)).toMatchObject({
      failed: 0,
      results: [{ ok: false, kind: 'replay', address: app.url }],
    });
  });

  it('is known as one by a receiver that stores it', async () => {
    const page = await inspect();
    const rawHeaders: [string, string][] = [['leads-replay', '1']];
    await page.inbox.take([{ leadId: 'a', delivery: deliveryOf('{"id":"a"}', { rawHeaders }) }]);
    const { text } = await page.get('/api/deliveries');
    expect((JSON.parse(text) as { rows: WireRow[] }).rows[0]?.source).toBe('replay');
  });
});

describe('an edited delivery', () => {
  it('gets an id of its own, keeps every other digit, and leaves the stored lead as it is', async () => {
    const app = await appThat();
    const page = await inspect({ targets: [targetAt(app.url)] });
    await page.inbox.take([arrivalOf({ id: 'a' })]);
    const target = `forward ${app.url}`;
    const body = '{"id":"a","category":"x","n":12345678901234567890}';
    const { answer } = await replayed(page, { seq: 1, target, body });
    expect(answer.leadId).toMatch(/^leads-edited-[0-9a-f]{16}$/);
    expect(app.received[0]?.body.toString()).toBe(
      `{"id":"${answer.leadId ?? ''}","category":"x","n":12345678901234567890}`,
    );
    expect(app.received[0]?.headers['leads-lead-id']).toBe(answer.leadId);
    const again = await replayed(page, { seq: 1, target, body });
    expect(again.answer.leadId).not.toBe(answer.leadId);
    expect(await detailOf(page, 1)).toMatchObject({ results: [], delivered: 0 });
  });

  it('gets it in the field that is the id of the stored lead', async () => {
    const app = await appThat();
    const page = await inspect({ targets: [targetAt(app.url)] });
    const body = '{"uuid":"a","category":"x"}';
    await page.inbox.take([{ leadId: 'a', delivery: deliveryOf(body) }]);
    const { answer } = await replayed(page, { seq: 1, target: `forward ${app.url}`, body });
    expect(app.received[0]?.body.toString()).toBe(`{"uuid":"${answer.leadId ?? ''}","category":"x"}`);
  });

  it('keeps the envelope around the lead', async () => {
    const app = await appThat();
    const page = await inspect({ targets: [targetAt(app.url)] });
    await page.inbox.take([arrivalOf({ id: 'a' })]);
    const body = '{"event":"lead", "data": {"id":"a","contact":{}}, "v": 1.0}';
    const { answer } = await replayed(page, { seq: 1, target: `forward ${app.url}`, body });
    expect(app.received[0]?.body.toString()).toBe(
      `{"event":"lead", "data": {"id":"${answer.leadId ?? ''}","contact":{}}, "v": 1.0}`,
    );
  });

  it('is changed where the receiver found its lead, and not where one could be', async () => {
    const app = await appThat();
    const page = await inspect({ targets: [targetAt(app.url)] });
    const lead = '{"id":"a","category":"x"}';
    const around = ['{"id":"evt_1","one":{"two":{"three":', '}}}'] as const;
    const start = around[0].length;
    const delivery = deliveryOf(around.join(lead));
    await page.inbox.take([{ leadId: 'a', delivery, place: { start, end: start + lead.length } }]);
    const several = deliveryOf('{"leads":[{"id":"b"},{"id":"c"}]}');
    const place = { start: 21, end: 31 };
    await page.inbox.take([{ leadId: 'c', delivery: several, place }]);
    const target = `forward ${app.url}`;
    const { answer } = await replayed(page, {
      seq: 1,
      target,
      body: around.join('{"id":"a","category":"y"}'),
    });
    const ofLeads = await replayed(page, { seq: 2, target, body: '{"leads":[{"id":"c","n":1}]}' });
    expect(app.received.map(({ body }) => body.toString())).toEqual([
      around.join(`{"id":"${answer.leadId ?? ''}","category":"y"}`),
      `{"leads":[{"id":"${ofLeads.answer.leadId ?? ''}","n":1}]}`,
    ]);
    expect(await replayed(page, { seq: 1, target, body: lead })).toMatchObject({
      status: 400,
      answer: { problem: expect.stringMatching(/nothing at \/one\/two\/three/) as string },
    });
  });

  it('is not sent while another member has the id of the stored lead', async () => {
    const app = await appThat();
    const page = await inspect({ targets: [targetAt(app.url)] });
    await page.inbox.take([arrivalOf({ id: 'a' })]);
    const target = `forward ${app.url}`;
    const inside = '{"id":"evt","one":{"two":{"three":{"id":"a","category":"x"}}}}';
    for (const body of ['{"id":"x","lead_id":"a"}', inside]) {
      const { status, answer } = await replayed(page, { seq: 1, target, body });
      expect([status, answer], body).toMatchObject([400, { code: 'bad-request' }]);
    }
    expect(app.received).toEqual([]);
    expect((await replayed(page, { seq: 1, target, body: inside.replace('"a"', '"b"') })).status).toBe(200);
  });

  it('that holds no lead, or several, is not sent', async () => {
    const app = await appThat();
    const page = await inspect({ targets: [targetAt(app.url)] });
    await page.inbox.take([arrivalOf({ id: 'a' })]);
    const several = '[{"id":"a","category":"x"},{"id":"b","category":"x"}]';
    for (const body of ['', '{', '"text"', '{"category":"x"}', several]) {
      expect((await replayed(page, { seq: 1, target: `forward ${app.url}`, body })).status, body).toBe(400);
    }
    expect(app.received).toEqual([]);
  });

  it('goes to this machine only', async () => {
    const page = await inspect({ targets: [targetAt('https://receiver.example/hook')] });
    await page.inbox.take([arrivalOf({ id: 'a' })]);
    const target = 'forward https://receiver.example/hook';
    const body = '{"id":"a","category":"x"}';
    expect(await replayed(page, { seq: 1, target, body })).toMatchObject({
      status: 403,
      answer: { code: 'forbidden' },
    });
  });
});
