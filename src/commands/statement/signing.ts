import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { Context } from '../../context.ts';
import { ConfigError, DataError, UsageError } from '../../errors.ts';
import { readJsonState, writeJsonState } from '../../files/json-state.ts';
import { lock } from '../../files/lock.ts';
import { makeDirectory } from '../../files/make-directory.ts';
import { readIfExists, readInput, unreadable } from '../../files/read.ts';
import {
  type Checkpoint,
  isNoteSignedBy,
  readCheckpoint,
  readNote,
  readPrivateKey,
  readPublicKey,
  type Signer,
  type SignerName,
} from '../../statement/signed-note.ts';
import { type StatementSalt, saltOf, statementSaltBytes } from '../../statement/statement-format.ts';
import { readSecrets } from '../flags/flag-values.ts';

type Place = Pick<Context, 'paths' | 'stdin'>;

export const keyPath = (keyFile: string | undefined, { paths }: Pick<Context, 'paths'>): string =>
  keyFile ?? join(paths.configDir, 'statement.key');

/** Undefined where there is none. Throws a `ConfigError` for a file that holds something else. */
async function findSigner(keyFile: string | undefined, context: Place): Promise<Signer | undefined> {
  const path = keyPath(keyFile, context);
  if (keyFile === undefined && (await readIfExists(path)) === undefined) return undefined;
  const [secret] = await readSecrets([path], context);
  const signer = readPrivateKey(secret?.reveal() ?? '');
  if (signer === undefined) {
    throw new ConfigError(`${path} holds no key that 'leads statement key' made`);
  }
  return signer;
}

/** Throws a `ConfigError` where there is none. */
export async function requireSigner(keyFile: string | undefined, context: Place): Promise<Signer> {
  const signer = await findSigner(keyFile, context);
  if (signer !== undefined) return signer;
  throw new ConfigError('there is no key to sign with', { hint: "'leads statement key NAME' makes one" });
}

/** The keys of signers who are known: named by a file, or pinned in the configuration, and one's own. */
export async function knownSigners(
  publicKey: string | undefined,
  context: Place,
): Promise<readonly SignerName[]> {
  if (publicKey !== undefined) return keysIn(await readText(publicKey), publicKey);
  const pins = join(context.paths.configDir, 'statement-signers');
  const own = await findSigner(undefined, context);
  return [...keysIn((await readIfExists(pins)) ?? '', pins), ...(own === undefined ? [] : [own])];
}

function keysIn(lines: string, path: string): readonly SignerName[] {
  return lines.split('\n').flatMap((line) => {
    const text = line.trim();
    if (text === '' || text.startsWith('#')) return [];
    const key = readPublicKey(text);
    if (key === undefined) throw new ConfigError(`${path} holds a line that is no public key: NAME+ID+KEY`);
    return [key];
  });
}

async function readText(path: string): Promise<string> {
  const failed = (cause: unknown): Error => new DataError(unreadable(path, cause), { cause });
  return (await readInput(path, undefined, failed)).toString('utf8');
}

/** A checkpoint that one of the known signers signed; undefined, with a warning, where none of them did. */
export async function readKnownCheckpoint(
  path: string,
  publicKey: string | undefined,
  context: Pick<Context, 'paths' | 'stdin' | 'messages'>,
) {
  const text = await readText(path);
  const note = readNote(text);
  const head = note && readCheckpoint(note.text);
  if (note === undefined || head === undefined) throw new DataError(`${path} is no signed checkpoint`);
  const known = await knownSigners(publicKey, context);
  if (known.some((signer) => isNoteSignedBy(note, signer))) return { text, note, head };
  context.messages.warn(`unknown signer: ${path} is signed by nobody whose key is known here (--public-key)`);
  return undefined;
}

export const newSalt = (): Buffer => randomBytes(statementSaltBytes);

export async function readSalt(path: string, context: Place): Promise<StatementSalt> {
  const [secret] = await readSecrets([path], context);
  const text = secret?.reveal() ?? '';
  if (!/^[0-9a-f]{64}$/.test(text)) {
    throw new UsageError(`${path} holds no salt: 32 bytes in hex, as 'leads statement salt' makes them`);
  }
  return saltOf(Buffer.from(text, 'hex'));
}

export const stateSchema = z.object({
  version: z.literal(1),
  signed: z.record(z.string(), z.object({ size: z.int(), root: z.string(), own: z.optional(z.boolean()) })),
});

type SignedState = z.output<typeof stateSchema>['signed'];

const statePath = ({ paths }: Pick<Context, 'paths'>): string =>
  join(paths.configDir, 'statement-signed.json');

/** The largest head of each ledger that was signed from here, by its name. */
export async function signedHeads(context: Pick<Context, 'paths'>): Promise<SignedState> {
  return (await readJsonState(statePath(context), stateSchema, 'signed checkpoints'))?.signed ?? {};
}

/** Keeps what is about to be signed, outside of the inbox: one that is restored may be behind it. `isOwn`: it is of an own ledger. */
export async function keepSigned(
  { origin, size, root }: Pick<Checkpoint, 'origin' | 'size' | 'root'>,
  context: Pick<Context, 'paths' | 'pid' | 'clock' | 'signal'>,
  isOwn: boolean,
): Promise<void> {
  const path = statePath(context);
  makeDirectory(context.paths.configDir, 0o700);
  const held = await lock(path, context, { waitMs: 5000 });
  try {
    const signed = await signedHeads(context);
    if ((signed[origin]?.size ?? -1) >= size) return;
    const head = { size, root: Buffer.from(root).toString('base64'), ...(isOwn ? { own: true } : {}) };
    await writeJsonState(path, { version: 1, signed: { ...signed, [origin]: head } });
  } finally {
    await held.release();
  }
}
