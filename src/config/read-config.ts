import { lstatSync, readFileSync, type Stats, statSync } from 'node:fs';
import { ConfigError } from '../errors.ts';
import { closeToOthers } from '../files/modes.ts';
import type { Json } from '../json/exact.ts';
import { type Config, configVersion, expectedAt, faultsInConfig } from './check-config.ts';
import { configFile } from './directories.ts';
import {
  configInvalid,
  configNotJson,
  configOfAnotherUser,
  configOfNewerVersion,
  configUnreadable,
} from './errors.ts';

interface ConfigFile {
  readonly config: Config;
  /** The dotted paths of members that this release does not know. */
  readonly unknownPaths: readonly string[];
}

/**
 * The configuration file, checked; an absent one is empty. A file or directory that others may read is tightened to
 * 0600 and 0700. Throws a `ConfigError` for a file that is corrupt, unreadable or reached through a symbolic link of
 * another user: it is never overwritten and never silently ignored.
 */
export function readConfigFile(configDir: string): ConfigFile {
  const path = configFile(configDir);
  try {
    secureAgainstOthers(configDir, 0o700);
    secureAgainstOthers(path, 0o600);
    return parseConfig(readFileSync(path, 'utf8'), path);
  } catch (cause) {
    if (cause instanceof ConfigError) throw cause;
    const failure = cause as NodeJS.ErrnoException;
    if (failure.code === 'ENOENT') return { config: {}, unknownPaths: [] };
    throw configUnreadable(path, failure);
  }
}

export const readConfig = (configDir: string): Config => readConfigFile(configDir).config;

/**
 * The user of this process; Windows has no such number. `userInfo` of node:os fails where the number has no name, as in a
 * container, and an import of node:process opens the standard streams.
 */
// eslint-disable-next-line no-restricted-globals
export const ownUserId = (): number | undefined => process.geteuid?.();

/**
 * Closes a file or directory to others. A symbolic link of another user is rejected, since it could make this program read or
 * overwrite a file of theirs; links of root are how systemd and Kubernetes give a program its directory and files.
 */
function secureAgainstOthers(path: string, mode: number): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return;
  const uid = ownUserId();
  if (!stat.isSymbolicLink()) {
    tighten(path, stat, mode, uid);
    return;
  }
  if (uid !== undefined && ![0, uid].includes(stat.uid)) throw configOfAnotherUser(path);
  const target = statSync(path, { throwIfNoEntry: false });
  // Others may own what a link leads to, and a directory behind a link may have other uses.
  if (target?.isFile() === true && target.uid === uid) tighten(path, target, mode, uid);
}

function tighten(path: string, stat: Stats, mode: number, uid: number | undefined): void {
  const refusal = closeToOthers(path, stat, mode);
  const isOfThirdUser = ![0, uid].includes(stat.uid);
  if (refusal?.code === 'EPERM' && isOfThirdUser) throw refusal;
}

/** Editors of Windows begin a file with a byte order mark. */
export const withoutMark = (text: string): string => text.replace(/^\uFEFF/, '');

function parseConfig(text: string, path: string): ConfigFile {
  let json: Json;
  try {
    json = JSON.parse(withoutMark(text)) as Json;
  } catch (cause) {
    throw configNotJson(path, placeOfFault(cause, withoutMark(text)), cause);
  }
  const { wrong, unknown } = faultsInConfig(json);
  if (wrong[0] !== undefined) throw configInvalid(path, wrong[0], expectedAt(wrong[0]));
  const config = json as Config;
  if ((config.version ?? 0) > configVersion) throw configOfNewerVersion(path);
  return { config, unknownPaths: unknown.map((names) => names.join('.')) };
}

/**
 * The line in which JSON ends to be valid. node names the position of the fault, or none where the text ends too early. After a
 * comma too many, the fault is at the bracket that follows, which may be lines below the comma.
 */
function placeOfFault(fault: unknown, json: string): { line: number; hasExtraComma: boolean } {
  const position = Number(/at position (\d+)/.exec(String(fault))?.[1] ?? json.trimEnd().length);
  const before = json.slice(0, position);
  const hasExtraComma = /^[}\]]/.test(json.slice(position)) && before.trimEnd().endsWith(',');
  return { line: (hasExtraComma ? before.trimEnd() : before).split('\n').length, hasExtraComma };
}
