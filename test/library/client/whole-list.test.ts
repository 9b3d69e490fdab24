import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type Checkpoint,
  createClient,
  IncompleteError,
  type PulledLead,
} from '../../../src/library/client.ts';
import { noteMessages } from '../../../src/output/messages.ts';
import { startSandbox } from '../../../src/library/testing.ts';
import { type Scripted, scripted, sendJson } from '../../support/service.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function opened<T extends { close(): Promise<void> }>(starting: Promise<T>): Promise<T> {
  const started = await starting;
  open.push(started);
  return started;
}

const clientOf = ({ url }: Pick<Scripted, 'url'>) =>
  createClient({ baseUrl: url, apiKey: 'sandbox-key', retries: 0 });

async function taken(leads: AsyncIterable<PulledLead>): Promise<PulledLead[]> {
  const all: PulledLead[] = [];
  for await (const lead of leads) all.push(lead);
  return all;
}

describe('leads()', () => {
  it("gives the service's own tokens as bytes, and a value that was parsed from them", async () => {
    const record = '{ "id": 12345678901234567890, "score": 1.10, "name": "\\u0041" }';
    const service = await opened(
      scripted((_, response) => sendJson(response, `{"data":[${record}],"has_more":false}`)),
    );
    const [lead] = await taken(clientOf(service).leads());
    expect(lead?.id).toBe('12345678901234567890');
    expect(Buffer.from(lead?.bytes ?? []).toString()).toBe(record.replaceAll(' ', ''));
    expect(lead?.value).toEqual({ id: 12345678901234567000, score: 1.1, name: 'A' });
    expect(lead?.value).toBe(lead?.value);
  });

  it('filters as the program does', async () => {
    const sandbox = await opened(startSandbox({ leads: 120, maxLimit: 50 }));
    const all = await taken(clientOf(sandbox).leads());
    const ids = async (filter: Parameters<ReturnType<typeof createClient>['leads']>[0]) =>
      (await taken(clientOf(sandbox).leads(filter))).map(({ id }) => id);
    const wanted = (passes: (value: PulledLead['value']) => boolean) =>
      all.filter(({ value }) => passes(value)).map(({ id }) => id);
    const middle = new Date(String(all[60]?.value['createdAt']));
    expect(await ids({ category: ['solar', 'legal'] })).toEqual(
      wanted(({ category }) => category === 'solar' || category === 'legal'),
    );
    expect(await ids({ status: 'new' })).toEqual(wanted(({ status }) => status === 'new'));
    expect(await ids({ since: middle })).toHaveLength(61);
    expect(await ids({ until: middle.toISOString() })).toHaveLength(59);
    expect(await ids({ where: ['metadata.source=facebook', 'category!=solar'] })).toEqual(
      wanted(
        ({ metadata, category }) =>
          (metadata as { source: string }).source === 'facebook' && category !== 'solar',
      ),
    );
  });

  it('throws after the last lead that came where the service does not show that it was the last', async () => {
    const data = Array.from({ length: 100 }, (_, i) => ({ id: String(i) }));
    const service = await opened(
      scripted(({ url = '' }, response) => {
        const limit = Number(new URL(url, 'http://localhost').searchParams.get('limit') ?? 100);
        sendJson(response, data.slice(0, limit));
      }),
    );
    const came: PulledLead[] = [];
    const error = await (async () => {
      for await (const lead of clientOf(service).leads()) came.push(lead);
    })().catch((reason: unknown) => reason);
    expect(came).toHaveLength(100);
    expect(error).toBeInstanceOf(IncompleteError);
    expect(error).toMatchObject({ code: 'incomplete', why: expect.stringMatching(/\w/) as string });
    expect((error as IncompleteError).hint).toMatch(/dialect\.pagination.*acceptIncomplete/);
    expect(inspect(error)).not.toMatch(/leads config|--/);
    expect(await taken(clientOf(service).leads({}, { acceptIncomplete: true }))).toHaveLength(100);
    const said: string[] = [];
    await taken(clientOf(service).leads({}, { acceptIncomplete: (why) => void said.push(why) }));
    expect(said).toEqual([(error as IncompleteError).why]);
  });

  it('tells in notes, once for each cause, what the program would say', async () => {
    const service = await opened(
      scripted((_, response) => sendJson(response, { data: [{ id: '1', status: 'old' }], has_more: false })),
    );
    const notes: string[] = [];
    const onNote = (note: string): void => void notes.push(note);
    await taken(clientOf(service).leads({ status: 'new' }, { onNote }));
    const messages = noteMessages(onNote);
    for (const ms of [2999, 4000, 60_000])
      await messages.showWait({ ms, why: 'rate limited' }, () => Promise.resolve());
    expect(notes).toEqual([
      "the service also lists leads with status 'old'; to narrow here: where: 'status=new'",
      'waiting 4s: rate limited',
    ]);
  });

  it.each([
    [
      { where: 'metdata.source=x' },
      "where: there is no field 'metdata.source'; did you mean 'metadata.source'?",
    ],
    [{ category: 'a, b' }, "no lead has the category 'a, b'; any of several is category: ['a', 'b']"],
    [
      { since: '7d' },
      '2 leads were kept whose createdAt is missing or no known form of time, so their age is unknown',
    ],
  ])('says at the end why a filter such as %o may not do what is meant', async (filter, note) => {
    const service = await opened(
      scripted((_, response) => {
        const records = ['1', '2'].map((id) => ({ id, category: 'a', metadata: { source: 'x' } }));
        sendJson(response, { data: records, has_more: false });
      }),
    );
    const notes: string[] = [];
    const options = { onNote: (said: string) => void notes.push(said) };
    await taken(clientOf(service).leads(filter, options));
    expect(notes).toEqual([note]);
  });

  it('says nothing of the filter where the leads of an earlier iteration may have had the field', async () => {
    const service = await opened(
      scripted(({ url = '' }, response) =>
        url.includes('cursor=b')
          ? sendJson(response, { data: [{ id: '2' }], has_more: false })
          : sendJson(response, { data: [{ id: '1', x: 'a' }], has_more: true, next_cursor: 'b' }),
      ),
    );
    const notes: string[] = [];
    const iterate = (from: Checkpoint | null) =>
      clientOf(service).leads({ where: 'x!=b' }, { from, onNote: (said) => void notes.push(said) });
    const first = iterate(null);
    for await (const { id } of first) if (id === '2') break;
    const second = iterate(first.checkpoint());
    expect(await taken(second)).toEqual([]);
    expect(second.checkpoint()).toMatchObject({ position: null });
    expect(notes).toEqual([]);
  });

  it('closes its connections when the loop is left, and when it ends', async () => {
    const sandbox = await opened(startSandbox({ leads: 30, maxLimit: 10 }));
    // An open one would make this process wait: node lists what keeps it alive. Other tests may have left some.
    const open = (): number =>
      process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
    const before = open();
    const leads = clientOf(sandbox).leads();
    for await (const _ of leads) break;
    await expect.poll(open).toBeLessThanOrEqual(before);
    await taken(clientOf(sandbox).leads());
    await expect.poll(open).toBeLessThanOrEqual(before);
  });

  it('ends with the reason of its signal, also while it waits for an answer', async () => {
    const service = await opened(scripted(() => undefined));
    const stop = new AbortController();
    const leads = taken(clientOf(service).leads({}, { signal: stop.signal }));
    const failed = expect(leads).rejects.toThrow('enough');
    await expect.poll(() => service.requests.length).toBe(1);
    stop.abort(new Error('enough'));
    await failed;
    await expect(taken(clientOf(service).leads({}, { signal: stop.signal }))).rejects.toThrow('enough');
    expect(service.requests).toHaveLength(1);
  });

  it('can be iterated once: a second loop would end as if there were no leads', async () => {
    const sandbox = await opened(startSandbox({ leads: 3 }));
    const leads = clientOf(sandbox).leads();
    expect(leads.checkpoint()).toBeNull();
    await taken(leads);
    await expect(taken(leads)).rejects.toThrow('iterated before');
  });
});
