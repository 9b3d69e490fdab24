import { findSetting } from './find-setting.ts';
import { withValue } from '../../config/check-config.ts';
import { updateProfile } from '../../config/write-config.ts';
import type { Context } from '../../context.ts';
import type { Outcome } from '../flags/command-spec.ts';
import type { ConfigKeyOptions } from './options.ts';

export async function run({ key }: ConfigKeyOptions, context: Context): Promise<Outcome> {
  const { name, path } = findSetting(key);
  const { profile } = await context.settings();
  await updateProfile(context, profile, (stored) => {
    const { apiKeyOrigin, ...rest } = withValue(stored, path, undefined);
    // A key and the origin that it may be sent to go together.
    const hasKey = rest.apiKey !== undefined || rest.apiKeyCommand !== undefined;
    const isKey = name === 'api-key' || name === 'api-key-command';
    return apiKeyOrigin === undefined || (isKey && !hasKey) ? rest : { ...rest, apiKeyOrigin };
  });
  return 'done';
}
