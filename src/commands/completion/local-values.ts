import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { configFile, findPaths, type Paths } from '../../config/directories.ts';
import type { Host } from '../../host.ts';
import { ownInbox } from '../flags/inbox-flags.ts';
import type { TypedLine } from './typed-line.ts';
import type { LocalValues } from './value-candidates.ts';

/** What came from outside is offered only as such a word: no shell takes anything in it for more than a letter. */
const plainWord = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,199}$/;

const isPlain = (value: string): boolean => plainWord.test(value);

/** How many ids are offered, and how many bodies are read for categories and fields. */
const most = 50;

/** How many fields are offered beside the usual ones: a lead may have thousands. */
const mostFields = 200;

/** Fields of the specification. */
const usualFields = [
  'id',
  'category',
  'contact.name',
  'contact.email',
  'contact.phone',
  'metadata.source',
  'createdAt',
  'status',
];

interface StoredConfig {
  readonly profile?: string;
  readonly profiles?: Readonly<Record<string, unknown>>;
}

/** Reads the configuration file and the inbox of the line, and changes nothing: no file is made, no mode tightened. */
export function localValues({ env, platform }: Pick<Host, 'env' | 'platform'>): LocalValues {
  const paths = findPaths(env, platform);
  const inbox = (line: TypedLine): string | undefined => inboxOf(line, env, paths);
  const bodies = async (line: TypedLine): Promise<readonly unknown[]> => {
    const path = inbox(line);
    return path === undefined ? [] : (await readableBodies(path)).map(parsed);
  };
  return {
    profiles: () => Object.keys(storedConfig(paths).profiles ?? {}).filter(isPlain),
    async leadIds(line) {
      const path = inbox(line);
      if (path === undefined) return [];
      const { recentLeads } = await import('../../inbox/sqlite/recent-leads.ts');
      const found = await recentLeads(path, most);
      return found
        .filter(({ leadId }) => isPlain(leadId))
        .map(({ leadId, receivedAt }) => ({
          value: leadId,
          help: `received ${new Date(receivedAt).toISOString().slice(0, 16).replace('T', ' ')}`,
        }));
    },
    async categories(line) {
      const found = (await bodies(line)).map((lead) => (lead as { category?: unknown } | null)?.category);
      return [...new Set(found.filter((category) => typeof category === 'string'))].filter(isPlain).sort();
    },
    async fields(line) {
      const found = (await bodies(line)).flatMap((lead) => fieldPathsOf(lead));
      const further = [...new Set(found.filter(isPlain))].slice(0, mostFields).sort();
      return [...new Set([...usualFields, ...further])];
    },
  };
}

/** The file of `--inbox`, or the profile's own; undefined for one that is no file. */
function inboxOf({ given }: TypedLine, env: Host['env'], paths: Paths): string | undefined {
  const named = given.get('--inbox') || env['LEADS_INBOX'] || undefined;
  if (named === ':memory:' || /^[a-z][a-z0-9+.-]+:\/\//i.test(named ?? '')) return undefined;
  // One that a colleague of `--inbox` names is no file either.
  if (given.has('--inbox-url-file')) return undefined;
  const chosen = given.get('--profile') || env['LEADS_PROFILE'];
  if (named !== undefined) return resolve(named.replace(/^~(?=\/)/, env['HOME'] ?? homedir()));
  return ownInbox(chosen || storedConfig(paths).profile || 'default', paths);
}

/** Without an inbox, the fields of the specification are still offered. */
async function readableBodies(path: string): Promise<readonly Uint8Array[]> {
  try {
    const { recentBodies } = await import('../../inbox/sqlite/recent-leads.ts');
    return await recentBodies(path, most);
  } catch {
    return [];
  }
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
}

function storedConfig({ configDir }: Paths): StoredConfig {
  try {
    return JSON.parse(readFileSync(configFile(configDir), 'utf8')) as StoredConfig;
  } catch {
    // A file that is missing or damaged offers nothing; any other command says what is wrong with it.
    return {};
  }
}

/** Levels below the lead itself. */
const deepest = 3;

/** Dotted paths of the values in a lead, those of objects aside; names that hold a dot have none. */
function fieldPathsOf(value: unknown, depth = 0): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (name.includes('.')) return [];
    const isObject = typeof member === 'object' && member !== null && !Array.isArray(member);
    if (!isObject) return [name];
    return depth < deepest ? fieldPathsOf(member, depth + 1).map((path) => `${name}.${path}`) : [];
  });
}
