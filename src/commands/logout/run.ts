import { readConfig } from '../../config/load-settings.ts';
import { updateProfile } from '../../config/write-config.ts';
import type { Context, Outcome } from '../../context.ts';

export async function run(_options: unknown, context: Context): Promise<Outcome> {
  const { profile } = await context.settings();
  const stored = readConfig(context.paths.configDir).profiles?.[profile];
  const removed = stored?.apiKey !== undefined;
  if (removed) {
    await updateProfile(context, profile, ({ apiKey: _key, apiKeyOrigin, ...settings }) =>
      settings.apiKeyCommand === undefined ? settings : { ...settings, apiKeyOrigin },
    );
  }
  if (stored?.apiKeyCommand !== undefined) {
    context.messages.note(
      'key-command',
      "'leads config unset api-key-command' removes the command that gives a key",
    );
  }
  const where = profile === 'default' ? '' : ` in profile '${profile}'`;
  context.messages.say(removed ? `removed the API key${where}` : `no API key was stored${where}`);
  return 'done';
}
