import { describe, expect, it, onTestFinished } from 'vitest';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { rejection } from '../../src/webhook/delivery-answer.ts';
import type { WireSave, WireSaved } from '../../src/inspect/wire.ts';
import { arrivalOf, deliveryOf } from '../inbox/support.ts';
import { FakeClock } from '../support/clock.ts';
import { inspect, type Inspected, send } from './support.ts';

const lead = (id: string, name: string): object => ({
  id,
  category: '=1+1',
  contact: { name, email: `${id}@example.com`, phone: '+15550001234' },
});

const clock = new FakeClock();

async function filled(count = 3): Promise<Inspected> {
  const page = await inspect({ clock });
  for (let i = 0; i < count; i += 1) {
    const one = lead(`lead_${i}`, `Person ${i}`) as { id: string };
    const delivery = deliveryOf(JSON.stringify(one), { receivedAt: 1_000 + i });
    await page.inbox.take([arrivalOf(one, { delivery })]);
  }
  const forged = deliveryOf('{"id":"forged"}', { receivedAt: 5_000 });
  await page.inbox.reject([{ delivery: forged, rejection: rejection('wrong_credential', 'wrong') }]);
  return page;
}

const all: WireSave = {
  ...{ form: 'ndjson', verdicts: [], since: null, until: null, text: '' },
  ...{ zone: 'UTC', personalData: false },
};

const pathOf = async (page: Inspected, asked: Partial<WireSave>): Promise<string> =>
  (JSON.parse((await page.post('/api/saves', { ...all, ...asked })).text) as WireSaved).path;

/** As a browser navigates: without the token. */
const saved = async (page: Inspected, asked: Partial<WireSave>) =>
  send(`${page.origin}${await pathOf(page, asked)}`, { headers: { 'sec-fetch-site': 'same-origin' } });

interface Row {
  readonly number: number;
  readonly leadId: string | null;
  readonly name: string | null;
}
const rowsOf = (text: string): Row[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);

describe('what the list shows, saved', () => {
  it('is every row that is filtered, newest first, as an attachment', async () => {
    const page = await filled(250);
    const { status, headers, text } = await saved(page, {});
    expect(status).toBe(200);
    expect(headers['content-disposition']).toMatch(/^attachment; filename="leads-\d{4}-\d\d-\d\d\.ndjson"$/);
    expect(rowsOf(text).map(({ number }) => number)).toEqual(Array.from({ length: 251 }, (_, i) => 251 - i));
    const rejected = await saved(page, { verdicts: ['rejected'] });
    expect(rowsOf(rejected.text)).toMatchObject([{ verdict: 'rejected', reason: 'wrong_credential' }]);
    const window = await saved(page, { since: 1_001, until: 1_003 });
    expect(rowsOf(window.text).map(({ leadId }) => leadId)).toEqual(['lead_2', 'lead_1']);
    const found = await saved(page, { text: 'person 24' });
    expect(rowsOf(found.text).map(({ name }) => name)).toEqual(
      [249, 248, 247, 246, 245, 244, 243, 242, 241, 240, 224, 124, 24].map((i) => `Person ${i}`),
    );
  });

  it('is CSV whose cells are no formulas, and a report in which persons are reduced', async () => {
    const page = await filled();
    const csv = await saved(page, { form: 'csv' });
    const [head, , first] = csv.text.split('\r\n');
    expect(head).toBe(
      'number,receivedAt,verdict,reason,detail,status,leadId,attempt,source,remote,method,path,bytes,differs,name,email,phone,category',
    );
    expect(first).toMatch(
      /^3,1970-01-01T00:00:01\.002Z,accepted,.*,Person 2,lead_2@example\.com,'\+15550001234,'=1\+1$/,
    );
    const report = await saved(page, { form: 'html' });
    expect(report.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(report.text).toContain('P. 2.');
    expect(report.text).not.toContain('Person 2');
    expect((await saved(page, { form: 'html', personalData: true })).text).toContain('Person 2');
    // What is searched for is a person's data as well.
    expect((await saved(page, { form: 'html', text: 'Person 2' })).text).not.toContain('Person 2');
  });

  it('is a report that counts of pending leads those that are outstanding now, as its rows', async () => {
    const target = 'forward http://localhost:1/';
    const inbox = await openInbox({ location: ':memory:', clock, targets: [target] });
    onTestFinished(() => inbox.close());
    const page = await inspect({ clock, inbox });
    for (let seq = 1; seq <= 3; seq += 1) {
      const delivery = deliveryOf('{"id":"a"}', { receivedAt: 1_000 + seq });
      await inbox.take([arrivalOf({ id: 'a' }, { delivery })]);
      const result = { ok: false, answer: '500', durationMs: 3, at: 2_000 };
      await inbox.release([{ leadId: 'a', seq, target, result }]);
    }
    const report = async (verdicts: WireSave['verdicts']): Promise<string> =>
      (await saved(page, { form: 'html', verdicts })).text.replace(/<[^>]*>/g, ' ');
    const outstanding = await report(['pending']);
    expect(outstanding).toMatch(/Deliveries\s+1\s+Pending\s+1\s+100%\s/);
    expect(outstanding).not.toContain('not stored');
    expect(await report(['pending', 'rejected'])).toMatch(/Deliveries\s+1\s/);
    expect(await report([])).toMatch(/Deliveries\s+3\s/);
  });

  it('is had once, and by nobody who was not given its path', async () => {
    const page = await filled();
    const { origin } = page;
    const same = { headers: { 'sec-fetch-site': 'same-origin' } };
    const path = await pathOf(page, {});
    expect((await send(`${origin}${path}`, { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(
      403,
    );
    expect((await send(`${origin}${path}`, { ...same, method: 'HEAD' })).status).toBe(401);
    expect((await send(`${origin}${path}`, same)).status).toBe(200);
    expect((await send(`${origin}${path}`, same)).status).toBe(404);
    expect((await send(`${origin}/api/saves/${'a'.repeat(43)}`, same)).status).toBe(404);
    expect((await send(`${origin}/api/saves/${'a'.repeat(42)}`, same)).status).toBe(401);
    const old = await pathOf(page, {});
    clock.advance(60_001);
    expect((await send(`${origin}${old}`, same)).status).toBe(404);
    const without = await send(
      `${origin}/api/saves`,
      { method: 'POST', headers: { origin, 'content-type': 'application/json' } },
      JSON.stringify(all),
    );
    expect(without.status).toBe(401);
    for (const wrong of [
      {},
      { ...all, form: 'xlsx' },
      { ...all, verdicts: ['x'] },
      { ...all, since: -1 },
      { ...all, text: 'x'.repeat(501) },
    ]) {
      expect((await page.post('/api/saves', wrong)).status).toBe(400);
    }
  });
});
