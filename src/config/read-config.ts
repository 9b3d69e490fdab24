import { chmodSync, lstatSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { ConfigError } from '../errors.ts';
import type { Json } from '../json/exact.ts';
import { configFrom, configVersion } from './check-config.ts';
import { configFile } from './directories.ts';
import { configError } from './problems.ts';
import type { Config } from './settings.ts';

/**
 * The configuration file, checked; an absent one is empty. A file or directory that others may read is tightened to
 * 0600 and 0700. Throws a `ConfigError` for a file that is corrupt, unreadable or reached through a symbolic link of
 * another user: it is never overwritten and never silently ignored. `onUnknown` hears of what this release does not know.
 */
export function readConfig(
  configDir: string,
  onUnknown: (path: readonly string[]) => void = () => undefined,
): Config {
  const path = configFile(configDir);
  try {
    checkOwnFile(configDir, 0o700);
    checkOwnFile(path, 0o600);
    return parseConfig(readFileSync(path, 'utf8'), path, onUnknown);
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return {};
    throw configError({ kind: 'config-unreadable', path, code: code ?? String(cause) }, { cause });
  }
}

/** A symbolic link of another user could make this program read, or overwrite, a file of theirs. */
function checkOwnFile(path: string, mode: number): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (stat.isSymbolicLink()) {
    if (stat.uid === userInfo().uid) return;
    throw configError({ kind: 'config-of-another-user', path });
  }
  // A sticky directory, such as /tmp, is shared: closing it to others would do harm.
  if ((stat.mode & 0o077) !== 0 && (stat.mode & 0o1000) === 0) chmodSync(path, mode);
}

function parseConfig(text: string, path: string, onUnknown: (path: readonly string[]) => void): Config {
  let json: Json;
  try {
    // Editors of Windows begin a file with a byte order mark.
    json = JSON.parse(text.replace(/^\uFEFF/, '')) as Json;
  } catch (cause) {
    throw configError({ kind: 'config-not-json', path, ...placeOf(cause, text) }, { cause });
  }
  const { config, wrong, unknown } = configFrom(json);
  if (wrong !== undefined) throw configError({ kind: 'config-invalid', path, at: wrong });
  if ((config.version ?? 0) > configVersion) throw configError({ kind: 'config-of-newer-version', path });
  unknown.forEach(onUnknown);
  return config;
}

/** The line that cannot be read, and whether it is because of a comma too many. */
function placeOf(cause: unknown, text: string): { line: number; isComma: boolean } {
  const plain = text.replace(/^\uFEFF/, '');
  const at = Number(/at position (\d+)/.exec(String(cause))?.[1] ?? plain.trimEnd().length);
  const before = plain.slice(0, at);
  const isComma = /^[}\]]/.test(plain.slice(at)) && before.trimEnd().endsWith(',');
  return { line: (isComma ? before.trimEnd() : before).split('\n').length, isComma };
}
