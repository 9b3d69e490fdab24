import { readConfig } from '../../config/read-config.ts';
import { updateConfig } from '../../config/write-config.ts';
import { loginCommand } from '../../config/login-command.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { didYouMean } from '../help/suggest.ts';
import type { ConfigUseOptions } from './options.ts';

/** Makes a profile the one that is used when neither `--profile` nor `LEADS_PROFILE` names one. */
export async function run({ name }: ConfigUseOptions, context: Context): Promise<Outcome> {
  const known = Object.keys(readConfig(context.paths.configDir).profiles ?? {});
  if (!known.includes(name) && name !== 'default') {
    const list = known.length === 0 ? '' : `profiles: ${known.join(', ')}; or `;
    throw new UsageError(`there is no profile '${name}'`, {
      hint: didYouMean(name, known) ?? `${list}make it with '${loginCommand(name)}'`,
    });
  }
  await updateConfig(context, (config) => ({ ...config, profile: name }));
  context.messages.say(`profile '${name}' is used from now on`);
  if ((context.env['LEADS_PROFILE'] ?? '') !== '') {
    context.messages.note('env-profile', 'LEADS_PROFILE is set and goes before it');
  }
  return 'done';
}
