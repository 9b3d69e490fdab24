import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Inbox } from '../../../src/inbox/inbox.ts';
import { loadLibsql } from '../../../src/inbox/sqlite/libsql.ts';
import { rejection } from '../../../src/webhook/delivery-answer.ts';
import { clock, open } from '../stores.ts';
import { arrivalsTogether, deliveryOf, freshFile } from '../support.ts';

const target = 'forward http://localhost:3000/hook';

/** What must not be readable any more, in no form that is stored. */
const person = ['ada@example.com', 'Ada Lovelace', '20 7946 0958', 'lead-of-ada'];

/** Every file beside the inbox, its logs included, as it is on disk. */
const files = (location: string): Map<string, Buffer> =>
  new Map(
    readdirSync(dirname(location)).map(
      (name) => [name, readFileSync(join(dirname(location), name))] as const,
    ),
  );

function readable(location: string): string[] {
  return [...files(location)].flatMap(([name, bytes]) =>
    person.filter((text) => bytes.includes(text)).map((text) => `${text} in ${name}`),
  );
}

const bodyOf = (id: string, n: number, filler = ''): string =>
  JSON.stringify({
    id,
    contact: { name: 'Ada Lovelace', email: 'ada@example.com', phone: '+44 20 7946 0958' },
    n,
    filler,
  });

/** An inbox with hundreds of leads, and one person in every table that there is. */
async function fill(inbox: Inbox): Promise<void> {
  const others = (from: number) =>
    inbox.take(
      Array.from({ length: 100 }, (_, i) => {
        const body = `{"id":"other-${from + i}","filler":"${'x'.repeat(i * 40)}"}`;
        return { leadId: `other-${from + i}`, delivery: deliveryOf(body) };
      }),
    );
  const take = (body: string, nonce?: string) =>
    inbox.take([
      {
        leadId: 'lead-of-ada',
        nonce,
        delivery: deliveryOf(body, {
          path: '/leads?for=ada@example.com',
          rawHeaders: [['X-Name', 'Ada Lovelace']],
        }),
      },
    ]);
  await others(0);
  const [taken] = await take(bodyOf('lead-of-ada', 0), 'nonce');
  const seq = taken !== undefined && 'seq' in taken ? taken.seq : 0;
  const result = { ok: false, answer: 'no: ada@example.com', durationMs: 1, at: 1, kind: 'forward' } as const;
  await inbox.record([{ leadId: 'lead-of-ada', seq, claim: 0, target, outcome: { retryInMs: 0 }, result }]);
  await others(100);
  // More repeats than are kept, so that some are in free pages already.
  for (let n = 1; n < 120; n += 1) await take(bodyOf('lead-of-ada', n, n % 10 === 0 ? 'y'.repeat(9000) : ''));
  await inbox.reject([
    {
      delivery: deliveryOf(bodyOf('lead-of-ada', 0)),
      rejection: rejection('wrong_credential', 'not for Ada Lovelace'),
      leadId: 'lead-of-ada',
    },
  ]);
  await others(200);
  const leads = ['{"id":"other-300"}', bodyOf('lead-of-ada', 3), '{"id":"other-301"}'];
  await inbox.take(arrivalsTogether(leads, { path: '/leads?for=ada@example.com' }));
}

const erasure = { leadIds: ['lead-of-ada'], rejected: [] };

describe('after erasing from an inbox in a file', () => {
  it('no byte of the person is in the file, its log or its journal, while a receiver has it open', async () => {
    const location = freshFile('inbox.db');
    const receiver = await open(location, { targets: [target], nonceLifetimeMs: 60_000 });
    await fill(receiver);
    expect(readable(location)).toEqual(
      expect.arrayContaining(person.map((text) => `${text} in inbox.db-wal`)),
    );
    const eraser = await open(location);
    expect(await eraser.erase(erasure)).toMatchObject({
      leads: 1,
      waiting: 1,
      rejected: 1,
      remains: undefined,
    });
    expect(readable(location)).toEqual([]);
    expect(files(location).get('inbox.db-wal')?.length).toBeLessThan(20_000);
    await receiver.take([{ leadId: 'lead-of-ada', delivery: deliveryOf(bodyOf('lead-of-ada', 9)) }]);
    await receiver.take([{ leadId: 'later', delivery: deliveryOf('{"id":"later"}') }]);
    await receiver.close();
    expect(readable(location)).toEqual([]);
  });

  it('says what is not gone while somebody reads an old state of it, and completes it at the next opening', async () => {
    const location = freshFile('inbox.db');
    const inbox = await open(location, { targets: [target] });
    await fill(inbox);
    const Libsql = await loadLibsql();
    const other = new Libsql(location, { timeout: 0 });
    other.exec('BEGIN');
    expect(other.prepare('SELECT COUNT(*) AS n FROM leads').all([])[0]?.['n']).toBe(303);
    const erasing = inbox.erase(erasure);
    // It waits by the clock, and not for ever.
    const timer = setInterval(() => clock.advance(1000), 10);
    await erasing.finally(() => clearInterval(timer));
    expect(await erasing).toMatchObject({
      leads: 1,
      remains: { kind: 'inbox-in-use' },
    });
    expect(readable(location)).not.toEqual([]);
    other.exec('COMMIT');
    other.close();
    await inbox.close();
    await (await open(location)).close();
    expect(readable(location)).toEqual([]);
  });
});
