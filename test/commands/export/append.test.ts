import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { freshHome, leads, type Run } from '../../support/run.ts';
import { type Scripted, scripted, sendJson } from '../../support/service.ts';
import { envOf } from './support.ts';

interface Lead {
  readonly id: string;
  readonly createdAt: string;
  readonly [field: string]: string;
}

let service: Scripted;
let stored: Lead[];
let failsAt: string | undefined;
let fail: (response: ServerResponse) => void;
let home: string;
let file: string;

const lead = (id: string, more: Record<string, string> = {}): Lead => ({
  id,
  createdAt: new Date(Date.now() - 60_000).toISOString(),
  ...more,
});

beforeEach(async () => {
  stored = [lead('1'), lead('2')];
  failsAt = undefined;
  fail = (response) => void response.writeHead(401).end('{"error":"no","message":"not now"}');
  home = freshHome();
  file = join(home, 'all.leads');
  // One lead a page.
  service = await scripted((request, response) => {
    const at = Number(new URL(request.url ?? '/', 'http://localhost').searchParams.get('cursor') ?? 0);
    if (String(at) === failsAt) fail(response);
    else
      sendJson(response, {
        data: stored.slice(at, at + 1),
        next_cursor: at + 1 < stored.length ? String(at + 1) : null,
      });
  });
});
afterEach(() => service.close());

const exported = (...flags: string[]): Promise<Run> =>
  leads(['export', '--bookmark', join(home, 'b'), ...flags], {
    env: envOf(service.url),
    home,
  });
const toFile = (...flags: string[]): Promise<Run> => exported('-o', file, ...flags);
const idsIn = (path: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(/"id":"([^"]+)"/g)].map(([, id = '']) => id);
/** A run whose bookmark cannot be written. */
const withoutBookmark = async (run: () => Promise<Run>): Promise<void> => {
  mkdirSync(join(home, 'b.tmp'));
  expect((await run()).exitCode).toBe(8);
  rmdirSync(join(home, 'b.tmp'));
};
const left = (): string[] => readdirSync(home).filter((name) => !['config', 'data'].includes(name));

describe('export -o FILE --bookmark', () => {
  it('begins a file, appends what is new, and leaves it as it is when there is nothing', async () => {
    expect((await toFile()).stderr).not.toMatch(/appended|replaced/);
    const first = readFileSync(file, 'utf8');
    stored.push(lead('3'));
    const second = await toFile();
    expect(second.stderr).toMatch(/^1 lead to \S+ in .*, appended\n$/);
    expect(readFileSync(file, 'utf8').startsWith(first)).toBe(true);
    expect(idsIn(file)).toEqual(['1', '2', '3']);
    const whole = readFileSync(file);
    expect((await toFile()).stderr).toMatch(/^0 leads to /);
    expect(readFileSync(file)).toEqual(whole);
    expect(left().sort()).toEqual(['all.leads', 'b']);
  });

  it('begins a file that does not exist with the increment alone', async () => {
    await toFile();
    stored.push(lead('3'));
    const tomorrow = join(home, 'tomorrow.ndjson');
    const { exitCode, stderr } = await exported('-o', tomorrow);
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(
      /^note: \S+tomorrow\.ndjson is new, and begins where \S+b stands, at \d{4}-\d\d-\d\dT[\d:.]+Z; for every lead, remove both and run this again\n1 lead to /,
    );
    expect(idsIn(tomorrow)).toEqual(['3']);
    expect(idsIn(file)).toEqual(['1', '2']);
  });

  it('warns, even when quiet, where the file of the last run is gone', async () => {
    await toFile();
    rmSync(file);
    stored.push(lead('3'));
    const { exitCode, stderr } = await toFile('-q');
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(
      /^warning: \S+all\.leads, which the last run wrote, is gone or empty: it begins again where \S+b stands, at \S+; for every lead, remove both and run this again\n$/,
    );
    expect(idsIn(file)).toEqual(['3']);
  });

  it('begins an empty file, as log rotation leaves one', async () => {
    await toFile();
    writeFileSync(file, '');
    stored.push(lead('3'));
    expect((await toFile()).exitCode).toBe(0);
    expect(idsIn(file)).toEqual(['3']);
  });

  it.each([
    [
      'a file that was there before',
      () => {
        writeFileSync(file, 'mine\n');
        return Promise.resolve();
      },
      'there is no bookmark yet',
    ],
    [
      'a file that has become longer',
      async () => {
        await toFile();
        writeFileSync(file, 'mine\n', { flag: 'a' });
      },
      'bytes, and the one that the last run wrote had 100',
    ],
    [
      'a file when the last increment went elsewhere',
      async () => {
        await toFile();
        stored.push(lead('2b'));
        await exported();
      },
      'another place',
    ],
  ])('refuses %s, and touches nothing', async (_, prepare, why) => {
    await prepare();
    const [content, bookmark] = [readFileSync(file), existsSync(join(home, 'b'))];
    stored.push(lead('3'));
    const requests = service.requests.length;
    const { exitCode, stderr } = await toFile();
    expect(exitCode).toBe(2);
    expect(stderr).toContain(why);
    expect(stderr).toContain('hint: name another file, or use --replace');
    expect(readFileSync(file)).toEqual(content);
    expect(existsSync(join(home, 'b'))).toBe(bookmark);
    expect(service.requests.length).toBe(requests);
    expect(left()).not.toContain('all.leads.partial');
  });

  it('with --replace writes the increment alone, says what it replaced, and appends the next time', async () => {
    await toFile();
    stored.push(lead('3'));
    expect((await toFile('--replace')).stderr).toMatch(/^1 lead to .*, replaced 100 bytes\n$/);
    expect(idsIn(file)).toEqual(['3']);
    stored.push(lead('4'));
    await toFile();
    expect(idsIn(file)).toEqual(['3', '4']);
  });

  it('appends members to a compressed file', async () => {
    const compressed = join(home, 'all.leads.gz');
    await exported('-o', compressed);
    stored.push(lead('3'));
    await exported('-o', compressed);
    await exported('-o', compressed);
    const text = gunzipSync(readFileSync(compressed)).toString('utf8');
    expect([...text.matchAll(/"id":"(\d)"/g)].map(([, id]) => id)).toEqual(['1', '2', '3']);
  });

  const table = (name = 'all.csv'): string => join(home, name);
  const rowsIn = (path: string): string[] => {
    const bytes = readFileSync(path);
    const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
    return text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T').split('\r\n');
  };

  const header = 'id,category,contact.name,contact.email,contact.phone,metadata.source,createdAt,other';

  it.each(['all.csv', 'all.csv.gz'])('puts a new field into the last column of %s', async (name) => {
    stored.push(lead('3', { note: 'two\r\nlines, "quoted"' }));
    await exported('-o', table(name), '--bom');
    chmodSync(table(name), 0o640);
    stored.push(lead('4', { city: 'Rome', zip: '1' }), lead('5'));
    expect((await exported('-o', table(name))).stderr).toMatch(/, appended\n$/);
    expect(rowsIn(table(name))).toEqual([
      ...[`\ufeff${header}`, '1,,,,,,T,', '2,,,,,,T,'],
      '3,,,,,,T,"{""note"":""two\\r\\nlines, \\""quoted\\""""}"',
      ...['4,,,,,,T,"{""city"":""Rome"",""zip"":""1""}"', '5,,,,,,T,', ''],
    ]);
    expect(statSync(table(name)).mode & 0o777).toBe(0o640);
    expect(left().sort()).toEqual([name, 'b']);
  });

  it('appends under the columns of --fields, and refuses others', async () => {
    await exported('-o', table(), '--fields', 'city');
    stored.push(lead('3', { city: 'Rome', zip: '1' }));
    const other = await exported('-o', table());
    expect([other.exitCode, other.stderr]).toEqual([
      2,
      expect.stringContaining('it holds csv with the columns id,category,'),
    ]);
    expect(rowsIn(table())).toHaveLength(4);
    expect((await exported('-o', table(), '--fields', 'city')).exitCode).toBe(0);
    expect(rowsIn(table())).toEqual([
      header.replace('other', 'city,other'),
      ...['1,,,,,,T,,', '2,,,,,,T,,', '3,,,,,,T,Rome,"{""zip"":""1""}"', ''],
    ]);
  });

  it('has the bytes of an uninterrupted run where the nights before had other fields, or broke off', async () => {
    const whole = join(home, 'whole.csv');
    await exported('-o', table());
    stored.push(lead('3', { city: 'Rome' }), lead('4', { zip: '1' }));
    failsAt = '3';
    expect((await exported('-o', table())).exitCode).toBe(4);
    failsAt = undefined;
    expect((await exported('-o', table())).stderr).toContain('1 of them from before');
    const env = envOf(service.url);
    failsAt = '2';
    expect((await leads(['export', '-o', whole], { env, home })).exitCode).toBe(4);
    failsAt = undefined;
    expect((await leads(['export', '-o', whole, '--resume'], { env, home })).exitCode).toBe(0);
    const once = (await leads(['export', '--format', 'csv'], { env, home })).stdout;
    expect(readFileSync(whole, 'utf8')).toBe(once);
    expect(readFileSync(table(), 'utf8')).toBe(once);
  });

  it.each([[[]], [['--format', 'csv']]])(
    'with --replace ends with the increment of a run that could not publish it: %j',
    async (form) => {
      await toFile('--replace', ...form);
      stored.push(lead('3'));
      await withoutBookmark(() => toFile('--replace', ...form));
      stored.push(lead('4'));
      const finished = await toFile('--replace', ...form);
      expect(readFileSync(file, 'utf8').match(/(?<=^|:")[1-4](?="?,)/gm)).toEqual(['3']);
      expect([finished.exitCode, finished.stderr]).toEqual([
        0,
        expect.stringContaining('run it again for what is new since'),
      ]);
      expect((await toFile('--replace', ...form)).exitCode).toBe(0);
      expect(readFileSync(file, 'utf8').match(/(?<=^|:")[1-4](?="?,)/gm)).toEqual(['4']);
      expect(left().sort()).toEqual(['all.leads', 'b']);
    },
  );

  /** The increment '3' is complete, and could not be published. */
  const incrementLeft = async (form: readonly string[]): Promise<void> => {
    await toFile(...form);
    stored.push(lead('3'));
    await withoutBookmark(() => toFile(...form));
  };

  it.each([[[]], [['--format', 'csv']]])(
    'with --replace gives up a file that was changed before the increment could be appended to it: %j',
    async (form) => {
      await incrementLeft(form);
      writeFileSync(file, 'mine\n', { flag: 'a' });
      const changed = readFileSync(file);
      const refused = await toFile(...form);
      expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('use --replace')]);
      expect(readFileSync(file)).toEqual(changed);
      const { exitCode, stderr } = await toFile('--replace', ...form);
      expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/, replaced \d+ bytes\n$/)]);
      expect(readFileSync(file, 'utf8').match(/(?<=^|:")\d(?="?,)|mine/gm)).toEqual(['3']);
      stored.push(lead('4'));
      expect((await toFile(...form)).stderr).toMatch(/, appended\n$/);
      expect(left().sort()).toEqual(['all.leads', 'b']);
    },
  );

  /** A run whose bookmark cannot be written, and whose partial file somebody removes. */
  const unpublished = async (...flags: string[]): Promise<void> => {
    await withoutBookmark(() => exported(...flags));
    rmSync(`${flags[1] ?? ''}.partial`, { force: true });
    expect(existsSync(`${flags[1] ?? ''}.checkpoint`)).toBe(true);
  };

  it.each([
    ['behind a line', 0],
    ['nowhere', Infinity],
  ])('appends again what was cut off %s, when the partial file is gone', async (_, cutAt) => {
    await toFile();
    const { size } = statSync(file);
    stored.push(lead('3'), lead('4'));
    await unpublished('-o', file);
    truncateSync(file, Math.min(size + cutAt, statSync(file).size));
    stored.push(lead('5'));
    expect((await toFile()).exitCode).toBe(0);
    expect(idsIn(file)).toEqual(['1', '2', '3', '4', '5']);
    stored.push(lead('6'));
    expect((await toFile()).exitCode).toBe(0);
    expect(idsIn(file)).toEqual(['1', '2', '3', '4', '5', '6']);
    expect(left().sort()).toEqual(['all.leads', 'b']);
  });

  it.each([['all.leads.gz'], ['all.csv', '--fields', 'id,createdAt'], ['all.leads']])(
    'knows %s without a lead, whose bookmark could not be written',
    async (name, ...form) => {
      stored = [];
      await withoutBookmark(() => exported('-o', table(name), ...form));
      stored.push(lead('1'));
      const { exitCode, stderr } = await exported('-o', table(name), ...form);
      expect([exitCode, stderr]).toEqual([0, expect.stringMatching(/1 lead to .*\n$/)]);
      expect(stderr).not.toContain('interrupted');
      const bytes = readFileSync(table(name));
      const text = (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
      expect(text.match(/"?id"?[:,]|"?1"?,/g)).toHaveLength(2);
      expect(left().sort()).toEqual([name, 'b']);
    },
  );

  describe('a file that was not there when an increment began, which is complete', () => {
    let before: Buffer;
    /** The increment '3' could not be written in its form. */
    beforeEach(async () => {
      await exported('-o', table());
      before = readFileSync(table());
      rmSync(table());
      stored.push(lead('3'));
      mkdirSync(`${table()}.drawn`);
      expect((await exported('-o', table())).exitCode).toBe(8);
      rmdirSync(`${table()}.drawn`);
    });

    it('is not replaced, but with --replace, which says so', async () => {
      writeFileSync(table(), 'mine\n');
      const refused = await exported('-o', table());
      expect([refused.exitCode, refused.stderr]).toEqual([
        2,
        expect.stringMatching(/is not the file that this bookmark knows[^]*use --replace/),
      ]);
      expect(readFileSync(table(), 'utf8')).toBe('mine\n');
      expect((await exported('-o', table(), '--replace')).stderr).toMatch(/, replaced 5 bytes\n$/);
      expect(rowsIn(table())).toEqual([header, '3,,,,,,T,', '']);
      expect(left().sort()).toEqual(['all.csv', 'b']);
    });

    it.each([[0], [1], [4], [Infinity]])(
      'is appended to where the bookmark knows it, also by a run that was killed after %j bytes',
      async (written) => {
        writeFileSync(table(), before);
        await withoutBookmark(() => exported('-o', table()));
        truncateSync(table(), Math.min(before.length + written, statSync(table()).size));
        expect((await exported('-o', table())).exitCode).toBe(0);
        expect(rowsIn(table())).toEqual([header, '1,,,,,,T,', '2,,,,,,T,', '3,,,,,,T,', '']);
        expect(left().sort()).toEqual(['all.csv', 'b']);
      },
    );
  });

  it('does not take the file of the night before for an increment whose partial file is gone', async () => {
    await toFile();
    stored.push(lead('3'));
    await toFile('--replace');
    const before = readFileSync(file);
    stored.push(lead('4'));
    await unpublished('-o', file, '--replace');
    // As where it could not be given its name.
    writeFileSync(file, before);
    expect((await toFile('--replace')).exitCode).toBe(0);
    expect(idsIn(file)).toEqual(['4']);
  });

  it.each([
    [['--format', 'json'], ['--format', 'json'], 'a JSON array ends'],
    [[], ['--gzip'], 'cannot append compressed ndjson to'],
    [['--format', 'csv', '--fields', 'city'], ['--format', 'csv', '--fields', 'zip'], 'with the columns id'],
  ])('refuses another form: %j, then %j', async (before, after, why) => {
    await toFile(...before);
    const content = readFileSync(file);
    const { exitCode, stderr } = await toFile(...after);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(why);
    expect(readFileSync(file)).toEqual(content);
  });

  /** Leads '3' and '4' are new; '3' is in the partial file, of which so many bytes are left. */
  const cutTo = async (bytes: number, ...flags: string[]): Promise<void> => {
    await toFile();
    stored.push(lead('3'), lead('4'));
    failsAt = '3';
    await toFile(...flags);
    failsAt = undefined;
    truncateSync(`${file}.partial`, bytes);
  };

  it.each([0, 5])('starts over where %j bytes are left of the partial file, and says so', async (bytes) => {
    await cutTo(bytes);
    const { exitCode, stderr } = await toFile();
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringMatching(/^note: \S+\.partial is shorter than .* starts over\n2 leads to .*, appended\n$/),
    ]);
    expect(idsIn(file)).toEqual(['1', '2', '3', '4']);
    expect(left().sort()).toEqual(['all.leads', 'b']);
  });

  it.each([[[]], [['--format', 'csv']]])(
    'knows an increment that it has appended when its partial file was cut: %j',
    async (form) => {
      await incrementLeft(form);
      truncateSync(`${file}.partial`, 5);
      stored.push(lead('4'));
      expect((await toFile(...form)).exitCode).toBe(0);
      expect(readFileSync(file, 'utf8').match(/(?<=^|:")\d(?="?,)/gm)).toEqual(['1', '2', '3', '4']);
      expect(left().sort()).toEqual(['all.leads', 'b']);
    },
  );

  describe('with another bookmark, which lacks a lead that the first one has', () => {
    let increment: string;
    /** `other` begins at the same time as `b`, and has not had lead 3. */
    beforeEach(async () => {
      await toFile();
      copyFileSync(join(home, 'b'), join(home, 'other'));
      stored.push(lead('3', { createdAt: new Date(Date.now() - 120_000).toISOString() }));
      expect((await exported('-o', join(home, 'late.ndjson'))).exitCode).toBe(0);
      stored.push(lead('4', { createdAt: stored[1]?.createdAt ?? '' }), lead('5'));
      increment = join(home, 'increment.ndjson');
    });
    const next = (name: string): Promise<Run> =>
      leads(['export', '--bookmark', join(home, name), '--replace', '-o', increment], {
        env: envOf(service.url),
        home,
      });

    it.each([
      ['in the middle', () => (failsAt = '4'), () => (failsAt = undefined)],
      [
        'before the bookmark moved',
        () => mkdirSync(join(home, 'b.tmp')),
        () => rmdirSync(join(home, 'b.tmp')),
      ],
    ])('does not continue what was interrupted %s', async (_, fail, mend) => {
      fail();
      expect((await next('b')).exitCode).not.toBe(0);
      mend();
      const refused = await next('other');
      expect([refused.exitCode, refused.stderr]).toEqual([
        2,
        expect.stringMatching(/differs in bookmark\nhint: .*increment\.ndjson\.checkpoint/),
      ]);
      expect((await next('b')).exitCode).toBe(0);
      expect(idsIn(increment)).toEqual(['4', '5']);
      expect((await next('other')).exitCode).toBe(0);
      expect(idsIn(increment)).toEqual(['3', '4', '5']);
    });
  });

  it('refuses a file that changed while it was being exported', async () => {
    await toFile();
    stored.push(lead('3'));
    failsAt = '2';
    await toFile();
    failsAt = undefined;
    writeFileSync(file, 'mine\n', { flag: 'a' });
    expect((await toFile()).exitCode).toBe(2);
    expect(readFileSync(file, 'utf8')).toMatch(/"2".*\nmine\n$/);
  });

  it.each([['--replace'], ['--replace', '-o', 'x']])(
    'refuses %j without its companions',
    async (...flags) => {
      const run = await leads(['export', ...flags], { env: {} });
      expect([run.exitCode, run.stderr]).toEqual([2, expect.stringContaining('--replace needs')]);
    },
  );

  it('refuses one file for both', async () => {
    expect((await exported('-o', join(home, 'b'))).exitCode).toBe(2);
  });
});

describe('export -o FILE over what is there', () => {
  const plain = (...flags: string[]): Promise<Run> =>
    leads(['export', '-o', file, ...flags], {
      env: envOf(service.url),
      home,
    });

  it('says the size of what it replaces', async () => {
    writeFileSync(file, 'x'.repeat(1234));
    expect((await plain()).stderr).toContain(', replaced 1,234 bytes\n');
  });

  it('keeps the old content until the new one is complete', async () => {
    writeFileSync(file, 'old');
    failsAt = '1';
    expect((await plain()).exitCode).not.toBe(0);
    expect(readFileSync(file, 'utf8')).toBe('old');
  });

  it('says what it discards when it starts over, and how it would have continued', async () => {
    failsAt = '1';
    await plain();
    failsAt = undefined;
    const { size } = statSync(`${file}.partial`);
    const again = await plain();
    expect(again.stderr).toContain(`discards ${String(size)} bytes of an interrupted export`);
    expect(again.stderr).toContain('--resume would have continued it');
    expect(idsIn(file)).toEqual(['1', '2']);
  });

  it('says that it overwrites a partial file that it does not know', async () => {
    writeFileSync(`${file}.partial`, 'mine');
    expect((await plain()).stderr).toContain(`note: ${file}.partial is overwritten`);
  });
});
