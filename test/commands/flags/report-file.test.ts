import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { startReceiver } from '../../check/obedient-receiver.ts';
import { hurriedClock } from '../../check/support.ts';
import { arrivalOf, deliveryOf } from '../../inbox/support.ts';
import { FakeClock } from '../../support/clock.ts';
import { freshHome, leads } from '../../support/run.ts';
import { scripted, sendJson } from '../../support/service.ts';

const now = Date.UTC(2026, 0, 31, 12);

let home = '';
let file = '';
beforeEach(() => {
  home = freshHome();
  file = join(home, 'ours');
});
const written = (): string => readFileSync(file, 'utf8');

describe('check --junit and --write-baseline', () => {
  it.each(['--junit', '--write-baseline'])(
    '%s replaces its own kind and leaves any other file',
    async (flag) => {
      const { url } = await startReceiver('token', 'Token-of-the-Tests', () => ({}));
      const words = ['check', url, '--token', 'Token-of-the-Tests', '--only', 'body.no-lead', flag, file];
      const check = () => leads(words, { home, clock: hurriedClock, random: Math.random });
      writeFileSync(file, '{"dependencies":{}}');
      const refused = await check();
      expect([refused.exitCode, refused.stdout]).toEqual([2, '']);
      expect(refused.stderr).toMatch(
        /ours exists and is no (JUnit report|baseline): it is not overwritten\nhint: .*--/,
      );
      expect(written()).toBe('{"dependencies":{}}');
      writeFileSync(file, '');
      for (let i = 0; i < 2; i += 1) expect((await check()).exitCode).not.toBe(2);
      expect(written()).toMatch(flag === '--junit' ? /<testsuite/ : /"failing"/);
    },
  );
});

describe('audit --junit', () => {
  const leadOf = (id: string, name: string) => ({
    id,
    createdAt: new Date(now - 5_000).toISOString(),
    contact: { name },
  });
  /** An inbox with two leads, whose second delivery came an hour before the first one. */
  beforeEach(async () => {
    const inbox = await openInbox({ location: join(home, 'inbox.db'), clock: new FakeClock(now) });
    await inbox.take(
      [leadOf('lead_1', 'Ada'), leadOf('lead_2', 'Grace')].map((lead, i) =>
        arrivalOf(
          { id: lead.id },
          { delivery: deliveryOf(JSON.stringify(lead), { receivedAt: now - 3_600_000 * i }) },
        ),
      ),
    );
    await inbox.close();
  });
  const options = () => ({
    home,
    clock: new FakeClock(now, { hasty: true }),
    env: { LEADS_INBOX: join(home, 'inbox.db') },
  });
  const audit = async (listed: readonly object[], ...more: readonly string[]) => {
    const service = await scripted((_, response) => {
      response.sendDate = false;
      sendJson(response, { data: listed, has_more: false });
    });
    onTestFinished(() => service.close());
    const { env, ...rest } = options();
    return leads(['audit', '--since', '1d', '--settle', '1s', '--junit', file, ...more], {
      ...rest,
      env: { ...env, LEADS_API_KEY: 'key', LEADS_BASE_URL: service.url },
    });
  };

  it('leaves a file that is no JUnit report as it is', async () => {
    for (const mine of ['mine', '<!-- <testsuites> --><project/>']) {
      writeFileSync(file, mine);
      const { exitCode, stderr } = await leads(['audit', '--junit', file], options());
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('exists and is no JUnit report')]);
      expect(written()).toBe(mine);
    }
  });

  it.each(['\uFEFF<?xml version="1.0"?>\n', '<?xml-stylesheet href="a.xsl"?>\n', '<!-- of -> CI -->\n'])(
    'replaces a JUnit report that begins with %j',
    async (beginning) => {
      writeFileSync(file, `${beginning}<!-- 2 --><testsuites/>`);
      await audit([]);
      expect(written()).toContain('<testsuite ');
    },
  );

  it('claims nothing of a list without a lead, and of what could not be compared', async () => {
    await audit([], '--until', '2026-01-31T00:00:00Z');
    expect(written().match(/<skipped /g)).toHaveLength(7);
    expect((await leads(['inbox', 'prune', '--before', '30m'], options())).exitCode).toBe(0);
    expect((await audit([leadOf('lead_1', 'Ada'), leadOf('lead_2', 'another name')])).exitCode).toBe(0);
    expect(written()).toMatch(/name="different"[^>]*>\s*<skipped message="cannot be told"/);
    expect(written().match(/<skipped /g)).toHaveLength(1);
  });
});
