import type { Context } from '../../context.ts';
import { readConfig } from '../../config/read-config.ts';
import { escapeJson } from '../../output/sanitize.ts';
import { renderTable } from '../../output/table.ts';
import { paletteFor } from '../../output/terminal/colour.ts';
import { terminalWidth } from '../../output/terminal/terminal-width.ts';
import { write } from '../../output/stdout.ts';
import type { Outcome } from '../flags/command-spec.ts';
import type { ConfigProfilesOptions } from './options.ts';

export async function run({ format }: ConfigProfilesOptions, context: Context): Promise<Outcome> {
  const { stdout, paths, messages } = context;
  const { profile: current } = await context.settings();
  const stored = readConfig(paths.configDir).profiles ?? {};
  const profiles = Object.entries(stored).map(([name, { baseUrl, apiKey, apiKeyCommand }]) => ({
    name,
    current: name === current,
    baseUrl: baseUrl ?? null,
    hasKey: apiKey !== undefined || apiKeyCommand !== undefined,
  }));
  if (format === 'json') {
    const json = `${JSON.stringify(profiles, null, 2)}\n`;
    await write(stdout, stdout.isTTY === true ? escapeJson(json) : json);
    return 'done';
  }
  if (profiles.length === 0) {
    messages.say("no profile is stored: 'leads login' makes one");
    return 'done';
  }
  const { dim } = await paletteFor(stdout, context);
  const rows = profiles.map((profile) => [
    profile.current ? '*' : '',
    profile.name,
    profile.baseUrl ?? '',
    profile.hasKey ? (stored[profile.name]?.apiKey === undefined ? 'command' : 'stored') : '',
  ]);
  const width = terminalWidth(stdout);
  const fit = { whole: ['', 'PROFILE', 'BASE URL'], narrowing: [{ drop: 'API KEY' }] };
  const heads = ['', 'PROFILE', 'BASE URL', 'API KEY'];
  await write(stdout, renderTable(heads, rows, { ...fit, width, head: dim }));
  return 'done';
}
