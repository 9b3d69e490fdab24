/** The command that stores a key in a profile, for hints: `leads login --profile big`. */
export function loginCommand(profile: string | undefined, baseUrl?: string): string {
  const words = ['leads login'];
  if (baseUrl !== undefined) words.push(`--base-url ${baseUrl}`);
  if (profile !== undefined && profile !== 'default') words.push(`--profile ${shellWord(profile)}`);
  return words.join(' ');
}

const shellWord = (text: string): string =>
  /^[\w.@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
