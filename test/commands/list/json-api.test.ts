import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeClock } from '../../support/clock.ts';
import { freshHome, leads } from '../../support/run.ts';
import { type Scripted, scripted, sendJson } from '../../support/service.ts';
import { envOf, serving } from '../export/support.ts';

const now = Date.UTC(2026, 0, 15, 12);
const ago = (hours: number): string => new Date(now - hours * 3_600_000).toISOString();

/** Resource objects of JSON:API: the fields of a lead are its attributes. */
const records = [
  { type: 'leads', id: '3', attributes: leadOf('solar', 'new', 1), links: { self: '/api/leads/3' } },
  { type: 'leads', id: '2', attributes: leadOf('legal', 'sold', 2), links: { self: '/api/leads/2' } },
  { type: 'leads', id: '1', attributes: leadOf('solar', 'sold', 40), links: { self: '/api/leads/1' } },
];
function leadOf(category: string, status: string, hours: number) {
  const contact = { name: `Ana ${hours}`, 'e-mail': 'a@example.com' };
  return { category, status, contact, createdAt: ago(hours), score: hours };
}

let service: Scripted;
beforeAll(async () => {
  service = await scripted((request, response) => {
    const number = Number(
      new URL(request.url ?? '', 'http://localhost').searchParams.get('page[number]') ?? 1,
    );
    const next = number < 3 ? `/api/leads?page%5Bnumber%5D=${number + 1}` : null;
    sendJson(response, { data: records.slice(number - 1, number), links: { next } });
  });
});
afterAll(() => service.close());

const run = (...argv: string[]) =>
  leads(argv, {
    home: freshHome(),
    clock: new FakeClock(now, { hasty: true }),
    env: { LEADS_API_KEY: 'k', LEADS_BASE_URL: service.url },
  });
const ids = async (...flags: string[]): Promise<unknown[]> => {
  const { stdout, stderr } = await run('export', '-q', ...flags);
  expect(stderr).toBe('');
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as { id: string }).id]));
};

describe('leads whose fields are the attributes of JSON:API', () => {
  it('are exported as they came', async () => {
    const { stdout } = await run('export', '-q');
    expect(stdout).toBe(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  });

  it('are filtered by them, under both names', async () => {
    expect(await ids('--since', '1d')).toEqual(['3', '2']);
    expect(await ids('--category', 'solar')).toEqual(['3', '1']);
    expect(await ids('--where', 'score>1')).toEqual(['2', '1']);
    expect(await ids('--where', 'attributes.contact.name=Ana 2')).toEqual(['2']);
  });

  it('have them as columns of a table and of CSV', async () => {
    const table = await run('list');
    expect(table.stdout).toMatch(/^3 +2026-01-15T11:00:00Z +solar +Ana 1 .* new$/m);
    const home = freshHome();
    const file = join(home, 'leads.csv');
    await run('export', '-q', '-o', file);
    expect(readFileSync(file, 'utf8').split('\r\n').slice(0, 2)).toEqual([
      'id,category,contact.name,contact.email,contact.phone,metadata.source,createdAt,other',
      `3,solar,Ana 1,,,,${ago(1)},"{""type"":""leads"",""attributes"":{""status"":""new"",` +
        `""contact"":{""e-mail"":""a@example.com""},""score"":1},""links"":{""self"":""/api/leads/3""}}"`,
    ]);
    const chosen = await run('list', '--fields', 'id,score,attributes.score', '--format', 'csv');
    expect(chosen.stdout.split('\r\n').slice(0, 2)).toEqual(['id,score,attributes.score', '3,1,1']);
    expect(chosen.stderr).toBe('');
  });

  it('are counted by them', async () => {
    const { stdout } = await run('stats', '--json', '--by', 'category');
    expect(JSON.parse(stdout)).toMatchObject({ total: 3, by: { category: { solar: 2, legal: 1 } } });
  });

  it('are not taken for them where a record has other members as well', async () => {
    const other = await serving((_, response) =>
      sendJson(response, { data: [{ ...records[0], owner: 'x' }], has_more: false }),
    );
    const { stdout } = await leads(['list', '--format', 'csv'], {
      env: envOf(other.url),
    });
    expect(stdout).toMatch(/^3,,,,.*""attributes"":\{""category""/m);
  });
});
