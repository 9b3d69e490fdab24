import { ConfigError } from '../errors.ts';
import type { FileProblem } from './problems.ts';

/** What npm installs unless it is told `--omit=optional`: the version of each that this release is tested with. */
export const optionalPackages = { libsql: '0.5.29', 'jq-web': '0.6.2' } as const;

/** Why a package could not be loaded: a `ConfigError` where it, or its part for this platform, is not installed. */
export function packageError(name: keyof typeof optionalPackages, thrown: unknown): unknown {
  const { code } = Object(thrown) as { readonly code?: unknown };
  if (code !== 'MODULE_NOT_FOUND' && code !== 'ERR_MODULE_NOT_FOUND') return thrown;
  const problem: FileProblem = { kind: 'package-not-installed', name, version: optionalPackages[name] };
  return new ConfigError(problem, { cause: thrown });
}
