import { readConfig } from '../../config/read-config.ts';
import { updateProfile } from '../../config/write-config.ts';
import type { Context, Outcome } from '../../context.ts';

export async function run(_options: unknown, context: Context): Promise<Outcome> {
  const { profile } = await context.settings();
  const stored = readConfig(context.paths.configDir).profiles?.[profile];
  const removed = stored?.['api-key'] !== undefined;
  if (removed) {
    await updateProfile(context, profile, ({ 'api-key': _key, 'api-key-origin': origin, ...settings }) =>
      settings['api-key-command'] === undefined ? settings : { ...settings, 'api-key-origin': origin },
    );
  }
  if (stored?.['api-key-command'] !== undefined) {
    context.messages.note(
      'key-command',
      "'leads config unset api-key-command' removes the command that gives a key",
    );
  }
  const where = profile === 'default' ? '' : ` in profile '${profile}'`;
  context.messages.say(removed ? `removed the API key${where}` : `no API key was stored${where}`);
  return 'done';
}
