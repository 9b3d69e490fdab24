import { readConfig } from '../../config/read-config.ts';
import { updateProfile } from '../../config/write-config.ts';
import type { Context, Outcome } from '../../context.ts';
import { shellWord } from '../../front.ts';

/**
 * Removes the stored key with its `api-key-origin`. A command that prints a key stays in the profile. Where a person has written both
 * into the file, the origin stays with the command, whose key is sent to no other place.
 */
export async function run(_options: unknown, context: Context): Promise<Outcome> {
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
