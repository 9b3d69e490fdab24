import type { CommandSpec } from '../flags/command-spec.ts';
import { argumentTerm } from '../flags/flag.ts';

/** `leads inbox show [id] [flags]`: `path` is the command's whole name. */
export function usage(path: string, spec: CommandSpec): string {
  const words = Object.entries(spec.arguments).map(([name, argument]) => argumentTerm(name, argument));
  if (spec.subcommands.length > 0) words.push('<command>');
  return ['leads', path, ...words, '[flags]'].join(' ');
}
