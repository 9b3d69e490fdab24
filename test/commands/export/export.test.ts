import type { ServerResponse } from 'node:http';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InterruptedError } from '../../../src/errors.ts';
import { FakeClock } from '../../support/clock.ts';
import { type FaultyService, faultyService } from '../../support/faulty-service.ts';
import { freshHome, leads, startLeads } from '../../support/run.ts';
import { sendJson } from '../../support/service.ts';
import { cursorOf, envOf, exporting, idsIn, nightly, refuse, serving } from './support.ts';

let service: FaultyService;
const env = () => envOf(service.url);
beforeAll(async () => {
  service = await faultyService({ leads: 250, pageSize: 100, style: 'cursor', seed: 1 });
});
afterAll(() => service.close());

describe('export', () => {
  it('writes every lead to stdout and one line to stderr', async () => {
    const { exitCode, stdout, stderr } = await leads(['export'], { env: env() });
    expect(exitCode).toBe(0);
    expect(idsIn(stdout)).toEqual(service.ids);
    expect(stderr).toMatch(/^250 leads in \S+ \([\d,]+\/s\), 0 retries, 0 duplicates dropped\n$/);
  });

  it('keeps numbers, key order, escapes and repeated keys as they were sent', async () => {
    const record = '{"id":12345678901234567890,"b":1.0,"a":1e400,"x":"\\u00e9é","b":-0}';
    const other = await serving((_, response) => sendJson(response, `{ "data": [ ${record} ] }`));
    const { stdout } = await leads(['export'], { env: envOf(other.url) });
    expect(stdout).toBe(`${record}\n`);
  });

  it('keeps leads whose time cannot be read under --since, and says how many', async () => {
    const times = ['2026-01-31T12:00:00,5Z', '2025-12-31T12:00:00Z', '2026-02-30T12:00:00Z', 'now'];
    const records = times.map((createdAt, i) => ({ id: `l-${i}`, createdAt }));
    const other = await serving((_, response) => sendJson(response, { data: records, has_more: false }));
    const options = { env: envOf(other.url) };
    const since = await leads(['export', '--since', '2026-01-01'], options);
    const all = await leads(['export'], options);
    expect(idsIn(since.stdout)).toEqual(['l-0', 'l-2', 'l-3']);
    expect(since.stderr).toContain(
      'note: 2 leads were kept whose createdAt is missing or no known form of time, so their age is unknown\n',
    );
    expect(idsIn(all.stdout)).toHaveLength(4);
    expect(all.stderr).not.toContain('note:');
  });

  it('writes CSV for programs and for Excel', async () => {
    const records = [{ id: 'a', phone: '+49 30 1', tags: ['x', 'y'] }];
    const other = await serving((_, response) => sendJson(response, records));
    const csv = async (...flags: string[]) =>
      leads(['export', '--format', 'csv', ...flags], { env: envOf(other.url) });
    const plain = await csv('--no-escape', '--fields', 'phone,tags.1');
    const home = freshHome();
    await csv('--bom', '-o', join(home, 'leads.csv'));
    const missing = await csv('--fields', 'id,fone');
    const columns = 'id,category,contact.name,contact.email,contact.phone,metadata.source,createdAt';
    expect(plain.stdout).toBe(
      `${columns},phone,tags.1,other\r\na,,,,,,,+49 30 1,y,"{""tags"":[""x"",""y""]}"\r\n`,
    );
    expect(readFileSync(join(home, 'leads.csv'), 'utf8')).toBe(
      `\ufeff${columns},other\r\na,,,,,,,"{""phone"":""+49 30 1"",""tags"":[""x"",""y""]}"\r\n`,
    );
    expect(missing.stderr).toContain(
      "note: --fields: there is no field 'fone'; the fields are id, phone, tags\n",
    );
  });

  it('is silent with --quiet and shows progress on a terminal only', async () => {
    expect((await leads(['export', '-q'], { env: env() })).stderr).toBe('');
    expect((await leads(['export'], { env: env() })).stderr).not.toContain('\r');
  });

  it.each([
    ['--resume'],
    ['--limit', '1', '--bookmark', 'b'],
    ['--overlap', '1h'],
    ['--follow', '--until', 'now'],
    ['--since', 'now', '--until', '7d'],
    ['--no-escape'],
    ['--bom'],
    ['--fields', ','],
    ['--limit', '0'],
  ])('refuses %j', async (...flags) => {
    const { exitCode, stderr } = await leads(['export', ...flags], { env: env() });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error: /);
  });

  it('stops at --limit', async () => {
    expect(idsIn((await leads(['export', '--limit', '120'], { env: env() })).stdout)).toEqual(
      service.ids.slice(0, 120),
    );
  });

  it('keeps the order under --concurrency', async () => {
    const pages = await faultyService({ leads: 2000, pageSize: 50, style: 'page', seed: 1 });
    const { stdout, exitCode } = await leads(['export', '--concurrency', '4'], {
      env: envOf(pages.url),
    });
    await pages.close();
    expect(exitCode).toBe(0);
    expect(idsIn(stdout)).toEqual(pages.ids);
  });
});

describe('export -o', () => {
  it('replaces the file behind a link, keeps its mode, and leaves nothing else', async () => {
    const home = freshHome();
    const real = join(home, 'real.ndjson');
    writeFileSync(real, 'old', { mode: 0o600 });
    symlinkSync(real, join(home, 'link.ndjson'));
    const { stderr, exitCode } = await leads(['export', '-o', join(home, 'link.ndjson')], { env: env() });
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`250 leads to ${join(home, 'link.ndjson')}`);
    expect(idsIn(readFileSync(real, 'utf8'))).toEqual(service.ids);
    expect(statSync(real).mode & 0o777).toBe(0o600);
    expect(readdirSync(home).sort()).toEqual(['link.ndjson', 'real.ndjson']);
  });

  it('writes the same as stdout in every form', async () => {
    for (const form of [
      [],
      ['--json'],
      ['--format', 'csv'],
      ['--fields', 'id'],
      ['--format', 'csv', '--fields', 'id'],
    ]) {
      const file = join(freshHome(), 'out');
      const { stdout } = await leads(['export', ...form], { env: env() });
      await leads(['export', '-o', file, ...form], { env: env() });
      expect(readFileSync(file, 'utf8')).toBe(stdout);
      await leads(['export', '-o', file, '--gzip', ...form], { env: env() });
      expect(gunzipSync(readFileSync(file)).toString('utf8')).toBe(stdout);
    }
  });

  it.each([
    ['all.gz', true],
    ['all.ndjson.gz', true],
    ['x.csv.GZ', true],
    ['all.csv', false],
    ['all', false],
  ])('compresses by the ending of the name: %s %s', async (name, isCompressed) => {
    const file = join(freshHome(), name);
    expect((await leads(['export', '-o', file], { env: env() })).exitCode).toBe(0);
    expect(
      readFileSync(file)
        .subarray(0, 2)
        .equals(Buffer.from([0x1f, 0x8b])),
    ).toBe(isCompressed);
  });

  it('refuses a directory, and a place that is not there', async () => {
    const home = freshHome();
    mkdirSync(join(home, 'd'));
    expect((await leads(['export', '-o', join(home, 'd')], { env: env() })).exitCode).toBe(8);
    expect((await leads(['export', '-o', join(home, 'no', 'x')], { env: env() })).exitCode).toBe(8);
  });

  it('leaves nothing behind when nothing came', async () => {
    const refusing = await serving((_, response) => void response.writeHead(401).end());
    const home = freshHome();
    const { exitCode } = await leads(['export', '-o', join(home, 'out')], {
      env: envOf(refusing.url),
      home,
    });
    expect(exitCode).toBe(4);
    expect(readdirSync(home).filter((name) => name.startsWith('out'))).toEqual([]);
  });

  it('goes on only with the same filters, resolved as of the beginning', async () => {
    const broken = await serving((request, response, nth) => {
      const second = request.url?.includes('cursor=2') === true;
      if (second && nth < 5) response.writeHead(400).end('{"error":"no","message":"not now"}');
      else {
        const data = [{ id: second ? '2' : '1', createdAt: '2026-01-14T00:00:00Z' }];
        sendJson(response, { data, next_cursor: second ? null : '2' });
      }
    });
    const home = freshHome();
    const file = join(home, 'out');
    const options = { env: envOf(broken.url), home };
    const clock = new FakeClock();
    const first = await leads(['export', '-o', file, '--since', '7d'], { ...options, clock });
    expect(first.stderr).toContain('1 lead is kept in');
    clock.advance(3 * 86_400_000);
    const other = await leads(['export', '-o', file, '--since', '6d', '--resume'], { ...options, clock });
    expect(other.exitCode).toBe(2);
    expect(other.stderr).toContain('differs in since');
    await leads(['export', '-o', file, '--since', '7d', '--resume'], { ...options, clock });
    const last = await leads(['export', '-o', file, '--since', '7d', '--resume'], { ...options, clock });
    expect(last.stderr).toContain('2 leads to');
    expect(idsIn(readFileSync(file, 'utf8'))).toEqual(['1', '2']);
    expect(existsSync(`${file}.partial`)).toBe(false);
  });
});

describe('export --follow', () => {
  it('writes what is new at every poll, until Ctrl-C, which is its ordinary end', async () => {
    const stored = [{ id: '1', createdAt: '2026-01-15T11:00:00Z' }];
    const growing = await serving((_, response) => sendJson(response, { data: stored, has_more: false }));
    const clock = new FakeClock();
    const live = startLeads(['export', '--follow', '10s'], {
      env: envOf(growing.url),
      clock,
    });
    for (const id of ['2', '3']) {
      await expect.poll(() => clock.sleeps.length).toBe(Number(id) - 1);
      stored.unshift({ id, createdAt: `2026-01-15T12:00:0${id}Z` });
      clock.advance(10_000);
    }
    await expect.poll(() => clock.sleeps.length).toBe(3);
    live.abort(new InterruptedError('SIGINT'));
    const { exitCode, stdout, stderr } = await live.done;
    expect(exitCode).toBe(0);
    expect(idsIn(stdout)).toEqual(['1', '2', '3']);
    expect(stderr).toMatch(/^3 leads in /);
  });
});

describe('export -o that was killed after its walk', () => {
  it.each(['csv', 'json'])('gets its name, asking nothing again: %s', async (format) => {
    const { home, file, run } = exporting(service.url, '--format', format);
    mkdirSync(`${file}.drawn`);
    expect((await run()).exitCode).toBe(8);
    rmdirSync(`${file}.drawn`);
    const before = service.requests();
    expect((await run('--resume')).exitCode).toBe(0);
    expect(service.requests()).toBe(before);
    const { stdout } = await leads(['export', '--format', format], { env: env() });
    expect(readFileSync(file, 'utf8')).toBe(stdout);
    expect(readdirSync(home)).toEqual(['out']);
  });

  it('is believed only beside its output, and of the same export', async () => {
    const file = join(freshHome(), 'out');
    const counts = { leads: 3, duplicates: 0, withoutId: 0, retries: 0, leftOut: [] };
    const rest = {
      version: 1,
      startedAt: 0,
      of: {},
      position: null,
      bytes: 9,
      counts,
      bookmark: null,
      appendTo: null,
    };
    writeFileSync(`${file}.checkpoint`, JSON.stringify(rest));
    const anew = await leads(['export', '-o', file, '--resume'], { env: env() });
    expect([anew.exitCode, idsIn(readFileSync(file, 'utf8'))]).toEqual([0, service.ids]);
    writeFileSync(`${file}.checkpoint`, JSON.stringify(rest));
    const longer = await leads(['export', '-o', file, '--resume'], { env: env() });
    expect([longer.exitCode, longer.stderr]).toEqual([0, expect.stringContaining('this starts over')]);
    writeFileSync(`${file}.checkpoint`, JSON.stringify({ ...rest, bytes: statSync(file).size }));
    const other = await leads(['export', '-o', file, '--resume'], { env: env() });
    expect([other.exitCode, other.stderr]).toEqual([2, expect.stringContaining('had other flags')]);
  });
});

describe('an export that ended without a proof', () => {
  /** Calls each of these changes, and exports after it. */
  async function nights(url: string, changes: readonly (() => void)[], ...flags: readonly string[]) {
    const { run, file } = nightly(url, ...flags);
    const codes: number[] = [];
    for (const change of changes) {
      change();
      codes.push((await run()).exitCode);
    }
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    return { codes, text, written: idsIn(text) };
  }

  it.each(['as a whole', 'and was interrupted behind it'])(
    'because an answer said that it is not all reads that one again: %s',
    async (how) => {
      let isPartial = true;
      let stopsAt = how === 'as a whole' ? Infinity : 3;
      const service = await serving((request, response) => {
        const at = cursorOf(request.url);
        const data = [{ id: `l${2 * at}` }, { id: `l${2 * at + 1}` }];
        if (at === stopsAt) refuse(response);
        else if (at === 1 && isPartial)
          sendJson(response, { data: data.slice(1), next_cursor: 'c2', partial: true });
        else sendJson(response, { data, next_cursor: at < 4 ? `c${at + 1}` : null });
      });
      const { codes, written } = await nights(service.url, [
        () => undefined,
        () => (stopsAt = Infinity),
        () => (isPartial = false),
      ]);
      expect(codes).toEqual([how === 'as a whole' ? 6 : 4, 6, 0]);
      expect(written.sort()).toEqual(Array.from({ length: 10 }, (_, i) => `l${i}`));
    },
  );

  it('because none of the leads of the run before came again looks for them each time', async () => {
    let list = Array.from({ length: 6 }, (_, i) => `a${i}`);
    const createdAt = new Date().toISOString();
    const service = await serving((request, response) => {
      const at = cursorOf(request.url);
      const data = list.slice(2 * at, 2 * at + 2).map((id) => ({ id, createdAt }));
      sendJson(response, { data, next_cursor: 2 * at + 2 < list.length ? `c${at + 1}` : null });
    });
    const { codes } = await nights(service.url, [
      () => undefined,
      () => (list = Array.from({ length: 6 }, (_, i) => `b${i}`)),
      () => undefined,
    ]);
    expect(codes).toEqual([0, 6, 6]);
  });

  it.each<readonly [string, number, readonly number[]]>([
    ['an answer was partial', 1, [4, 6, 0]],
    ['the run before had not come again', 0, [0, 4, 6, 6]],
  ])(
    'is not complete where it was interrupted, a record has no id, and %s in front of that',
    async (why, firstNight, expected) => {
      const createdAt = new Date().toISOString();
      let night = firstNight;
      const service = await serving((request, response) => {
        const at = cursorOf(request.url);
        const partial = why.includes('partial') && night < 3 && at === 0;
        if (night === 0) sendJson(response, { data: [{ id: 'old', createdAt }], next_cursor: null });
        else if (night === 1 && at === 2) refuse(response);
        else {
          const data = [{ id: `l${at}` }, at === 0 ? { name: 'x' } : { id: `m${at}` }];
          sendJson(response, { data, next_cursor: at < 2 ? `c${at + 1}` : null, partial });
        }
      });
      const { codes } = await nights(
        service.url,
        expected.map((_, i) => () => (night = firstNight + i)),
      );
      expect(codes).toEqual(expected);
    },
  );

  const nothing = (response: ServerResponse): void => sendJson(response, { data: [], next_cursor: null });
  const gone = (response: ServerResponse): void => void response.writeHead(410).end();
  it.each<readonly [string, (response: ServerResponse, at: number) => void]>([
    ['is empty from its front', nothing],
    ['has no list any more', (response) => sendJson(response, { data: null })],
    ['is empty, and knows no cursor', (response, at) => (at > 0 ? gone : nothing)(response)],
    [
      'is another one',
      (response, at) => {
        if (at > 0) gone(response);
        else sendJson(response, { data: [{ id: 'x', createdAt: '2026-01-01' }], next_cursor: null });
      },
    ],
  ])('because the service %s publishes none of the leads that came before', async (_, answer) => {
    let night = 0;
    const service = await serving((request, response) => {
      const at = cursorOf(request.url);
      if (at === 0 && night === 0) sendJson(response, { data: [{ id: 'old', createdAt: '2026-01-01' }] });
      else if (night === 2) answer(response, at);
      else if (at === 2 && night === 1) refuse(response);
      else {
        const data = [{ id: `l${at}`, createdAt: '2026-01-02' }, ...(at === 3 ? [{ id: 'old' }] : [])];
        sendJson(response, { data, next_cursor: at < 3 ? `c${at + 1}` : null });
      }
    });
    const first = [() => undefined, () => (night = 1)];
    const rest = [() => (night = 2), () => undefined, () => (night = 3)];
    const { codes, written } = await nights(service.url, [...first, ...rest]);
    const { codes: unmarked } = await nights(service.url, [() => (night = 1), ...rest]);
    expect(codes).toEqual([0, 4, 6, 6, 0]);
    expect(written.filter((id) => id !== 'x').sort()).toEqual(['l0', 'l1', 'l2', 'l3', 'old']);
    expect(unmarked).toEqual([4, 6, 6, 0]);
  });

  it('but not where the only one that came before is gone from a list that is the same', async () => {
    let night = 0;
    const service = await serving((request, response) => {
      const at = cursorOf(request.url);
      const old = { id: 'old', createdAt: '2026-01-01' };
      if (night === 2 && at > 0) response.writeHead(410).end();
      else if (at > 0) refuse(response);
      else {
        const more = [[], [{ id: 'n1', createdAt: '2026-01-02' }], [{ id: 'n2', createdAt: '2026-01-03' }]];
        sendJson(response, { data: [old, ...(more[night] ?? [])], next_cursor: night === 1 ? 'c1' : null });
      }
    });
    const days = [() => undefined, () => (night = 1), () => (night = 2)];
    const { codes, written } = await nights(service.url, days);
    expect(codes).toEqual([0, 4, 0]);
    expect(written).toEqual(['old', 'n1', 'n2']);
  });

  it('but not where the leads that came before have another status now', async () => {
    let night = 0;
    const service = await serving((request, response) => {
      const at = cursorOf(request.url);
      const isAll = !/status=/.test(request.url ?? '');
      if (night === 0 && at === 1) refuse(response);
      else if (night === 0) sendJson(response, { data: [{ id: 'a' }], next_cursor: 'c1' });
      else sendJson(response, { data: at === 0 && isAll ? [{ id: 'a' }] : [], next_cursor: null });
    });
    const days = [() => undefined, () => (night = 1)];
    const { codes, written } = await nights(service.url, days, '--status', 'new');
    expect(codes).toEqual([4, 0]);
    expect(written).toEqual(['a']);
  });

  it('because a cursor is not known any more is accepted only where its front proves nothing either', async () => {
    let isNextDay = false;
    const service = await serving((request, response) => {
      const at = cursorOf(request.url);
      const isExpired = isNextDay && request.url?.includes('=a') === true;
      if (isExpired) sendJson(response, { data: [], next_cursor: null });
      else if (at === 2 && !isNextDay) refuse(response);
      else {
        const next_cursor = at < 4 ? `${isNextDay ? 'b' : 'a'}${at + 1}` : null;
        sendJson(response, { data: [{ id: `l${at}` }], next_cursor });
      }
    });
    const days = [() => undefined, () => (isNextDay = true)];
    const { codes, written } = await nights(service.url, days, '--accept-incomplete');
    expect(codes).toEqual([4, 0]);
    expect(written).toEqual(['l0', 'l1', 'l2', 'l3', 'l4']);
  });

  it.each(['an answer was partial', 'its cursor has expired'])(
    'starts over where a record has no id and %s',
    async (why) => {
      let isNextDay = false;
      const service = await serving((request, response) => {
        const at = cursorOf(request.url);
        const isPartial = at === 1 && !isNextDay && why.includes('partial');
        if (at === 3 && why.includes('expired')) response.writeHead(410).end('{"error":"gone"}');
        else {
          const data = isPartial ? [] : [{ name: `n${at}` }];
          const next_cursor = at < (isNextDay ? 2 : 4) ? `c${at + 1}` : null;
          sendJson(response, { data, next_cursor, ...(isPartial && { partial: true }) });
        }
      });
      const { codes, text } = await nights(service.url, [() => undefined, () => (isNextDay = true)]);
      expect(codes).toEqual([6, 0]);
      expect(text.match(/n\d/g)).toEqual(['n0', 'n1', 'n2']);
    },
  );

  it('is not doubted for an empty last page where its records have no id', async () => {
    let stopsAt = 2;
    const service = await serving((request, response) => {
      const at = cursorOf(request.url);
      if (at === stopsAt) refuse(response);
      else if (at === 2) sendJson(response, { data: [], next_cursor: null });
      else sendJson(response, { data: [{ name: `n${at}` }], next_cursor: `c${at + 1}` });
    });
    const { codes } = await nights(service.url, [() => undefined, () => (stopsAt = Infinity)]);
    expect(codes).toEqual([4, 0]);
  });

  it('because of a total reads the list again, whose total may be another one', async () => {
    const list = Array.from({ length: 10 }, (_, i) => `l${i}`);
    let isMoved = false;
    const service = await serving((request, response) => {
      const cursor = new URL(request.url ?? '', 'http://x').searchParams.get('cursor');
      const at = cursor === null ? 0 : list.indexOf(cursor) + 1;
      if (at === 8 && !isMoved) {
        isMoved = true;
        list.splice(9, 1);
        list.unshift('new');
      }
      const from = cursor === null ? 0 : list.indexOf(cursor) + 1;
      const data = list.slice(from, from + 2);
      const next_cursor = from + 2 < list.length ? data.at(-1) : null;
      sendJson(response, { data: data.map((id) => ({ id })), next_cursor, total: list.length });
    });
    const { codes, written } = await nights(service.url, [() => undefined, () => undefined]);
    expect(codes).toEqual([6, 0]);
    expect(written.sort()).toEqual([...list].sort());
  });
});

describe('an interrupted export that cannot go on where it stopped', () => {
  it.each<readonly [string, name: (at: number) => object, other: string, more: object]>([
    ['a cursor', (at) => ({ next_cursor: `c${at}` }), 'next_batch', {}],
    ['a URL', (at) => ({ next: `/api/leads?cursor=c${at}` }), 'next_batch', {}],
    ['a cursor, and counts more', (at) => ({ next_cursor: `c${at}` }), 'page_cursor', { total_leads: 10 }],
  ])(
    'is not complete where the service names the next page by another name than %s',
    async (_, name, other, more) => {
      let night = 0;
      const service = await serving((request, response) => {
        const at = cursorOf(request.url);
        if (at === 2 && night === 0) refuse(response);
        else {
          const next = at < 4 ? name(at + 1) : {};
          const renamed = at < 4 ? { [other]: `b${at + 1}` } : {};
          const data = [{ id: `l${2 * at}` }, { id: `l${2 * at + 1}` }];
          sendJson(response, { data, ...more, ...(night === 1 || night === 2 ? renamed : next) });
        }
      });
      const { run, ids } = nightly(service.url);
      const codes: number[] = [];
      for (; night < 4; night += 1) codes.push((await run()).exitCode);
      expect(codes).toEqual([4, 6, 6, 0]);
      expect(ids().sort()).toEqual(Array.from({ length: 10 }, (_, i) => `l${i}`));
    },
  );

  it.each([[{}], [{ total_leads: 3 }]])('is complete on the last page as it was before: %j', async (more) => {
    let isNextDay = false;
    const asked: string[] = [];
    const service = await serving((request, response) => {
      asked.push(request.url ?? '');
      const at = cursorOf(request.url);
      if (at === 2 && !isNextDay) refuse(response);
      else {
        const next = at < 2 && { next_cursor: `c${at + 1}` };
        sendJson(response, { data: [{ id: `l${at}` }], ...more, ...next });
      }
    });
    const { run } = exporting(service.url, '--resume');
    expect((await run()).exitCode).toBe(4);
    isNextDay = true;
    asked.length = 0;
    expect((await run()).exitCode).toBe(0);
    expect(asked).toHaveLength(1);
  });

  it.each([
    [401, 4, {}],
    [500, 5, {}],
    [500, 5, { 'retry-after': '7200' }],
    [503, 5, {}],
    [429, 5, {}],
  ])('keeps its place where the first page is answered %d as well', async (status, code, headers) => {
    let isAway = false;
    let asked = 0;
    const service = await serving((request, response) => {
      const at = cursorOf(request.url);
      if (isAway) asked += 1;
      if (isAway) response.writeHead(status, headers).end();
      else if (at === 2) response.writeHead(401).end();
      else sendJson(response, { data: [{ id: `l${at}` }], next_cursor: `c${at + 1}` });
    });
    const { run, file } = nightly(service.url, '--retries', '0');
    await run();
    isAway = true;
    const { exitCode, stderr } = await run();
    expect(exitCode).toBe(code);
    // A failure may be that of a page which is too large: the first one is asked for smaller, too.
    const frontRequests = status === 500 ? 3 : 1;
    expect(asked).toBe(status > 500 || status === 429 || 'retry-after' in headers ? 1 : 1 + frontRequests);
    expect(stderr).not.toContain('first page');
    const checkpoint = JSON.parse(readFileSync(`${file}.checkpoint`, 'utf8')) as object;
    expect(checkpoint).toMatchObject({ position: { cursor: 'c2' } });
  });

  it('keeps its place where a failure of the moment kept it from being read, and the front fails further on', async () => {
    const failing = new Set<number>([3]);
    let asked: number[] = [];
    const service = await serving((request, response) => {
      const at = cursorOf(request.url);
      asked.push(at);
      if (failing.has(at)) response.writeHead(500).end();
      else sendJson(response, { data: [{ id: `l${at}` }], next_cursor: at < 4 ? `c${at + 1}` : null });
    });
    const { run: exportOnce, ids } = nightly(service.url, '--retries', '0');
    const run = async (): Promise<readonly [number, readonly number[]]> => {
      asked = [];
      const { exitCode } = await exportOnce();
      return [exitCode, asked];
    };
    expect(await run()).toEqual([5, [0, 1, 2, 3]]);
    expect(await run()).toEqual([5, [3, 0, 1, 2, 3]]);
    failing.clear();
    expect(await run()).toEqual([0, [3, 4]]);
    expect(ids()).toEqual(['l0', 'l1', 'l2', 'l3', 'l4']);
  });

  it('writes no record twice that has no id', async () => {
    let isNextDay = false;
    const expiring = await serving((request, response) => {
      const cursor = new URL(request.url ?? '', 'http://x').searchParams.get('cursor');
      const at = Number(cursor ?? 0);
      if (at === 2) response.writeHead(isNextDay ? 410 : 401).end('{"error":"no","message":"not now"}');
      else sendJson(response, { data: [{ name: `n${at}` }], next_cursor: `${at + 1}` });
    });
    const { run, file } = exporting(expiring.url, '--resume');
    expect((await run()).exitCode).toBe(4);
    isNextDay = true;
    const { exitCode, stderr } = await run();
    expect([exitCode, stderr]).toEqual([6, expect.stringContaining('answered 410')]);
    expect(readFileSync(`${file}.partial`, 'utf8').trim().split('\n')).toHaveLength(2);
  });

  it('reads from the first page where leads that arrived had led it astray', async () => {
    const list = Array.from({ length: 20 }, (_, i) => `l${i}`);
    const arrive = (from: number, to: number): void => {
      for (let i = from; i < to; i += 1) list.unshift(`new${i}`);
    };
    // Only `offset` counts. A page of leads arrives before it is tried, so that the first one seems to come again.
    const moving = await serving((request, response, nth) => {
      if (nth === 2) arrive(0, 7);
      if (nth === 5) arrive(7, 8);
      const query = new URL(request.url ?? '', 'http://x').searchParams;
      const offset = Number(query.get('offset') ?? 0);
      const many = Math.min(7, Number(query.get('limit') ?? 7));
      sendJson(
        response,
        list.slice(offset, offset + many).map((id) => ({ id })),
      );
    });
    const { run, ids } = nightly(moving.url);
    const astray = await run();
    const again = await run();
    expect(astray.exitCode).toBe(6);
    expect({ ...again }).toMatchObject({ exitCode: 0 });
    expect(ids().sort()).toEqual([...list].sort());
  });

  it.each([
    [400, '{"error":"invalid_cursor","message":"expired"}'],
    [404, '{"error":"invalid_cursor","message":"expired"}'],
    [409, '{"error":"invalid_cursor","message":"expired"}'],
    [410, ''],
    [200, '{"error":"invalid_cursor","message":"expired"}'],
    [200, '{"data":[],"next_cursor":null}'],
    [200, '{"success":false,"message":"x"}'],
    [200, '{"errors":[{"message":"x"}]}'],
    [200, '<h1>Expired</h1>'],
    [200, ''],
    [401, ''],
    [403, ''],
    [500, ''],
    [501, ''],
  ])('reads from the first page where its cursor has expired: %d %s', async (status, body) => {
    let isNextDay = false;
    let stopsAt = 2;
    const expiring = await serving((request, response) => {
      const cursor = new URL(request.url ?? '', 'http://x').searchParams.get('cursor');
      const at = Number(cursor?.slice(1) ?? 0);
      const isExpired = isNextDay && cursor?.startsWith('a') === true;
      if (isExpired) response.writeHead(status, { 'content-type': 'application/json' }).end(body);
      else if (at === stopsAt) refuse(response);
      else {
        const next = at < 4 ? `${isNextDay ? 'b' : 'a'}${at + 1}` : null;
        sendJson(response, { data: [{ id: `l${at}` }], next_cursor: next, total: 5 });
      }
    });
    const { run, ids } = nightly(expiring.url);
    expect((await run()).exitCode).toBe(4);
    isNextDay = true;
    // On the way back, among leads that are known.
    stopsAt = 1;
    expect((await run()).exitCode).toBe(4);
    stopsAt = 4;
    const later = await run();
    expect([later.exitCode, later.stderr]).toEqual([4, expect.stringContaining('4 leads are kept')]);
    stopsAt = Infinity;
    const { exitCode, stderr } = await run();
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(ids()).toEqual(['l0', 'l1', 'l2', 'l3', 'l4']);
  });
});
