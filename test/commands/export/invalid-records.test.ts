import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { freshHome, leads } from '../../support/run.ts';
import { type Scripted, scripted, sendJson } from '../../support/service.ts';

const valid = (n: number): string => `{"id":"L-${n}","score":${n}}`;
const pages = [
  [valid(1), valid(2), '{"id":"L-3","score":NaN}'],
  ['{"score":Infinity}', valid(4), valid(5)],
];
const lines = [1, 2, 4, 5].map((n) => `${valid(n)}\n`).join('');

/** A service whose database knows numbers that JSON does not have. */
let service: Scripted;
beforeEach(async () => {
  service = await scripted((request, response) => {
    const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page') ?? 1);
    const records = pages[page - 1] ?? [];
    sendJson(
      response,
      `{"data":[${records.join(',')}],"total":6,"next_page":${pages[page] ? page + 1 : null}}`,
    );
  });
});
afterEach(() => service.close());

const run = (home: string, ...argv: string[]) =>
  leads(argv, { home, env: { LEADS_API_KEY: 'key', LEADS_BASE_URL: service.url } });

it('a record that is no JSON ends an export, which names it and the way on', async () => {
  const { exitCode, stderr } = await run(freshHome(), 'export');
  expect(exitCode).toBe(6);
  expect(stderr).toMatch(
    /error: .*unexpected 'N' at byte \d+, in lead 3 of the page, L-3\nhint: .*--skip-invalid/,
  );
});

it('with --skip-invalid it is left out and named, and the other leads are written', async () => {
  const home = freshHome();
  const file = join(home, 'out.ndjson');
  const bookmark = join(home, 'bookmark');
  const first = await run(home, 'export', '-o', file, '--skip-invalid', '--bookmark', bookmark);
  expect(first.exitCode).toBe(6);
  expect(readFileSync(file, 'utf8')).toBe(lines);
  expect([existsSync(`${file}.partial`), existsSync(bookmark)]).toEqual([false, true]);
  expect(first.stderr).toMatch(/note: left out L-3 \(lead 3 of a page\): it is not valid JSON at byte \d+\n/);
  expect(first.stderr).toContain(
    'error: 2 records are not valid JSON and left out: L-3 (lead 3 of a page), lead 1 of a page\n',
  );
  const stream = await run(home, 'export', '--skip-invalid', '-q');
  expect([stream.exitCode, stream.stdout]).toEqual([6, lines]);
  expect(stream.stderr).toMatch(/^error: 2 records/);
});

it('one that an interrupted export left out is named at the end of the resumed one', async () => {
  const home = freshHome();
  const file = join(home, 'out.ndjson');
  const [, second] = pages;
  pages[1] = ['broken'];
  try {
    const first = await run(home, 'export', '-o', file, '--skip-invalid');
    expect([first.exitCode, existsSync(file)]).toEqual([6, false]);
  } finally {
    pages[1] = second ?? [];
  }
  const resumed = await run(home, 'export', '-o', file, '--skip-invalid', '--resume');
  expect([resumed.exitCode, readFileSync(file, 'utf8')]).toEqual([6, lines]);
  expect(resumed.stderr).toContain('left out: L-3 (lead 3 of a page), lead 1 of a page');
});
