import { describe, expect, it } from 'vitest';
import { CannotStoreError } from '../../src/inbox/errors.ts';
import { rejection } from '../../src/webhook/delivery-answer.ts';
import { open, stores, takeOne } from './stores.ts';
import { all, arrivalOf, deliveryOf } from './support.ts';

/** Fails for one delivery, as a damaged part of a file does. */
const poison = {
  path: ({ path }: { readonly path: string }) => path,
  headers: ({ body }: { readonly body: Uint8Array }) => {
    if (Buffer.from(body).includes('poison')) throw new Error('cannot be stored');
    return [];
  },
};

describe.each(stores)('a batch in $name of which a part cannot be stored', ({ newLocation }) => {
  it('stores the rest, and fails for that part alone', async () => {
    const inbox = await open(newLocation(), { redact: poison });
    const ids = Array.from({ length: 100 }, (_, i) => (i % 40 === 7 ? `poison${i}` : `l${i}`));
    const taken = await Promise.allSettled(ids.map((id) => takeOne(inbox, arrivalOf({ id }))));
    const failed = ids.filter((_, i) => taken[i]?.status === 'rejected');
    expect(failed).toEqual(['poison7', 'poison47', 'poison87']);
    expect(taken[7]).toMatchObject({ reason: expect.any(CannotStoreError) as unknown });
    const stored = (await all(inbox.leads({}))).map(({ leadId }) => leadId);
    expect(stored).toEqual(ids.filter((id) => !failed.includes(id)));
    expect(await takeOne(inbox, arrivalOf({ id: 'l1' }))).toMatchObject({ kind: 'duplicate', attempt: 2 });
  });

  it('keeps rejected deliveries, however many before them could not be stored', async () => {
    const inbox = await open(newLocation(), { redact: poison });
    const reject = (body: string): Promise<void> =>
      inbox.reject([{ delivery: deliveryOf(body), rejection: rejection('wrong_credential', 'no') }]);
    await Promise.allSettled(Array.from({ length: 1000 }, () => reject('poison')));
    await reject('x');
    expect(await all(inbox.list({}))).toHaveLength(1);
  });
});
