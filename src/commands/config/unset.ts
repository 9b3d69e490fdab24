import * as z from 'zod/mini';
import { settingKey, withValue } from '../../config/keys.ts';
import { updateProfile } from '../../config/write.ts';
import type { Context } from '../../context.ts';
import type { Outcome } from '../command-spec.ts';
import { text } from '../values.ts';

export const options = z.object({ key: text() });

export async function run({ key }: z.output<typeof options>, context: Context): Promise<Outcome> {
  const { name, path } = settingKey(key);
  const { profile } = await context.settings();
  await updateProfile(context, profile, (stored) => {
    const { apiKeyOrigin, ...rest } = withValue(stored, path, undefined);
    // A key and the origin that it may be sent to go together.
    return name === 'api-key' || apiKeyOrigin === undefined ? rest : { ...rest, apiKeyOrigin };
  });
  return 'done';
}
