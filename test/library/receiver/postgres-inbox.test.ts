import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  createReceiver,
  type InboxOpener,
  postgresInbox,
  type ReceiverOptions,
} from '../../../src/library/receiver.ts';
import { sign } from '../../../src/library/webhook.ts';
import { newInboxUrl, urlOf } from '../../support/postgres/address.ts';
import { sharedPostgres } from '../../support/postgres/shared.ts';
import { until } from '../../support/until.ts';

const choice = { scheme: 'github', secrets: 'octo' } as const;

function start(
  inbox: InboxOpener,
  onLead: ReceiverOptions['onLead'] = () => undefined,
  options: Pick<ReceiverOptions, 'clock'> = {},
) {
  const errors: unknown[] = [];
  const verdicts: string[] = [];
  const receiver = createReceiver({
    ...choice,
    ...options,
    inbox,
    onLead,
    onError: (error) => errors.push(error),
    onDelivery: ({ verdict }) => verdicts.push(verdict),
  });
  onTestFinished(() => receiver.close());
  const deliver = async (lead: Readonly<Record<string, unknown>>): Promise<number> =>
    (await receiver.fetch(new Request('https://app.test/leads', await sign(lead, choice)))).status;
  return { receiver, errors, verdicts, deliver };
}

const address = await sharedPostgres();

describe.skipIf(address === undefined)(
  'an inbox in PostgreSQL (skipped where no package has a server)',
  () => {
    const there = address as NonNullable<typeof address>;

    test('gives a lead that two receivers get at once to one of them', async () => {
      const inbox = postgresInbox(newInboxUrl(there));
      const taken: string[] = [];
      const first = start(inbox, ({ id }) => void taken.push(id));
      await first.receiver.ready();
      const second = start(inbox, ({ id }) => void taken.push(id));
      const ids = Array.from({ length: 20 }, (_, i) => `lead_${i}`);
      const answers = await Promise.all(ids.flatMap((id) => [first.deliver({ id }), second.deliver({ id })]));
      for (const [i, status] of answers.entries()) {
        if (status === 200) continue;
        // The other receiver had it in hand: the sender tries again.
        expect(await first.deliver({ id: ids[Math.floor(i / 2)] })).toBe(200);
      }
      expect(taken.sort()).toEqual(ids.sort());
      expect([...first.errors, ...second.errors]).toEqual([]);
    });

    test('hands over at the next start what onLead did not take', async () => {
      const inbox = postgresInbox(new URL(newInboxUrl(there)));
      const first = start(inbox, () => Promise.reject(new Error('away')));
      expect(await first.deliver({ id: 'a' })).toBe(502);
      await first.receiver.close();
      const taken: [string, number][] = [];
      start(inbox, ({ id }, { attempt }) => void taken.push([id, attempt]));
      await until(() => taken.length === 1);
      expect(taken).toEqual([['a', 2]]);
    });

    test('takes its password from where it is named', async () => {
      const url = newInboxUrl(there, { password: '' });
      const file = join(mkdtempSync(join(tmpdir(), 'leads-library-')), 'passwords');
      writeFileSync(file, `*:*:*:*:${there.password}\n`, { mode: 0o600 });
      for (const options of [{ password: there.password }, { passwordFile: file }]) {
        const { receiver, deliver } = start(postgresInbox(url, options));
        expect(await deliver({ id: 'a' })).toBe(200);
        await receiver.close();
      }
      const { receiver, deliver } = start(postgresInbox(url));
      const refused = receiver.ready();
      await expect(refused).rejects.toThrow('password');
      await expect(refused).rejects.toMatchObject({
        hint: 'it is looked for in the URL, password and passwordFile',
      });
      expect(await deliver({ id: 'a' })).toBe(503);
    });
  },
);

test('a database that cannot be reached is answered 503, and said without the password', async () => {
  const nowhere = { version: 18, port: 1, socketDirectory: '', password: 'hunter22' };
  const { receiver, errors, deliver } = start(postgresInbox(urlOf(nowhere)));
  expect(await deliver({ id: 'a' })).toBe(503);
  await expect(receiver.ready()).rejects.toMatchObject({ code: 'service_unavailable' });
  expect(errors.length).toBeGreaterThan(0);
  expect(errors.map(String).join('\n')).not.toContain('hunter22');
});

test.each([undefined, '', 'leads.db', 'mysql://a:hunter22@db/x'])('%s is no database', (url) => {
  const make = (): InboxOpener => postgresInbox(url);
  expect(make).toThrow('postgresInbox was given no URL of a PostgreSQL database');
  expect(make).not.toThrow(/hunter22/);
});

test('an unencrypted connection to another machine is refused, and the option is named that allows it', async () => {
  const { receiver } = start(postgresInbox('postgres://leads@db.example/leads?sslmode=disable'));
  await expect(receiver.ready()).rejects.toMatchObject({
    name: 'ConfigError',
    hint: expect.stringContaining('add insecure=true') as string,
  });
});
