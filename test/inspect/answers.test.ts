import { describe, expect, it } from 'vitest';
import type {
  WireCharts,
  WireDelivery,
  WireFound,
  WirePage,
  WireRow,
  WireCurl,
} from '../../src/inspect/wire.ts';
import type { RejectedDelivery } from '../../src/inbox/inbox.ts';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { queriesInThisThread } from '../../src/inspect/queries/queries-in-this-thread.ts';
import { systemClock } from '../../src/time/clock.ts';
import { rejection, type RejectReason } from '../../src/webhook/delivery-answer.ts';
import { arrivalOf, deliveryOf } from '../inbox/support.ts';
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

async function searched(page: Inspected, text: string, more = ''): Promise<WireFound[]> {
  const { text: lines } = await page.get(`/api/search?q=${encodeURIComponent(text)}${more}`);
  return lines.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as WireFound]));
}

const foundIn = async (page: Inspected, text: string) =>
  (await searched(page, text)).flatMap((line) =>
    line.type === 'found' ? [[line.row.leadId, line.where]] : [],
  );

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

  it('says that a lead was erased, or pruned', async () => {
    const page = await inspect();
    await page.inbox.take(['a', 'b', 'c'].map((id) => arrivalOf({ id })));
    await page.inbox.erase({ leadIds: ['a'], rejected: [] });
    await page.inbox.prune(2_000);
    const leadOf = async (id: string) => (await asked<WirePage>(page, `deliveries?lead=${id}`)).lead;
    expect(await leadOf('a')).toBe('erased');
    expect(await leadOf('b')).toBe('pruned');
    expect(await leadOf('nobody')).toBe(null);
    expect((await page.get('/api/deliveries/1')).status).toBe(404);
    await page.inbox.take([arrivalOf({ id: 'd' })]);
    expect(await leadOf('d')).toBe(null);
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
    expect(delivery.text).toBe(hostile);
    const invalid = await detail(Buffer.from([0x7b, 0xff, 0xfe, 0x7d]));
    expect(invalid.delivery).toMatchObject({ text: '{\ufffd\ufffd}', hasInvalidText: true, formatted: null });
    expect(invalid.delivery.hex).toBe(`00000000  7b ff fe 7d${' '.repeat(38)}|{..}|`);
    const binary = await detail(new Uint8Array(9000));
    expect(binary.delivery).toMatchObject({ hasInvalidText: false, size: 9000 });
    expect(binary.delivery.hex?.split('\n').at(-1)).toBe(`00001ff0  ${'00 '.repeat(16)} |${'.'.repeat(16)}|`);
    expect((await detail('{"id":"a",\r\n\t"t":"é"}')).delivery.hex).toBe(null);
    const deep = await detail(`{"id":"a","d":${'['.repeat(200)}${']'.repeat(200)}}`);
    expect(deep.delivery.formatted?.split('\n')).toHaveLength(402);
    const deeper = await detail(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    expect(deeper.delivery.formatted).toBe(null);
    const large = await detail(`{"id":"a","t":"${'x'.repeat(1_200_000)}"}`);
    expect(large.delivery).toMatchObject({ isCut: true, hasInvalidText: false });
    expect(large.delivery.text).toHaveLength(1024 * 1024);
  });

  it('is downloaded whole, as an attachment that no browser shows', async () => {
    const { page } = await detail('<script>alert(1)</script>');
    const { headers, text } = await page.get('/api/deliveries/1/body');
    expect(headers['content-disposition']).toBe('attachment; filename="delivery-1.json"');
    expect(headers['content-type']).toBe('application/octet-stream');
    expect(text).toBe('<script>alert(1)</script>');
  });

  it('says why it was rejected, and what is not kept of it', async () => {
    const page = await inspect();
    await page.inbox.reject([rejected('x'.repeat(20_000), [['X-Signature', '[redacted]']])]);
    const delivery = await asked<WireDelivery>(page, 'deliveries/1');
    expect(delivery.explanation?.[0]).toBe('The signature does not match.');
    expect(delivery.explanation?.[1]).toMatch(/--explain/);
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
    expect(described.text).toBe('');
    if (missing === null) expect(described.missing).toBeNull();
    else expect(described.missing).toMatch(missing);
  });

  it('comes with every attempt at its lead, and every result', async () => {
    const target = 'forward http://localhost:1/';
    const inbox = await openInbox({ location: ':memory:', clock: systemClock, targets: [target] });
    const page = await inspect({ inbox });
    await inbox.take([arrivalOf({ id: 'a' })]);
    await inbox.take([arrival('a', '{"id":"a","x":1}')]);
    const result = { ok: false, answer: '500', durationMs: 3, at: 7 };
    await inbox.release([{ leadId: 'a', seq: 1, target, result }]);
    const delivery = await asked<WireDelivery>(page, 'deliveries/2');
    expect(delivery.differs).toEqual(['x']);
    expect(delivery.attempts.map(({ seq, failed }) => [seq, failed])).toEqual([
      [1, 1],
      [2, 0],
    ]);
    expect((await asked<WireDelivery>(page, 'deliveries/1')).results).toEqual([
      { ...result, target: 'forward http://localhost:1', kind: null, address: null },
    ]);
    // The target has had the lead with its second delivery: it lacks nothing any more, wherever the first one is shown.
    await inbox.settle([{ leadId: 'a', seq: 2, target, result: { ...result, ok: true } }]);
    const { rows } = await asked<WirePage>(page, 'deliveries');
    expect(rows.map(({ seq, verdict, failed }) => [seq, verdict, failed])).toEqual([
      [2, 'accepted', 0],
      [1, 'pending', 0],
    ]);
    expect(await asked<WireDelivery>(page, 'deliveries/1')).toMatchObject({ failed: 0, lacking: [] });
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
    const { command } = await asked<WireCurl>(page, 'deliveries/1/curl');
    expect(command).toBe(
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
      const { command } = await asked<WireCurl>(page, `deliveries/${seq}/curl`);
      expect(command).toMatch(/^curl -i https:\/\/receiver\.example\/leads /);
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
        const curl = await asked<WireCurl>(page, `deliveries/${i + 1}/curl`);
        return [curl.command.split(' ')[2], curl.isHttpsAssumed];
      }),
    );
    expect(addresses).toEqual([
      ['https://127.0.0.1:8080/leads', true],
      ['https://leads.example.com/leads', true],
      ['https://leads.example.com:8443/leads', false],
      ['http://leads.example.com/leads', false],
    ]);
  });
});

describe('the search', () => {
  it('finds id, name, e-mail, phone and body, in any case, with escapes decoded', async () => {
    const page = await inspect();
    await page.inbox.take([
      arrival('Lead-7', '{"id":"Lead-7"}'),
      arrival(
        'b',
        String.raw`{"id":"b","contact":{"name":"J\u00fcrgen M\u00dcLLER","phone":"+49 (30) 123-4567"}}`,
      ),
      arrival('c', '{"id":"c","contact":{"email":"Jane@Example.com"},"note":"50% off\\/now"}'),
    ]);
    expect(await foundIn(page, 'lead-7')).toEqual([['Lead-7', 'id']]);
    expect(await foundIn(page, 'jürgen müller')).toEqual([['b', 'name']]);
    expect(await foundIn(page, '0049301234567')).toEqual([['b', 'phone']]);
    expect(await foundIn(page, '(30) 1234567')).toEqual([['b', 'phone']]);
    expect(await foundIn(page, 'jane@EXAMPLE')).toEqual([['c', 'email']]);
    expect(await foundIn(page, 'off/now')).toEqual([['c', 'body']]);
    expect(await foundIn(page, '50%')).toEqual([['c', 'body']]);
    expect(await foundIn(page, 'nowhere')).toEqual([]);
  });

  it('stops at 200 found ones, goes on from there, and keeps to its filters', async () => {
    const page = await inspect();
    await page.inbox.take(Array.from({ length: 450 }, (_, i) => arrival(`l${i}`, '{"x":"same"}')));
    const rows = (lines: readonly WireFound[]): WireRow[] =>
      lines.flatMap((line) => (line.type === 'found' ? [line.row] : []));
    const first = await searched(page, 'same');
    expect([rows(first).length, first.at(-1)]).toMatchObject([200, { type: 'end', next: 251 }]);
    const last = await searched(page, 'same', '&before=51');
    expect([rows(last).length, last.at(-1)]).toEqual([
      50,
      { type: 'end', deliveries: 50, total: 450, next: null },
    ]);
    expect(rows(await searched(page, 'same', '&verdict=rejected'))).toEqual([]);
  });

  it('ends with its connection, and lets only a few run at the same time', async () => {
    let [running, looked] = [0, 0];
    const page = await inspect({
      queries: (inbox) => ({
        ...queriesInThisThread(inbox),
        async *search() {
          running += 1;
          try {
            for (;;) {
              looked += 1;
              await new Promise(setImmediate);
              yield { type: 'searched', deliveries: looked, total: null };
            }
          } finally {
            running -= 1;
          }
        },
      }),
    });
    const responses = await Promise.all([1, 2, 3, 4].map(() => page.open('/api/search?q=a')));
    await expect.poll(() => running).toBe(4);
    const refused = await page.get('/api/search?q=a');
    expect([refused.status, JSON.parse(refused.text)]).toMatchObject([429, { code: 'busy' }]);
    for (const response of responses) response.destroy();
    await expect.poll(() => running).toBe(0);
    const before = looked;
    await page.get('/api/inbox');
    expect(looked).toBe(before);
  });
});

describe('the charts', () => {
  it('count verdicts and delays', async () => {
    const page = await inspect();
    const lead = (id: string, receivedAt: number) => ({
      ...arrival(id, JSON.stringify({ id }), receivedAt),
      createdAt: receivedAt - 50,
    });
    await page.inbox.take([lead('a', 1000), lead('b', 1010), lead('c', 2500), lead('d', 9000)]);
    await page.inbox.take([lead('a', 2600)]);
    await page.inbox.reject([rejected('x')]);
    const charts = await asked<WireCharts>(page, 'charts?since=1000&until=3000&buckets=2');
    expect(charts.buckets).toEqual([
      {
        at: 1000,
        accepted: 2,
        duplicate: 0,
        pending: 0,
        rejected: 1,
        other: 0,
        delayP50: 50,
        delayMax: 50,
        delaysUnknown: 0,
      },
      {
        at: 2000,
        accepted: 1,
        duplicate: 1,
        pending: 0,
        rejected: 0,
        other: 0,
        delayP50: 50,
        delayMax: 50,
        delaysUnknown: 0,
      },
    ]);
    expect(charts).toMatchObject({ bucketMs: 1000 });
  });

  it('fit their window to what came in the last day, around a single one of it', async () => {
    const page = await inspect();
    const [minute, hour] = [60_000, 3_600_000];
    const until = 30 * 24 * hour;
    const at = (ms: number, id: string) => arrival(id, JSON.stringify({ id }), until - ms);
    const empty = await asked<WireCharts>(page, `charts?until=${until}`);
    expect(empty).toMatchObject({ since: until - 24 * hour, until, bucketMs: 30 * minute });
    await page.inbox.take([at(25 * hour, 'older'), at(2 * minute, 'a')]);
    const one = await asked<WireCharts>(page, `charts?until=${until}`);
    expect(one).toMatchObject({ since: until - 7 * minute, bucketMs: minute });
    expect(one.buckets.map(({ accepted }) => accepted)).toEqual([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    await page.inbox.take([at(3 * hour, 'b')]);
    const three = await asked<WireCharts>(page, `charts?until=${until}`);
    expect(three).toMatchObject({ since: until - 3 * hour, until, bucketMs: 5 * minute });
    expect(three.buckets.map(({ accepted }) => accepted)).toEqual([1, ...new Array<number>(34).fill(0), 1]);
  });
});
