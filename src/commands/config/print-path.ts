import { configFile } from '../../config/directories.ts';
import type { Context } from '../../context.ts';
import { write } from '../../output/stdout.ts';
import type { Outcome } from '../flags/command-spec.ts';

export async function run(_options: unknown, context: Context): Promise<Outcome> {
  await write(context.stdout, `${configFile(context.paths.configDir)}\n`);
  return 'done';
}
