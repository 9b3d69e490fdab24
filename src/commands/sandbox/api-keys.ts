import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { defaultApi } from '../../sandbox/api/api-options.ts';
import { readSecrets } from '../flags/scheme/secret-files.ts';
import type { Options } from './options.ts';

/** Flag > environment > the default, which is no secret. */
export async function readApiKeys(options: Options, context: Context): Promise<readonly string[]> {
  const fromFiles = await readSecrets(options.apiKeyFile, context);
  const keys = [...options.apiKey, ...fromFiles.map((key) => key.reveal())];
  if (keys.some((key) => !/^[\x21-\x7e]+$/.test(key))) {
    throw new UsageError('an API key is one word of visible characters');
  }
  if (keys.length > 0) return keys;
  const fromEnv = context.env['LEADS_API_KEY'] ?? '';
  return fromEnv === '' ? defaultApi.apiKeys : [fromEnv];
}

/** Whether the key may be shown: one from a file or from the environment is kept secret. */
export const mayShowKey = (options: Options, env: Context['env']): boolean =>
  options.apiKey.length > 0 || (options.apiKeyFile.length === 0 && (env['LEADS_API_KEY'] ?? '') === '');
