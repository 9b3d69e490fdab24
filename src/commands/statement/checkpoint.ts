import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Context, Outcome } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { makeDirectory } from '../../files/make-directory.ts';
import { replaceFile } from '../../files/replace.ts';
import { CompactRange } from '../../statement/merkle-tree.ts';
import {
  checkpointText,
  isNoteSignedBy,
  privateText,
  publicText,
  signatureLine,
  signerOf,
} from '../../statement/signed-note.ts';
import { write } from '../../output/stdout.ts';
import { holdsWhatWasSigned, withLedger } from './ledger-walk.ts';
import type { CheckpointOptions, KeyOptions, SaltOptions, SignOptions } from './options.ts';
import { keepSigned, keyPath, newSalt, readKnownCheckpoint, requireSigner, signedHeads } from './signing.ts';

/** Makes the key where it is named and there is none; prints its public half. */
export async function key({ name, keyFile }: KeyOptions, context: Context): Promise<Outcome> {
  const path = keyPath(keyFile, context);
  if (name !== undefined && !existsSync(path)) {
    const seed = newSalt();
    makeDirectory(dirname(path), 0o700);
    await replaceFile(path, `${privateText(signerOf(name, seed), seed)}\n`, { mode: 0o600 });
    context.messages.say(`made ${path}: keep a copy, and give the line below to your partner`);
  }
  const signer = await requireSigner(keyFile, context);
  if (name !== undefined && signer.name !== name) {
    throw new UsageError(`${path} is the key of ${signer.name}`, { hint: '--key-file names another file' });
  }
  await write(context.stdout, `${publicText(signer)}\n`);
  return 'done';
}

export async function salt({ output }: SaltOptions, context: Context): Promise<Outcome> {
  if (output === undefined) throw new UsageError('-o FILE says where the salt goes');
  if (existsSync(output)) throw new UsageError(`${output} exists, and is not overwritten`);
  await replaceFile(output, `${newSalt().toString('hex')}\n`, { mode: 0o600 });
  context.messages.say(`made ${output}: for one partner and one period; who has it can test ids by guessing`);
  return 'done';
}

/** Prints the signed head of the ledger. */
export async function checkpoint(options: CheckpointOptions, context: Context): Promise<Outcome> {
  const signer = await requireSigner(options.keyFile, context);
  const note = await withLedger(options, context, async (ledger) => {
    if (options.newLedger) {
      const { origin, size, parts } = await ledger.head();
      const root = Buffer.from(new CompactRange(size, parts).root()).toString('base64');
      const last = (await signedHeads(context))[origin] ?? { size, root };
      await ledger.restart(`supersedes ${origin} ${last.size} ${last.root}`);
    }
    await ledger.sequence();
    if (!(await holdsWhatWasSigned(ledger, context))) return undefined;
    const { origin, size, parts, supersedes } = await ledger.head();
    const head = { origin, size, root: new CompactRange(size, parts).root() };
    await keepSigned(head, context, true);
    const text = checkpointText({ ...head, extensions: supersedes === undefined ? [] : [supersedes] });
    return `${text}\n${signatureLine(text, signer)}`;
  });
  if (note === undefined) return 'problems';
  await write(context.stdout, note);
  return 'done';
}

/** Prints their checkpoint with our signature below theirs. */
export async function sign({ file, publicKey, keyFile }: SignOptions, context: Context): Promise<Outcome> {
  const { messages } = context;
  const signer = await requireSigner(keyFile, context);
  const known = await readKnownCheckpoint(file, publicKey, context);
  if (known === undefined) return 'problems';
  const { text, note, head } = known;
  const before = (await signedHeads(context))[head.origin];
  const root = Buffer.from(head.root).toString('base64');
  if (before?.own === true) {
    messages.warn(`not signed: ${head.origin} is a ledger of this side, and signs its checkpoints itself`);
    return 'problems';
  }
  if (
    before !== undefined &&
    (before.size > head.size || (before.size === head.size && before.root !== root))
  ) {
    messages.warn(
      `not signed: a checkpoint of ${head.origin} with ${before.size} leaves was signed here before`,
    );
    return 'problems';
  }
  await keepSigned(head, context, false);
  await write(context.stdout, isNoteSignedBy(note, signer) ? text : text + signatureLine(note.text, signer));
  return 'done';
}
