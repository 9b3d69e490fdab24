import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { rejection } from '../../src/webhook/rejection.ts';
import { arrivalOf, deliveryOf } from '../inbox/support.ts';
import { FakeClock } from '../support/clock.ts';
import { freshHome, leads } from '../support/run.ts';

const now = Date.UTC(2026, 0, 31, 12);
const hostile = '</td><script>alert(1)</script>';

let home = '';
let report = '';

/** An inbox with two leads of persons, one of them written by somebody hostile, and a delivery that was rejected. */
beforeEach(async () => {
  home = freshHome();
  report = join(home, 'report.html');
  const inbox = await openInbox({ location: join(home, 'inbox.db'), clock: new FakeClock(now) });
  const lead = (id: string, name: string) => ({
    id,
    category: hostile,
    createdAt: new Date(now - 5_000).toISOString(),
    contact: { name, email: 'ada@example.com', phone: '+1 555 000 1234' },
  });
  await inbox.take(
    [lead('lead_1', 'Ada Lovelace'), lead('ada@example.com', hostile)].map((one, i) =>
      arrivalOf(
        { id: one.id },
        { delivery: deliveryOf(JSON.stringify(one), { receivedAt: now - 3_600_000 * i }) },
      ),
    ),
  );
  const forged = deliveryOf('{"id":"lead_3"}', { receivedAt: now });
  await inbox.reject([
    { delivery: forged, rejection: rejection('wrong_credential', 'the token is another one') },
  ]);
  await inbox.close();
});

const run = (...words: string[]) =>
  leads(words, { home, clock: new FakeClock(now), env: { LEADS_INBOX: join(home, 'inbox.db') } });
const written = (): string => readFileSync(report, 'utf8');
/** What is read, without the elements. */
const textOf = (html: string): string => html.replace(/<style>[^]*?<\/style>/, '').replace(/<[^>]*>/g, ' ');

/** Nothing of a person is whole. */
function expectReduced(html: string): void {
  for (const whole of ['Lovelace', 'ada@example.com', '5550001234', '555 000 1234']) {
    expect(html).not.toContain(whole);
  }
  expect(html).not.toContain('<script');
}

describe('stats --html', () => {
  it('writes what it counted, beside what it prints, with what is of persons reduced', async () => {
    const {
      stdout,
      stderr,
      exitCode: code,
    } = await run('stats', '--inbox', '--by', 'contact.name', '--html', report);
    expect([code, stderr]).toEqual([0, expect.stringContaining(`wrote ${report}\n`)]);
    expect(stdout).toContain('Ada Lovelace');
    expectReduced(written());
    expect(textOf(written())).toMatch(/Deliveries\s+3\s/);
    expect(textOf(written())).toContain('A. L.');
    expect(
      (await run('stats', '--inbox', '--by', 'contact.name', '--html', report, '--personal-data')).exitCode,
    ).toBe(0);
    expect(textOf(written())).toContain('Ada Lovelace');
    expect(written()).not.toContain('<script');
  });

  it('reduces what leads are filtered by, too', async () => {
    const where = ['--where', 'contact.email=ada@example.com'];
    expect((await run('stats', '--inbox', ...where, '--html', report)).exitCode).toBe(0);
    expectReduced(written());
    expect(textOf(written())).toContain('contact.email …');
  });

  it('replaces a report and says so, and leaves any other file as it is', async () => {
    writeFileSync(report, '');
    expect((await run('stats', '--inbox', '--html', report)).stderr).toContain(`wrote ${report}`);
    expect((await run('stats', '--inbox', '--html', report)).stderr).toContain(`replaced ${report}`);
    writeFileSync(report, '<!doctype html>\nmine');
    const { exitCode: code, stdout, stderr } = await run('stats', '--inbox', '--html', report);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`${report} exists and is no report: it is not overwritten`);
    expect(written()).toBe('<!doctype html>\nmine');
    expect((await run('stats', '--inbox', '--personal-data')).exitCode).toBe(2);
  });
});
