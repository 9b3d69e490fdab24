import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withoutInboxPassword } from '../../../src/commands/flags/resolve-inbox.ts';
import { newInboxUrl } from '../../support/postgres/address.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { until } from '../../support/until.ts';
import { listenInEachTest } from './support.ts';
import { freshHome } from '../../support/run.ts';

const start = listenInEachTest();
const address = await sharedPostgres();

describe('--exec', () => {
  it('runs the command with the raw lead on stdin and without our settings in its environment', async () => {
    const file = join(freshHome(), 'seen');
    const listener = await start(['--exec', `cat > '${file}'; env >> '${file}'; echo said`], {
      env: { LEADS_WEBHOOK_TOKEN: 'very-secret', PATH: process.env['PATH'] ?? '', OTHER: 'kept' },
    });
    const lead = '{ "id": "a",  "category": "x" }';
    expect((await listener.post(`{"event":"x","data":${lead}}`)).status).toBe(200);
    await until(() => listener.stdout.text().includes('exec: exit 0'));
    const seen = readFileSync(file, 'utf8');
    expect(seen.startsWith(lead)).toBe(true);
    expect(seen).toContain('OTHER=kept');
    expect(seen).not.toContain('LEADS_');
    expect(listener.stderr.text()).toContain('| said');
    expect(listener.stdout.text()).not.toContain('| said');
  });

  it.skipIf(address === undefined)('does not tell the command the password of the inbox', async () => {
    if (address === undefined) throw new Error('no database');
    const file = join(freshHome(), 'seen');
    const listener = await start(['--exec', `env > '${file}'`], {
      env: {
        ...{ PATH: process.env['PATH'] ?? '', PGAPPNAME: 'kept', PGPASSFILE: '/no/such/file' },
        ...{ LEADS_INBOX: newInboxUrl(address, { password: '' }), PGPASSWORD: address.password },
      },
    });
    expect((await listener.post({ id: 'a' })).status).toBe(200);
    await until(() => listener.stdout.text().includes('exec: exit 0'));
    const seen = readFileSync(file, 'utf8');
    expect(seen).toContain('PGAPPNAME=kept');
    expect(seen).not.toContain('PGPASS');
  });

  it.each([
    ['a file', { inbox: 'inbox.db' }, true],
    ['a URL with a password', { inbox: 'postgres://leads:word@db/leads' }, true],
    ['a URL without one', { inbox: 'postgresql://leads@db/leads' }, false],
    ['a URL without a user', { inbox: 'postgres:///leads?user=leads' }, false],
    ['a URL in a file', { inbox: '@url.txt' }, false],
  ])('keeps PGPASSWORD for the command where the inbox does not use it: %s', (_, flags, isKept) => {
    const env = { PGPASSWORD: 'word' };
    expect(withoutInboxPassword(flags, env)).toEqual(isKept ? env : {});
  });

  it('tells the command the id and the attempt of the lead', async () => {
    const file = join(freshHome(), 'seen');
    const listener = await start([
      ...['--exec', `echo "$LEAD_ID $LEAD_ATTEMPT" >> '${file}'; exit $((LEAD_ATTEMPT < 2))`],
      ...['--format', 'events'],
    ]);
    const ids = ['a', '$(echo b) é', 'c\0d'];
    for (const id of ids) {
      const before = listener.forwards().length;
      expect((await listener.post({ id })).status).toBe(200);
      await listener.passUntil(() => listener.forwards().length === before + 2);
    }
    const lines = ids.map((id) => id.replace('\0', '\ufffd')).flatMap((id) => [`${id} 1`, `${id} 2`]);
    expect(readFileSync(file, 'utf8')).toBe(`${lines.join('\n')}\n`);
  });

  it.runIf(process.platform === 'linux')('tries again where the command cannot be started', async () => {
    const file = join(freshHome(), 'target.json');
    writeFileSync(file, JSON.stringify({ exec: `: ${'x'.repeat(200_000)}` }));
    const listener = await start(['--target', file, '--format', 'events']);
    expect((await listener.post({ id: 'a' })).status).toBe(200);
    await expect
      .poll(() => listener.forwards())
      .toMatchObject([{ ok: false, state: 'waiting', answer: 'spawn E2BIG' }]);
  });
});

describe('--exec with a slow command', () => {
  it('kills a command that takes too long, and everything that it started', async () => {
    const file = join(freshHome(), 'late');
    const command = `(sleep 3; echo > '${file}') | cat`;
    const listener = await start(['--exec', command, '--timeout', '300ms', '--format', 'events']);
    const began = performance.now();
    expect((await listener.post({ id: 'a' })).status).toBe(200);
    await expect
      .poll(() => listener.forwards())
      .toMatchObject([{ ok: false, state: 'waiting', answer: 'ended by SIGKILL' }]);
    expect(performance.now() - began).toBeLessThan(2500);
  });

  it('does not wait for a child that the command left running', async () => {
    const listener = await start(['--exec', 'sleep 5 & echo said']);
    const began = performance.now();
    expect((await listener.post({ id: 'a' })).status).toBe(200);
    await until(() => listener.stdout.text().includes('exec: exit 0'));
    expect(performance.now() - began).toBeLessThan(4000);
    expect(listener.stderr.text()).toContain('| said');
  });
});
