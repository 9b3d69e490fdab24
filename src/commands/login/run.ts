import * as z from 'zod/mini';
import type { Context } from '../../context.ts';
import type { Outcome } from '../spec.ts';
import { text } from '../values.ts';

export const options = z.object({
  apiKeyFile: z.optional(text()),
  check: z.boolean(),
});

export async function run(_: z.output<typeof options>, context: Context): Promise<Outcome> {
  await context.settings();
  return 'done';
}
