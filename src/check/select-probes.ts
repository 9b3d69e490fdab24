import { UsageError } from '../errors.ts';
import { groupOf, type Probe } from './check-probe.ts';

/**
 * The probes whose names, or groups, match one of `only` (all without any) and none of `skip`. In a pattern, `*` stands
 * for any characters and `?` for one. Throws a `UsageError` for a pattern that matches nothing, and when none is left.
 */
export function selectProbes(
  all: readonly Probe[],
  only: readonly string[],
  skip: readonly string[],
): readonly Probe[] {
  const matchers = (flag: string, patterns: readonly string[]): ((probe: Probe) => boolean)[] =>
    patterns.map((pattern) => {
      const matches = globMatcher(pattern);
      const isMatch = (probe: Probe): boolean => matches(probe.name) || matches(groupOf(probe));
      if (all.some(isMatch)) return isMatch;
      throw new UsageError(`${flag} '${pattern}' matches no probe`, {
        hint: "'leads check --list' shows their names",
      });
    });
  const wanted = matchers('--only', only);
  const unwanted = matchers('--skip', skip);
  const selected = all.filter(
    (probe) =>
      (wanted.length === 0 || wanted.some((matches) => matches(probe))) &&
      !unwanted.some((matches) => matches(probe)),
  );
  if (selected.length > 0) return selected;
  throw new UsageError('--only and --skip leave no probe');
}

function globMatcher(pattern: string): (text: string) => boolean {
  const source = pattern
    .split('')
    .map((letter) => (letter === '*' ? '.*' : letter === '?' ? '.' : letter.replace(/\W/, String.raw`\$&`)))
    .join('');
  const expression = new RegExp(`^${source}$`);
  return (text) => expression.test(text);
}
