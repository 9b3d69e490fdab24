import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { rejection } from '../../src/webhook/delivery-answer.ts';
import { arrivalOf, deliveryOf } from '../inbox/support.ts';
import { FakeClock } from '../support/clock.ts';
import { freshHome, leads } from '../support/run.ts';
import { scripted, sendJson } from '../support/service.ts';
import { startReceiver } from '../check/obedient-receiver.ts';
import { hurriedClock } from '../check/support.ts';

const now = Date.UTC(2026, 0, 31, 12);
const hostile = '</td><script>alert(1)</script>';

const leadOf = (id: string, name: string) => ({
  id,
  category: hostile,
  createdAt: new Date(now - 5_000).toISOString(),
  contact: { name, email: 'ada@example.com', phone: '+1 555 000 1234' },
});

let home = '';
let report = '';

/** An inbox with two leads of persons, one of them written by somebody hostile, and a delivery that was rejected. */
beforeEach(async () => {
  home = freshHome();
  report = join(home, 'report.html');
  const inbox = await openInbox({ location: join(home, 'inbox.db'), clock: new FakeClock(now) });
  await inbox.take(
    [leadOf('lead_1', 'Ada Lovelace'), leadOf('ada@example.com', hostile)].map((one, i) =>
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

  it('says how many leads are not in the total, since their deliveries were pruned', async () => {
    const whole = await run('stats', '--inbox');
    expect(whole.stderr).not.toContain('was removed');
    expect((await run('inbox', 'prune', '--before', '30m')).exitCode).toBe(0);
    const { exitCode, stderr } = await run('stats', '--inbox');
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringContaining('note: 1 lead whose delivery was removed: not in the total'),
    ]);
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

describe('check --junit and --write-baseline', () => {
  it.each(['--junit', '--write-baseline'])(
    '%s replaces its own kind and leaves any other file',
    async (flag) => {
      const { url } = await startReceiver('token', 'Token-of-the-Tests', () => ({}));
      const file = join(home, 'ours');
      const words = ['check', url, '--token', 'Token-of-the-Tests', '--only', 'body.null', flag, file];
      const check = () => leads(words, { home, clock: hurriedClock, random: Math.random });
      writeFileSync(file, '{"dependencies":{}}');
      const refused = await check();
      expect([refused.exitCode, refused.stdout]).toEqual([2, '']);
      expect(refused.stderr).toMatch(
        /ours exists and is no (JUnit report|baseline): it is not overwritten\nhint: .*--/,
      );
      expect(readFileSync(file, 'utf8')).toBe('{"dependencies":{}}');
      writeFileSync(file, '');
      for (let i = 0; i < 2; i += 1) expect((await check()).exitCode).not.toBe(2);
      expect(readFileSync(file, 'utf8')).toMatch(flag === '--junit' ? /<testsuite/ : /"failing"/);
    },
  );
});

describe('audit --junit', () => {
  it('leaves a file that is no JUnit report as it is', async () => {
    for (const mine of ['mine', '<!-- <testsuites> --><project/>']) {
      writeFileSync(report, mine);
      const { exitCode, stderr } = await run('audit', '--junit', report);
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('exists and is no JUnit report')]);
      expect(written()).toBe(mine);
    }
  });
});

describe('audit --html', () => {
  const audit = async (listed: readonly object[], status = 200, ...more: readonly string[]) => {
    const service = await scripted((_, response) => {
      response.sendDate = false;
      if (status === 200) sendJson(response, { data: listed, has_more: false });
      else response.writeHead(status).end('{}');
    });
    onTestFinished(() => service.close());
    return leads(['audit', '--since', '1d', '--settle', '1s', '--html', report, ...more], {
      home,
      clock: new FakeClock(now, { hasty: true }),
      env: {
        LEADS_INBOX: join(home, 'inbox.db'),
        LEADS_API_KEY: 'key',
        LEADS_BASE_URL: service.url,
      },
    });
  };
  const missing = { id: 'ada.missing@example.com', createdAt: new Date(now - 60_000).toISOString() };

  it('writes each finding with its class, and ids that are e-mails reduced', async () => {
    const { exitCode, stdout } = await audit([missing]);
    expect([exitCode, stdout]).toEqual([7, expect.stringContaining('ada.missing@example.com')]);
    expectReduced(written());
    const text = textOf(written());
    expect(text).toMatch(/^\s*The two sides are not equal/m);
    expect(text).toMatch(/missing\s+1\s+pulled, never received, 100%/);
    expect(text).toMatch(/missing\s+a…@…\s+2026-01-31 11:59:00/);
    expect((await audit([missing], 200, '--personal-data')).exitCode).toBe(7);
    expect(textOf(written())).toContain('ada.missing@example.com');
  });

  it.each(['\uFEFF<?xml version="1.0"?>\n', '<?xml-stylesheet href="a.xsl"?>\n', '<!-- of -> CI -->\n'])(
    'replaces a JUnit report that begins with %j',
    async (beginning) => {
      const junit = join(home, 'audit.xml');
      writeFileSync(junit, `${beginning}<!-- 2 --><testsuites/>`);
      await audit([], 200, '--junit', junit);
      expect(readFileSync(junit, 'utf8')).toContain('<testsuite ');
    },
  );

  it('claims nothing of a list without a lead, and of what could not be compared', async () => {
    const junit = join(home, 'audit.xml');
    await audit([], 200, '--junit', junit, '--until', '2026-01-31T00:00:00Z');
    expect(textOf(written())).toContain('the service lists no lead');
    expect(readFileSync(junit, 'utf8').match(/<skipped /g)).toHaveLength(7);
    expect((await run('inbox', 'prune', '--before', '30m')).exitCode).toBe(0);
    const listed = [leadOf('lead_1', 'Ada Lovelace'), leadOf('ada@example.com', 'another name')];
    expect((await audit(listed, 200, '--junit', junit)).exitCode).toBe(0);
    expect(textOf(written())).toContain('1 lead has other bytes than what was received');
    expect(readFileSync(junit, 'utf8')).toMatch(
      /name="different"[^>]*>\s*<skipped message="none was found, and 1 lead has/,
    );
    expect(readFileSync(junit, 'utf8').match(/<skipped /g)).toHaveLength(1);
  });

  it('says that an audit came to no end, in the place of an earlier report', async () => {
    await audit([missing]);
    expect((await audit([], 400)).exitCode).toBe(6);
    expect(textOf(written())).toMatch(/The audit came to no end/);
    expect(textOf(written())).not.toContain('a…@…');
  });
});

describe('check --html', () => {
  it('writes all probes, what failed first, and no secret', async () => {
    const { url } = await startReceiver('token', 'Token-of-the-Tests', () => ({ authenticates: () => true }));
    const words = ['check', url, '--token', 'Token-of-the-Tests', '--only', 'credential', '--html', report];
    const { exitCode } = await leads(words, { home, clock: hurriedClock, random: Math.random });
    expect(exitCode).toBe(7);
    const text = textOf(written());
    expect(text).toContain('The receiver is not in order');
    expect(text).toMatch(
      /What failed[^]+credential\.wrong \(must\)[^]+curl [^]+All probes[^]+credential\.wrong/,
    );
    expect(written()).not.toContain('Token-of-the-Tests');
    expect(written()).not.toContain('<script');
  });
});
