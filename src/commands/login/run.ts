import { parseBaseUrl } from '../../config/base-url.ts';
import { twoKeysOfAProfile } from '../../config/errors.ts';
import { rejectForeignHeaders } from '../../config/extra-headers.ts';
import type { Account } from '../../config/load-settings.ts';
import { ask, secretFromFile, secretFromPerson } from '../../config/prompt.ts';
import { readConfig } from '../../config/read-config.ts';
import { updateProfile } from '../../config/write-config.ts';
import type { Context, Outcome } from '../../context.ts';
import { ConfigError } from '../../errors.ts';
import { shellWord } from '../../front.ts';
import { openService } from '../../service/client/service.ts';
import { listLeads } from '../../service/listing.ts';
import type { LoginOptions } from './command.ts';

export async function run({ apiKeyFile, check }: LoginOptions, context: Context): Promise<Outcome> {
  const settings = await context.settings();
  const { profile } = settings;
  const baseUrl = settings.baseUrl ?? (await askBaseUrl(context));
  rejectForeignHeaders(settings, baseUrl);
  const label = 'API key';
  const stored = readConfig(context.paths.configDir).profiles?.[profile];
  if (stored?.['api-key-command'] !== undefined) throw twoKeysOfAProfile();
  const apiKey =
    apiKeyFile === undefined
      ? await secretFromPerson(label, context)
      : await secretFromFile(apiKeyFile, label, context);
  if (check) await tryKey({ profile, baseUrl, apiKey }, context);
  await updateProfile(context, profile, (stored) => ({
    ...stored,
    'base-url': baseUrl.href.replace(/\/$/, ''),
    'api-key': apiKey.reveal(),
    'api-key-origin': baseUrl.origin,
  }));
  const where = profile === 'default' ? '' : ` in profile '${profile}'`;
  context.messages.say(
    `${check ? 'key accepted' : 'key not checked'}; stored ${apiKey.toString()} for ${baseUrl.origin}${where}`,
  );
  if ((context.env['LEADS_API_KEY'] ?? '') !== '') {
    context.messages.note('env-key', 'LEADS_API_KEY is set and goes before the stored key');
  }
  return 'done';
}

async function askBaseUrl(context: Context): Promise<URL> {
  if (context.stdin.isTTY === true) return parseBaseUrl(await ask('base URL of the service: ', context));
  throw new ConfigError('no base URL is set', { hint: "add '--base-url https://…', or set LEADS_BASE_URL" });
}

/** Makes a real call, and throws its failure. */
async function tryKey(account: Account, context: Context): Promise<void> {
  const service = await openService(context, { asksOnce: true, triedAccount: account });
  for await (const batch of listLeads(service, { query: {}, pageSize: 1 })) {
    context.messages.verbose(`the service answered with ${batch.leads.length} leads`);
    break;
  }
}

/**
 * Removes the stored key with its `api-key-origin`. A command that prints a key stays in the profile. Where a person has written both
 * into the file, the origin stays with the command, whose key is sent to no other place.
 */
export async function removeKey(_options: unknown, context: Context): Promise<Outcome> {
  const { profile } = await context.settings();
  const stored = readConfig(context.paths.configDir).profiles?.[profile];
  const hasKey = stored?.['api-key'] !== undefined;
  if (hasKey) {
    await updateProfile(context, profile, ({ 'api-key': _key, 'api-key-origin': origin, ...settings }) =>
      settings['api-key-command'] === undefined ? settings : { ...settings, 'api-key-origin': origin },
    );
  }
  const isDefault = profile === 'default';
  if (stored?.['api-key-command'] !== undefined) {
    const ofProfile = isDefault ? '' : ` --profile ${shellWord(profile)}`;
    context.messages.note(
      'key-command',
      `'leads config unset api-key-command${ofProfile}' removes the command that gives a key`,
    );
  }
  const where = isDefault ? '' : ` in profile '${profile}'`;
  context.messages.say(hasKey ? `removed the API key${where}` : `no API key was stored${where}`);
  return 'done';
}
