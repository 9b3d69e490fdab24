import { existsSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InterruptedError } from '../../../src/errors.ts';
import { FakeClock } from '../../support/clock.ts';
import { freshHome, leads, startLeads } from '../../support/run.ts';
import { type Scripted, scripted, sendJson } from '../../support/service.ts';
import { envOf, serving } from './support.ts';

/** A service that counts six leads and leads to no more than three. */
let service: Scripted;
beforeEach(async () => {
  service = await scripted((_, response) =>
    sendJson(response, { data: [{ id: '1' }, { id: '2' }, { id: '3' }], total: 6 }),
  );
});
afterEach(() => service.close());

const run = (home: string, ...argv: string[]) =>
  leads(argv, { home, env: { LEADS_API_KEY: 'key', LEADS_BASE_URL: service.url } });

const why = 'leads may be missing: the service has 6 leads, and its answers show no way past the first 3';

describe('a walk that proves nothing', () => {
  it.each([['export'], ['list', '--limit', 'all'], ['show', '4']])(
    'ends %s with 6 and one sentence, also under --quiet',
    async (...argv) => {
      const { exitCode, stderr } = await run(freshHome(), ...argv, '--quiet');
      expect(exitCode).toBe(6);
      expect(stderr).toMatch(new RegExp(`^error: ${why}\\nhint: .*--accept-incomplete\\n$`));
    },
  );

  it.each([['export'], ['list', '--limit', 'all', '--format', 'ndjson']])(
    'is a note with --accept-incomplete: %s',
    async (...argv) => {
      const { exitCode, stdout, stderr } = await run(freshHome(), ...argv, '--accept-incomplete');
      expect([exitCode, stdout]).toEqual([0, '{"id":"1"}\n{"id":"2"}\n{"id":"3"}\n']);
      expect(stderr).toContain(`note: ${why}`);
    },
  );

  it('keeps the partial file of -o, which --resume --accept-incomplete finishes', async () => {
    const home = freshHome();
    const file = join(home, 'out.ndjson');
    const first = await run(home, 'export', '-o', file);
    expect(first.exitCode).toBe(6);
    expect([existsSync(file), existsSync(`${file}.partial`)]).toEqual([false, true]);
    expect(first.stderr).toContain('--resume --accept-incomplete');
    const second = await run(home, 'export', '-o', file, '--resume');
    expect([second.exitCode, existsSync(file)]).toEqual([6, false]);
    const third = await run(home, 'export', '-o', file, '--resume', '--accept-incomplete');
    expect(third.exitCode).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('{"id":"1"}\n{"id":"2"}\n{"id":"3"}\n');
  });

  it('keeps a compressed partial file that holds the leads which it names', async () => {
    const home = freshHome();
    const file = join(home, 'out.ndjson.gz');
    for (const flags of [[], ['--resume']]) {
      const { exitCode, stderr } = await run(home, 'export', '-o', file, ...flags);
      expect([exitCode, stderr]).toEqual([6, expect.stringContaining('3 leads are kept in')]);
      expect(
        gunzipSync(readFileSync(`${file}.partial`))
          .toString()
          .match(/"id":"."/g),
      ).toHaveLength(3);
    }
    expect((await run(home, 'export', '-o', file, '--resume', '--accept-incomplete')).exitCode).toBe(0);
    expect(gunzipSync(readFileSync(file)).toString()).toBe('{"id":"1"}\n{"id":"2"}\n{"id":"3"}\n');
  });

  it('moves no bookmark', async () => {
    const home = freshHome();
    const bookmark = join(home, 'bookmark.json');
    expect((await run(home, 'export', '--bookmark', bookmark)).exitCode).toBe(6);
    expect(existsSync(bookmark)).toBe(false);
  });

  it.each([[[]], [['-o', 'out.ndjson']]])(
    'moves a bookmark where it is accepted, and one note says so: %j',
    async ([flag, name = '']: string[]) => {
      const home = freshHome();
      const bookmark = join(home, 'bookmark.json');
      const output = flag === undefined ? [] : [flag, join(home, name)];
      const accepted = ['export', '--bookmark', bookmark, ...output, '--accept-incomplete'];
      const { exitCode, stderr } = await run(home, ...accepted);
      expect(exitCode).toBe(0);
      expect(stderr.match(/missing/g)).toHaveLength(1);
      const { 1: seen = '' } = why.split('missing: ');
      expect(stderr).toContain(`note: the bookmark moves past leads that may be missing: ${seen}\n`);
      expect(JSON.parse(readFileSync(bookmark, 'utf8'))).toMatchObject({ undated: ['1', '2', '3'] });
    },
  );

  it('ends --follow with 6 when it is the first one', async () => {
    expect((await run(freshHome(), 'export', '--follow', '10s')).exitCode).toBe(6);
  });

  it('does not matter where --limit was reached, and is a note of list where it was not', async () => {
    expect((await run(freshHome(), 'export', '--limit', '2')).exitCode).toBe(0);
    expect((await run(freshHome(), 'export', '--limit', '5')).exitCode).toBe(6);
    const { exitCode, stderr } = await run(freshHome(), 'list', '--limit', '5');
    expect([exitCode, stderr]).toEqual([0, `note: ${why}\n`]);
  });
});

it('says it where a poll of --follow meets no lead of the one before, and reaches as far back again', async () => {
  const list = [{ id: 'a', createdAt: new Date(Date.now() - 60_000).toISOString() }];
  let polls = 0;
  const lossy = await serving((_, response) => {
    polls += 1;
    if (polls === 2) list.splice(0, 1, { id: 'b', createdAt: new Date().toISOString() });
    if (polls === 3) list.push({ id: 'a', createdAt: new Date().toISOString() });
    sendJson(response, { data: list, next: null });
    if (polls === 4) following.abort(new InterruptedError('SIGINT'));
  });
  const following = startLeads(['export', '--follow', '10s', '-q'], {
    env: envOf(lossy.url),
  });
  const { exitCode, stdout, stderr } = await following.done;
  expect([exitCode, stdout.match(/"id":"."/g)]).toEqual([0, ['"id":"a"', '"id":"b"']]);
  expect(stderr).toBe(
    'warning: leads may be missing: the newest lead of the run before did not come again; trying again\n',
  );
});

it('counts a page once that proved nothing, and goes further when it is read again', async () => {
  let listed = 17;
  const growing = await serving((request, response) => {
    const from = Number(new URL(request.url ?? '', 'http://x').searchParams.get('cursor') ?? 0);
    const data = Array.from({ length: Math.min(5, listed - from) }, (_, i) => ({ id: `l${from + i}` }));
    sendJson(response, { data, next_cursor: from + 5 < listed ? String(from + 5) : null, total: 20 });
  });
  const home = freshHome();
  const file = join(home, 'out.ndjson');
  const exported = (...flags: string[]) =>
    leads(['export', '-o', file, ...flags], {
      home,
      env: envOf(growing.url),
    });
  const short = await exported();
  expect(short.stderr).toContain('the service counts 20 leads and gave 17');
  expect(short.stderr).toContain('17 leads are kept in');
  expect((await exported('--resume')).stderr).toContain('the service counts 20 leads and gave 17');
  listed = 20;
  const whole = await exported('--resume', '--accept-incomplete');
  expect([whole.exitCode, whole.stderr]).toEqual([0, expect.not.stringContaining('missing')]);
  expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(20);
});

it('names as kept what its last checkpoint describes, where none could be written at the end', async () => {
  const home = freshHome();
  const file = join(home, 'out.ndjson');
  let isFull = true;
  const failing = await serving((request, response) => {
    const at = Number(new URL(request.url ?? '', 'http://x').searchParams.get('cursor') ?? 0);
    if (at < 2 || !isFull)
      sendJson(response, { data: [{ id: `${at}` }], next_cursor: at < 3 ? `${at + 1}` : null });
    else {
      mkdirSync(`${file}.checkpoint.tmp`);
      response.writeHead(401).end();
    }
  });
  const env = envOf(failing.url);
  const exported = (...flags: string[]) =>
    leads(['export', '-o', file, ...flags], { home, env, clock: new FakeClock() });
  expect((await exported()).stderr).toContain('0 leads are kept in');
  rmdirSync(`${file}.checkpoint.tmp`);
  isFull = false;
  const { exitCode, stderr } = await exported('--resume');
  expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/^4 leads to (?!.*from before)/)]);
});

it('list tries a smaller page where the service rejects the size of --limit', async () => {
  const strict = await serving((request, response) => {
    const query = new URL(request.url ?? '', 'http://x').searchParams;
    const offset = Number(query.get('offset') ?? 0);
    const size = Number(query.get('limit'));
    if (size > 100) response.writeHead(422).end('{"error":"invalid","message":"limit must be at most 100"}');
    else {
      const data = Array.from({ length: Math.min(size, 250 - offset) }, (_, i) => ({
        id: String(offset + i),
      }));
      sendJson(response, { data, offset, total: 250 });
    }
  });
  const { exitCode, stdout } = await leads(['list', '--limit', '300', '--format', 'ndjson'], {
    env: envOf(strict.url),
  });
  expect([exitCode, stdout.trimEnd().split('\n').length]).toEqual([0, 250]);
});
