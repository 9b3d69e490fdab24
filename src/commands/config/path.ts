import * as z from 'zod/mini';
import { configFile } from '../../config/read.ts';
import type { Context } from '../../context.ts';
import { write } from '../../output/sink.ts';
import type { Outcome } from '../command-spec.ts';

export const options = z.object({});

export async function run(_: z.output<typeof options>, context: Context): Promise<Outcome> {
  await write(context.stdout, `${configFile(context.paths.configDir)}\n`);
  return 'done';
}
