import { readConfig } from '../../config/read-config.ts';
import { twoKeysOfAProfile } from '../../config/errors.ts';
import { parseBaseUrl } from '../../config/base-url.ts';
import { ask, secretFromFile, secretFromPerson } from '../../config/prompt.ts';
import { rejectForeignHeaders } from '../../config/extra-headers.ts';
import type { Account } from '../../config/load-settings.ts';
import { updateProfile } from '../../config/write-config.ts';
import type { Context, Outcome } from '../../context.ts';
import { ConfigError } from '../../errors.ts';
import { listLeads } from '../../service/listing.ts';
import { openService } from '../../service/client/service.ts';
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
