import { describe, expect, it } from 'vitest';
import type { WireCounts, WireDelivery, WirePage } from '../../src/inspect/wire.ts';
import type { RejectedDelivery } from '../../src/inbox/inbox.ts';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { listPage } from '../../src/inspect/queries/list-page.ts';
import { systemClock } from '../../src/time/clock.ts';
import { rejection, type RejectReason } from '../../src/webhook/delivery-answer.ts';
import { arrivalOf, deliveryOf } from '../inbox/support.ts';
import { FakeClock } from '../support/clock.ts';
import { inspect, type Inspected } from './support.ts';

const arrival = (leadId: string, body: string | Uint8Array, receivedAt = 1_000) => ({
  leadId,
  delivery: deliveryOf(body, { receivedAt }),
});

const rejected = (body: string | Uint8Array, headers: [string, string][] = []): RejectedDelivery => ({
  delivery: deliveryOf(body, { rawHeaders: headers }),
  rejection: rejection('wrong_credential', 'the signature does not match'),
});

async function asked<T>(page: Inspected, path: string): Promise<T> {
  const { status, text } = await page.get(`/api/${path}`);
  expect(status, text).toBe(200);
  return JSON.parse(text) as T;
}

describe('the list', () => {
  it('gives pages, newest first, and filters', async () => {
    const page = await inspect();
    await page.inbox.take(
      Array.from({ length: 250 }, (_, i) => arrival(`l${i}`, `{"id":"l${i}"}`, 1000 + i)),
    );
    const first = await asked<WirePage>(page, 'deliveries');
    expect([first.rows.length, first.rows[0]?.leadId, first.next]).toEqual([100, 'l249', 151]);
    const last = await asked<WirePage>(page, 'deliveries?before=101&limit=100');
    expect([last.rows.length, last.rows.at(-1)?.leadId, last.next]).toEqual([100, 'l0', null]);
    expect((await asked<WirePage>(page, 'deliveries?since=1010&until=1020')).rows).toHaveLength(10);
    expect((await asked<WirePage>(page, 'deliveries?verdict=rejected&verdict=duplicate')).rows).toEqual([]);
    expect((await asked<WirePage>(page, 'deliveries?verdict=accepted&limit=3')).rows).toHaveLength(3);
  });

  it('shows what a row needs, and cuts long texts', async () => {
    const page = await inspect();
    const name = 'n'.repeat(5000);
    const lead = { id: 'a', category: 'loans', contact: { name }, metadata: {} };
    await page.inbox.take([
      arrivalOf(lead),
      arrivalOf({ id: 'b', ...{ contact: { name: 5 }, category: [] } }),
    ]);
    const { rows } = await asked<WirePage>(page, 'deliveries');
    expect(rows[1]).toMatchObject({ leadId: 'a', category: 'loans', verdict: 'accepted', source: 'push' });
    expect(rows[1]?.name).toHaveLength(200);
    expect(rows[0]).toMatchObject({ name: null, category: null });
  });

  it('finds words of id, name, category and reason, in any case and with escapes decoded', async () => {
    const page = await inspect();
    const escaped = String.raw`{"id":"b","category":"Solar","contact":{"name":"J\u00fcrgen M\u00dcLLER"}}`;
    await page.inbox.take([arrival('Lead-7', '{"id":"Lead-7"}'), arrival('b', escaped)]);
    await page.inbox.take([arrival('c', '{"id":"c","contact":{"email":"jane@example.com"}}')]);
    await page.inbox.reject([rejected('{"id":"d"}')]);
    const found = async (text: string) => {
      const { rows } = await asked<WirePage>(page, `deliveries?text=${encodeURIComponent(text)}`);
      return rows.map(({ seq }) => seq);
    };
    expect(await found('lead-7')).toEqual([1]);
    expect(await found(' müller  jürgen ')).toEqual([2]);
    expect(await found('SOLAR b')).toEqual([2]);
    expect(await found('credential')).toEqual([4]);
    expect(await found('jane')).toEqual([]);
    expect(await found('')).toEqual([4, 3, 2, 1]);
    expect((await asked<WirePage>(page, 'deliveries?text=l&after=1&verdict=accepted')).rows).toHaveLength(1);
  });

  it('goes on from where a search was stopped by its time', async () => {
    const { inbox } = await inspect();
    await inbox.take(Array.from({ length: 10 }, (_, i) => arrival(`l${i}`, `{"id":"l${i}"}`)));
    let now = 0;
    const clock = { steady: () => (now += 100) };
    const seen: string[] = [];
    let [pages, before]: [number, number | null] = [0, Infinity];
    while (before !== null) {
      const page: WirePage = await listPage(inbox, { limit: 100, text: 'l3', before }, clock);
      seen.push(...page.rows.map(({ leadId }) => leadId ?? ''));
      [pages, before] = [pages + 1, page.next];
    }
    expect(seen).toEqual(['l3']);
    expect(pages).toBeGreaterThan(3);
  });
});

describe('a delivery', () => {
  const detail = async (body: string | Uint8Array) => {
    const page = await inspect();
    await page.inbox.take([arrival('a', body)]);
    return { page, delivery: await asked<WireDelivery>(page, 'deliveries/1') };
  };

  it('keeps every digit of a number, and every escape', async () => {
    const { delivery } = await detail(
      String.raw`{"id":"a","n":12345678901234567890,"e":1e400,"z":[],"s":"\u00e9"}`,
    );
    expect(delivery.formatted).toBe(
      String.raw`{
  "id": "a",
  "n": 12345678901234567890,
  "e": 1e400,
  "z": [],
  "s": "\u00e9"
}`,
    );
  });

  it('is shown as the text that it is, whatever it is', async () => {
    const hostile = `{"id":"a","contact":{"name":"</textarea><script>alert(1)</script>\u202e\u0007","email":"javascript:alert(1)"}}`;
    const { delivery } = await detail(hostile);
    expect(delivery).toMatchObject({ raw: hostile, isHex: false });
    const invalid = await detail(Buffer.from([0x7b, 0xff, 0xfe, 0x7d]));
    const dump = `00000000  7b ff fe 7d${' '.repeat(38)}|{..}|`;
    expect(invalid.delivery).toMatchObject({ raw: dump, isHex: true, formatted: null });
    const binary = await detail(new Uint8Array(9000));
    expect(binary.delivery).toMatchObject({ isHex: true, size: 9000 });
    expect(binary.delivery.raw.split('\n').at(-1)).toBe(
      `00002320  ${'00 '.repeat(8).padEnd(48)} |${'.'.repeat(8)}|`,
    );
    expect((await detail('{"id":"a",\r\n\t"t":"é"}')).delivery.isHex).toBe(false);
    const deep = await detail(`{"id":"a","d":${'['.repeat(200)}${']'.repeat(200)}}`);
    expect(deep.delivery.formatted?.split('\n')).toHaveLength(402);
    const deeper = await detail(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    expect(deeper.delivery.formatted).toBe(null);
  });

  it('says why it was rejected, and what is not kept of it', async () => {
    const page = await inspect();
    await page.inbox.reject([rejected('x'.repeat(20_000), [['X-Signature', '[redacted]']])]);
    const delivery = await asked<WireDelivery>(page, 'deliveries/1');
    expect(delivery.explanation[0]).toBe('The signature does not match.');
    expect(delivery.explanation[1]).toMatch(/--explain/);
    expect(delivery.missing).toMatch(/first 16 KiB/);
    expect(delivery.notReplayable).toMatch(/never replayed/);
    expect(delivery.size).toBe(16 * 1024);
  });

  it.each<[string, [string, string][], RejectReason, RegExp | null]>([
    ['a length', [['Content-Length', '120']], 'missing_credential', /before its body was read/],
    ['pieces', [['Transfer-Encoding', 'chunked']], 'missing_credential', /before its body was read/],
    ['a cut', [], 'incomplete_body', /before its body was read/],
    ['a length of 0', [['Content-Length', '0']], 'missing_credential', null],
    ['no body', [], 'missing_credential', null],
  ])('does not call a body empty that nobody read: %s', async (_, rawHeaders, reason, missing) => {
    const page = await inspect();
    const delivery = deliveryOf('', { rawHeaders });
    await page.inbox.reject([{ delivery, rejection: rejection(reason, 'why') }]);
    const described = await asked<WireDelivery>(page, 'deliveries/1');
    expect(described.raw).toBe('');
    if (missing === null) expect(described.missing).toBeNull();
    else expect(described.missing).toMatch(missing);
  });

  it('comes with every attempt at its lead, and every result', async () => {
    const target = 'forward http://localhost:1/';
    const inbox = await openInbox({ location: ':memory:', clock: systemClock, targets: [target] });
    const page = await inspect({ inbox });
    await inbox.take([arrivalOf({ id: 'a' })]);
    await inbox.take([arrival('a', '{"id":"a","x":1}')]);
    const result = { ok: false, answer: '500', durationMs: 3, at: 7, kind: 'forward' } as const;
    await inbox.record([{ leadId: 'a', seq: 1, claim: 0, target, outcome: { retryInMs: 0 }, result }]);
    const delivery = await asked<WireDelivery>(page, 'deliveries/2');
    expect(delivery.differs).toEqual(['x']);
    expect(delivery.leadDeliveries.map(({ seq, waiting }) => [seq, waiting])).toEqual([
      [1, 1],
      [2, 0],
    ]);
    expect((await asked<WireDelivery>(page, 'deliveries/1')).results).toEqual([
      { ...result, target: 'forward http://localhost:1', address: 'http://localhost:1/' },
    ]);
    await inbox.record([
      { leadId: 'a', seq: 1, claim: 0, target, outcome: 'done', result: { ...result, ok: true } },
    ]);
    const { rows } = await asked<WirePage>(page, 'deliveries');
    expect(rows.map(({ seq, verdict, done, waiting }) => [seq, verdict, done, waiting])).toEqual([
      [2, 'duplicate', 0, 0],
      [1, 'accepted', 1, 0],
    ]);
    expect(await asked<WireDelivery>(page, 'deliveries/1')).toMatchObject({
      waiting: 0,
      forwards: [{ target: 'forward http://localhost:1', state: 'done' }],
    });
  });

  it('becomes a command for a shell, with placeholders for credentials', async () => {
    const page = await inspect();
    const delivery = deliveryOf(`{"id":"it's"}`, {
      rawHeaders: [
        ['Host', 'receiver.test:8443'],
        ['X-Signature', '[redacted]'],
        ['X-Odd', `$(touch /tmp/x) \`id\``],
      ],
    });
    await page.inbox.take([{ leadId: 'a', delivery }]);
    const { curl } = await asked<WireDelivery>(page, 'deliveries/1');
    expect(curl).toBe(
      String.raw`curl -i https://receiver.test:8443/leads -H "X-Signature: $CREDENTIAL" -H 'X-Odd: $(touch /tmp/x) ` +
        '`id`' +
        String.raw`' -H 'Content-Type:' --data-binary '{"id":"it'\''s"}'`,
    );
  });
});

describe('the command for a shell', () => {
  it('of a rejected delivery, or with a host that is none, names a placeholder', async () => {
    const page = await inspect();
    await page.inbox.reject([rejected('x', [['Host', 'evil.test']])]);
    const delivery = deliveryOf('{"id":"a"}', { rawHeaders: [['Host', 'a.test/$(id)']] });
    await page.inbox.take([{ leadId: 'a', delivery }]);
    for (const seq of [1, 2]) {
      const { curl } = await asked<WireDelivery>(page, `deliveries/${seq}`);
      expect(curl).toMatch(/^curl -i https:\/\/receiver\.example\/leads /);
    }
  });

  it('names the scheme that a proxy says', async () => {
    const page = await inspect();
    const hosts = [
      [['Host', '127.0.0.1:8080']],
      [['Host', 'leads.example.com']],
      [
        ['Host', 'leads.example.com:8443'],
        ['X-Forwarded-Proto', 'https, http'],
      ],
      [
        ['Host', 'leads.example.com'],
        ['Forwarded', 'for=192.0.2.1;proto=http;by=198.51.100.1'],
      ],
    ] as const;
    await page.inbox.take(
      hosts.map((rawHeaders, i) => ({ leadId: `${i}`, delivery: deliveryOf('{}', { rawHeaders }) })),
    );
    const addresses = await Promise.all(
      hosts.map(async (_, i) => {
        const { curl } = await asked<WireDelivery>(page, `deliveries/${i + 1}`);
        return curl.split(' ')[2];
      }),
    );
    expect(addresses).toEqual([
      'https://127.0.0.1:8080/leads',
      'https://leads.example.com/leads',
      'https://leads.example.com:8443/leads',
      'http://leads.example.com/leads',
    ]);
  });
});

describe('the chart', () => {
  it('counts verdicts over time', async () => {
    const page = await inspect();
    const lead = (id: string, receivedAt: number) => ({
      ...arrival(id, JSON.stringify({ id }), receivedAt),
      createdAt: receivedAt - 50,
    });
    await page.inbox.take([lead('a', 1000), lead('b', 1010), lead('c', 2500), lead('d', 9000)]);
    await page.inbox.take([lead('a', 2600)]);
    await page.inbox.reject([rejected('x')]);
    const counts = await asked<WireCounts>(page, 'counts?since=0&until=60000');
    expect(counts.rows).toEqual({ accepted: 4, duplicate: 1, rejected: 1, other: 0, waiting: 0, dead: 0 });
    expect(counts).toMatchObject({ bucketMs: 60_000 });
    expect(counts.buckets.at(-1)).toEqual({ at: 60_000, accepted: 0, duplicate: 0, rejected: 0, other: 0 });
    expect(counts.buckets.at(-2)).toEqual({ at: 0, accepted: 4, duplicate: 1, rejected: 1, other: 0 });
    expect((await asked<WireCounts>(page, 'counts?since=9000&until=60000')).rows.accepted).toBe(1);
  });

  it('fits its window to what came in the last day, in at least twelve buckets', async () => {
    const [minute, hour] = [60_000, 3_600_000];
    const now = 30 * 24 * hour;
    const page = await inspect({ clock: new FakeClock(now) });
    const at = (ms: number, id: string) => arrival(id, JSON.stringify({ id }), now - ms);
    const chart = async () => {
      const { since, bucketMs, buckets } = await asked<WireCounts>(page, 'counts');
      return { since, bucketMs, accepted: buckets.map(({ accepted }) => accepted) };
    };
    const none = new Array<number>(12).fill(0);
    expect(await chart()).toEqual({ since: now - 11 * minute, bucketMs: minute, accepted: none });
    await page.inbox.take([at(25 * hour, 'older'), at(2 * minute, 'a')]);
    expect((await chart()).accepted).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0]);
    await page.inbox.take([at(3 * hour, 'b')]);
    const three = await chart();
    expect(three).toMatchObject({ since: now - 3 * hour, bucketMs: 5 * minute });
    expect(three.accepted).toEqual([1, ...new Array<number>(34).fill(0), 1, 0]);
  });
});
