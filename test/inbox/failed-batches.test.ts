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

describe.each(stores)('what cannot be stored in $name', ({ newLocation }) => {
  it('fails, and keeps no later rejected delivery out, however often it comes', async () => {
    const inbox = await open(newLocation(), { redact: poison });
    await expect(takeOne(inbox, arrivalOf({ id: 'poison' }))).rejects.toThrow(CannotStoreError);
    const reject = (body: string): Promise<void> =>
      inbox.reject([{ delivery: deliveryOf(body), rejection: rejection('wrong_credential', 'no') }]);
    await Promise.allSettled(Array.from({ length: 1000 }, () => reject('poison')));
    await reject('x');
    expect(await all(inbox.list({}))).toHaveLength(1);
  });
});
