import type { Context, Outcome } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { checkLedger } from '../../inbox/check-ledger.ts';
import { counted } from '../../output/terminal/progress.ts';
import { writeJson } from '../../output/stdout.ts';
import { inclusionSpans, isConsistent, leafHash, SubtreeRoots } from '../../statement/merkle-tree.ts';
import {
  idDigest,
  type StatementHeader,
  type StatementLedger,
  type StatementLine,
} from '../../statement/statement-format.ts';
import { withLedger } from './ledger-walk.ts';
import { profilesInbox, type VerifyOptions } from './options.ts';
import type { LeadProof } from './output-schema.ts';
import { knownSigners, readKnownCheckpoint, readSalt } from './signing.ts';
import { openStatement, type OpenedStatement } from './statement-file.ts';

export async function run(options: VerifyOptions, context: Context): Promise<Outcome> {
  const { file, checkpoint, inbox, previous, lead, salt } = options;
  if (file === undefined) {
    if ((previous ?? lead ?? salt) !== undefined)
      throw new UsageError('--previous, --lead and --salt are about a statement: name its file');
    return verifyInbox(options, context);
  }
  if ((checkpoint ?? inbox) !== undefined)
    throw new UsageError('give a statement, or --inbox and --checkpoint');
  return verifyFile(file, options, context);
}

async function verifyFile(file: string, options: VerifyOptions, context: Context): Promise<Outcome> {
  const { messages } = context;
  const statement = await openStatement(file);
  const { header, signer } = statement;
  let isRight = true;
  const wrong = (text: string): void => {
    isRight = false;
    messages.warn(text);
  };
  for await (const _ of statement.lines());
  const known = await knownSigners(options.publicKey, context);
  if (!known.some(({ name, publicKey }) => name === signer.name && publicKey.equals(signer.publicKey))) {
    wrong(`unknown signer: ${header.signer} is neither named by --public-key nor pinned`);
  }
  const { ledger } = header;
  if (ledger !== undefined && !hasGrown(ledger)) {
    wrong(`the ledger of ${ledger.until.size} leaves did not grow from the one of ${ledger.since.size}`);
  }
  if (options.previous !== undefined) {
    const fault = faultBehind((await openWhole(options.previous)).header, header);
    if (fault !== undefined) wrong(fault);
  }
  if (options.lead !== undefined && !(await proveLead(statement, options.lead, options, context)))
    isRight = false;
  const period = `${header.since} to ${header.until}`;
  if (isRight) {
    const leads = counted(header.counts.accepted, 'lead', 'leads');
    const of =
      ledger === undefined
        ? `listed by the service (${header.evidence ?? ''})`
        : `ledger ${ledger.origin} of ${ledger.until.size} leaves`;
    messages.say(`it holds: ${leads}, ${period}, signed by ${signer.name}; ${of}`);
  }
  return isRight ? 'done' : 'problems';
}

async function openWhole(file: string): Promise<OpenedStatement> {
  const statement = await openStatement(file);
  for await (const _ of statement.lines());
  return statement;
}

const bytesOf = (base64: string): Buffer => Buffer.from(base64, 'base64');
const headOf = ({ size, root }: StatementLedger['since']) => ({ size, root: bytesOf(root) });

const hasGrown = ({ since, until, consistency }: StatementLedger): boolean =>
  isConsistent(headOf(since), headOf(until), consistency.map(bytesOf));

/** Why a statement does not go on from the one before; undefined where it does. */
function faultBehind(before: StatementHeader, after: StatementHeader): string | undefined {
  if (before.signer !== after.signer) return `the statement before is signed by ${before.signer}`;
  if (before.ledger === undefined || after.ledger === undefined)
    return 'a statement of what the service lists goes on from no other';
  if (before.ledger.origin !== after.ledger.origin)
    return `the statement before is of the ledger ${before.ledger.origin}`;
  const [then, now] = [before.ledger.until, after.ledger.since];
  if (then.size === now.size && then.root === now.root) return undefined;
  if (then.size === now.size || then.size > after.ledger.until.size)
    return 'the ledger is not the one of the statement before: leaves were changed or removed';
  return 'that it goes on from the statement before is not shown: it was made without --previous';
}

/** Prints where the lead is, and the hashes that lead from its line to the root, or its neighbours where it is not. */
async function proveLead(
  statement: OpenedStatement,
  leadId: string,
  { salt: saltFile }: VerifyOptions,
  context: Context,
): Promise<boolean> {
  if (saltFile === undefined) throw new UsageError('--lead needs --salt: without it nobody can find a lead');
  const { header } = statement;
  const salt = await readSalt(saltFile, context);
  requireSalt(salt.fingerprint, header, saltFile);
  const digest = idDigest(salt, leadId);
  let [index, position] = [0, 0];
  let found: StatementLine | undefined;
  for await (const line of statement.lines()) {
    if (line.digest < digest) index += 1;
    if (line.digest === digest) found = line;
  }
  const isIn = found !== undefined;
  const wanted = isIn ? [index] : [index - 1, index].filter((place) => place >= 0 && place < header.lines);
  const proofs = wanted.map((place) => ({
    place,
    roots: new SubtreeRoots(inclusionSpans(place, header.lines)),
    line: '',
  }));
  for await (const { text } of statement.lines()) {
    const hashed = leafHash(Buffer.from(text));
    for (const proof of proofs) {
      proof.roots.add(hashed);
      if (proof.place === position) proof.line = text;
    }
    position += 1;
  }
  const shown = proofs.map(({ place, roots, line }) => ({
    index: place,
    line,
    path: roots.roots().map((root) => Buffer.from(root).toString('base64')),
  }));
  const rest = { lines: header.lines, root: header.root };
  const [first] = shown;
  const proof: LeadProof =
    isIn && first !== undefined ? { ...first, ...rest } : { absent: digest, between: shown, ...rest };
  await writeJson(context.stdout, proof);
  const border = found?.border;
  const where =
    border === undefined ? (isIn ? 'in it' : 'not in it') : `not counted in it: it came ${border} its period`;
  context.messages.say(`the lead is ${where}`);
  return isIn && border === undefined;
}

/** Throws a `UsageError` for another salt than the statement was made with. */
export function requireSalt(fingerprint: string, { salt }: StatementHeader, saltFile: string): void {
  if (salt === fingerprint) return;
  throw new UsageError(`the statement was made with the salt ${salt}, and ${saltFile} is ${fingerprint}`);
}

async function verifyInbox(options: VerifyOptions, context: Context): Promise<Outcome> {
  const { messages } = context;
  const { checkpoint, inbox } = options;
  const known =
    checkpoint === undefined ? undefined : await readKnownCheckpoint(checkpoint, options.publicKey, context);
  if (checkpoint !== undefined && known === undefined) return 'problems';
  const head = known?.head;
  const place = { inbox: inbox === profilesInbox ? undefined : inbox };
  const found = await withLedger(place, context, async (ledger, opened) => {
    const { origin } = await ledger.head();
    return { origin, ...(await checkLedger(opened, ledger, head?.size ?? 0, context.signal)) };
  });
  const { altered, inserted, removed, size, erased, pruned } = found;
  const faults: string[] = [];
  if (altered.length > 0) faults.push(`altered since they were entered: deliveries ${altered.join(', ')}`);
  if (inserted.length > 0) faults.push(`inserted behind the ledger: deliveries ${inserted.join(', ')}`);
  if (removed > 0) faults.push(`removed: ${counted(removed, 'lead', 'leads')}`);
  if (!found.isHeadRight) faults.push('the leaves of the ledger are not those of its head');
  if (head !== undefined && head.origin !== found.origin)
    faults.push(`the checkpoint is of ${head.origin}, and this is ${found.origin}`);
  else if (head !== undefined && found.root === undefined)
    faults.push(`the checkpoint has ${head.size} leaves, and the ledger ${size}`);
  else if (head !== undefined && Buffer.compare(found.root ?? Buffer.alloc(0), head.root) !== 0)
    faults.push(`the first ${head.size} leaves are not those of the checkpoint`);
  for (const fault of faults) messages.warn(fault);
  if (faults.length > 0) return 'problems';
  const parts = `${counted(size, 'lead', 'leads')}, ${erased} erased, ${pruned} pruned`;
  messages.say(
    head === undefined
      ? `the inbox agrees with its own ledger (${parts}): without a checkpoint that the other side kept, that proves nothing to them`
      : `the inbox is what the checkpoint of ${head.size} leaves says (${parts} now)`,
  );
  return 'done';
}
