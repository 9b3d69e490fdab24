import * as z from 'zod/mini';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import type { Outcome } from '../command-spec.ts';
import { pointInTime, text } from '../values.ts';
import { withInbox } from './with-inbox.ts';

export const options = z.object({ before: z.optional(pointInTime()), inbox: z.optional(text()) });

export async function run(given: z.output<typeof options>, context: Context): Promise<Outcome> {
  const { before } = given;
  if (before === undefined) {
    throw new UsageError('--before says what goes: a time, or how old', {
      hint: "such as 'leads inbox prune --before 30d'",
    });
  }
  const gone = await withInbox(given.inbox, context, (inbox) => inbox.prune(before(context.clock.now())));
  if (gone !== undefined) {
    context.messages.say(
      `${gone} ${gone === 1 ? 'delivery' : 'deliveries'} dropped; the ids of their leads stay known`,
    );
  }
  return 'done';
}
