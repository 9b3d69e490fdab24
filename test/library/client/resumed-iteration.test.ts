import { expect, it } from 'vitest';
import { type Checkpoint, createClient, IncompleteError } from '../../../src/library/client.ts';
import { startSandbox } from '../../../src/library/testing.ts';
import { seeded } from '../../support/faulty-service.ts';
import { full, sized } from '../../support/faults.ts';
import { type Change, startMovingService, styles } from '../../support/moving-service.ts';
import { scripted, sendJson } from '../../support/service.ts';

const changes: readonly Change[] = ['nothing', 'vanish', 'move', 'arrive'];

const stored = (checkpoint: Checkpoint | null): Checkpoint | null =>
  JSON.parse(JSON.stringify(checkpoint)) as Checkpoint | null;

/** The ids of at most so many leads from a checkpoint on, the checkpoint behind them, and the error that ended them. */
async function take(url: string, from: Checkpoint | null, many = Infinity) {
  const leads = createClient({ baseUrl: url, apiKey: 'key', retries: 0 }).leads({}, { from });
  const ids: (string | undefined)[] = [];
  let error: Error | undefined;
  try {
    for await (const { id } of leads) if (ids.push(id) === many) break;
  } catch (thrown) {
    error = thrown as Error;
  }
  return { ids, from: stored(leads.checkpoint()), error };
}

/** The ids of a list that is taken in several goes, and whether the last one ended normally. */
async function takeInParts(url: string, random: () => number) {
  const ids: (string | undefined)[] = [];
  let from: Checkpoint | null = null;
  for (let part = 0; part < 6; part += 1) {
    const many = part === 5 ? Infinity : 1 + Math.floor(random() * 12);
    const taken = await take(url, from, many);
    ids.push(...taken.ids);
    if (taken.error !== undefined && !(taken.error instanceof IncompleteError)) throw taken.error;
    if (taken.ids.length < many) return { ids, isComplete: taken.error === undefined };
    from = taken.from;
  }
  throw new Error('the last part stopped early');
}

/** The number behind the letter of the cursor that a request asks for: 0 on the first page. */
const positionOf = (cursor: string | null | undefined): number => Number(cursor?.slice(1) ?? 0);
const cursorIn = (url = ''): string | null => new URL(url, 'http://x').searchParams.get('cursor');
const pairAt = (at: number) => [{ id: `l${2 * at}` }, { id: `l${2 * at + 1}` }];
const listed = (count: number): string[] => Array.from({ length: count }, (_, i) => `l${i}`);

it.each([410, 403, 500])('reads from the first page where its cursor has expired: %d', async (status) => {
  let isNextDay = false;
  let stopsAt = 3;
  const { url, close } = await scripted((request, response) => {
    const cursor = cursorIn(request.url);
    const at = positionOf(cursor);
    const isExpired = isNextDay && cursor?.startsWith('a') === true;
    if (isExpired || at === stopsAt) response.writeHead(isExpired ? status : 401).end('{"error":"no"}');
    else {
      const next = at < 4 ? `${isNextDay ? 'b' : 'a'}${at + 1}` : null;
      sendJson(response, { data: pairAt(at), next_cursor: next, total: 10 });
    }
  });
  // Before its first page, and in the middle of its second one.
  const first = await take(
    url,
    stored(createClient({ baseUrl: url, apiKey: 'key' }).leads().checkpoint()),
    3,
  );
  isNextDay = true;
  const second = await take(url, first.from, 2);
  const third = await take(url, second.from);
  expect(third.error).toMatchObject({ message: expect.stringContaining('401') as string });
  stopsAt = Infinity;
  const last = await take(url, third.from);
  await close();
  expect([first, second, third, last].flatMap(({ ids }) => ids)).toEqual(listed(10));
  expect(last).toMatchObject({ error: undefined, from: { position: null } });
});

it.each([401, 500, 503])(
  'goes on where it stopped behind %d for every page, and behind a complete end there is nothing',
  async (status) => {
    let isAway = false;
    const { url, requests, close } = await scripted((request, response) => {
      const at = positionOf(cursorIn(request.url));
      if (isAway) response.writeHead(status).end();
      else sendJson(response, { data: [{ id: `l${at}` }], next_cursor: at < 3 ? `c${at + 1}` : null });
    });
    const first = await take(url, null, 2);
    isAway = true;
    const failed = await take(url, first.from);
    expect(failed).toMatchObject({
      ids: [],
      error: { message: expect.stringContaining(String(status)) as string },
      from: { position: { cursor: 'c1' } },
    });
    isAway = false;
    const last = await take(url, failed.from);
    const asked = requests.length;
    expect(await take(url, last.from)).toMatchObject({ ids: [], error: undefined });
    expect(requests).toHaveLength(asked);
    await close();
    expect([...first.ids, ...last.ids]).toEqual(listed(4));
  },
);

it.each([1, 3])('does not end normally where the list is empty behind lead %d', async (many) => {
  let isEmpty = false;
  const { url, close } = await scripted((request, response) => {
    const at = Number(cursorIn(request.url) ?? 0);
    const next = isEmpty || at === 4 ? null : `${at + 1}`;
    sendJson(response, { data: isEmpty ? [] : pairAt(at), next_cursor: next });
  });
  const first = await take(url, null, many);
  isEmpty = true;
  const empty = await take(url, first.from);
  expect(empty.error).toBeInstanceOf(IncompleteError);
  isEmpty = false;
  const last = await take(url, empty.from);
  await close();
  expect(last.ids).toEqual(listed(10).slice(many));
});

it('reads again what an answer left out, and no record twice that has no id', async () => {
  let isPartial = true;
  let isMixed = false;
  const { url, close } = await scripted((request, response) => {
    const at = positionOf(cursorIn(request.url));
    const data = isMixed && at === 0 ? [{ name: 'no id' }, { id: 'l1' }] : pairAt(at);
    const next_cursor = at < 2 ? `c${at + 1}` : null;
    if (at === 1 && isPartial) sendJson(response, { data: data.slice(1), next_cursor, partial: true });
    else sendJson(response, { data, next_cursor });
  });
  const inTwo = async (): Promise<(string | undefined)[]> => {
    isPartial = true;
    const first = await take(url, null);
    expect(first.error).toBeInstanceOf(IncompleteError);
    isPartial = false;
    const last = await take(url, first.from);
    expect(last.error).toBeUndefined();
    return [...first.ids, ...last.ids];
  };
  expect(await inTwo()).toEqual(['l0', 'l1', 'l3', 'l4', 'l5', 'l2']);
  isMixed = true;
  const mixed = await inTwo();
  expect(mixed.filter((id) => id === undefined)).toHaveLength(1);
  expect(new Set(mixed)).toEqual(new Set([undefined, 'l1', 'l2', 'l3', 'l4', 'l5']));
  await close();
});

it('lacks no lead and repeats none, however the list is paged and whatever moves in it', async () => {
  const faults: string[] = [];
  let complete = 0;
  let runs = 0;
  for (let seed = 1; seed <= sized(10); seed += 1) {
    for (const [s, style] of styles.entries()) {
      for (const [c, change] of changes.entries()) {
        if (!full && (s + c) % 2 === 0) continue;
        const random = seeded(seed * 1000 + s * 10 + c);
        const name = `${style}, ${change}, seed ${seed}`;
        const list = { leads: 3 + Math.floor(random() * 40), cap: 3 + Math.floor(random() * 9) };
        const service = await startMovingService({ ...list, style, change, changes: seed, random });
        const { ids, isComplete } = await takeInParts(service.url, random);
        await service.close();
        runs += 1;
        if (isComplete) complete += 1;
        if (new Set(ids).size < ids.length) faults.push(`${name}: repeated`);
        const missing = service.stayed().filter((id) => !ids.includes(id));
        if (isComplete && missing.length > 0) faults.push(`${name}: lacks ${missing.join(' ')}`);
        if (!isComplete && change === 'nothing') faults.push(`${name}: unproven`);
      }
    }
  }
  expect(faults).toEqual([]);
  expect(complete).toBeGreaterThan(runs / 2);
});

it('hands out nothing once its signal has aborted, and the rest of the page when it goes on', async () => {
  const sandbox = await startSandbox({ leads: 100, maxLimit: 100 });
  const client = createClient({ baseUrl: sandbox.url, apiKey: sandbox.apiKey });
  const stop = new AbortController();
  const first = client.leads({}, { signal: stop.signal });
  const ids: (string | undefined)[] = [];
  await expect(async () => {
    for await (const { id } of first) {
      ids.push(id);
      stop.abort(new Error('enough'));
    }
  }).rejects.toThrow('enough');
  expect(ids).toHaveLength(1);
  for await (const { id } of client.leads({}, { from: stored(first.checkpoint()) })) ids.push(id);
  expect(ids.toReversed()).toEqual(sandbox.leads().map(({ id }) => id));
  await sandbox.close();
});

it('hands out each record without an id once, and ids of any text', async () => {
  const long = 'x'.repeat(5000);
  const records = [{ a: 1 }, { id: '\ud800' }, { a: 1 }, { id: long }, { a: 2 }, { id: 'é' }, { id: 7 }];
  const service = await scripted((request, response) => {
    const start = Number(new URL(request.url ?? '', 'http://x').searchParams.get('offset') ?? 0);
    sendJson(response, { data: records.slice(start, start + 3), offset: start, total: records.length });
  });
  const client = createClient({ baseUrl: service.url, apiKey: 'key' });
  for (let stop = 1; stop <= records.length; stop += 1) {
    const values: unknown[] = [];
    const leads = client.leads();
    for await (const lead of leads) if (values.push(lead.value) === stop) break;
    for await (const lead of client.leads({}, { from: stored(leads.checkpoint()) })) values.push(lead.value);
    expect(values).toEqual(records);
  }
  await service.close();
});

it('takes relative times from its first begin, and no other filter, service or value', async () => {
  const sandbox = await startSandbox({ leads: 30, defaultLimit: 5, maxLimit: 5 });
  const client = createClient({ baseUrl: sandbox.url, apiKey: sandbox.apiKey });
  const leads = client.leads({ since: '365d', category: 'solar' });
  for await (const _ of leads) break;
  const from = leads.checkpoint();
  const all = async (resumed: AsyncIterable<unknown>): Promise<number> => {
    let count = 0;
    for await (const _ of resumed) count += 1;
    return count;
  };
  const solar = sandbox.leads().filter(({ value }) => value['category'] === 'solar');
  expect(await all(client.leads({ since: '365d', category: ['solar'] }, { from }))).toBe(solar.length - 1);
  await expect(all(client.leads({ since: '365d' }, { from }))).rejects.toThrow('it differs in categories');
  await expect(all(client.leads({ category: 'solar' }, { from }))).rejects.toThrow('it differs in since');
  const garbage = { version: 1, position: 7 } as Checkpoint;
  await expect(all(client.leads({}, { from: garbage }))).rejects.toThrow('not what checkpoint() gave');
  await sandbox.close();
});
