import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { Context, Outcome } from '../../context.ts';
import { UsageError, DataError } from '../../errors.ts';
import { replaceFile, writeWhole } from '../../files/replace.ts';
import { BitSet } from '../../lead/id-set.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import type { Ledger } from '../../inbox/ledger.ts';
import { fieldAt, readCreatedAt } from '../../lead/raw-lead.ts';
import { isTestId } from '../../lead/test-id.ts';
import { limitYoungGeneration } from '../../limit-young-generation.ts';
import { counted } from '../../output/terminal/progress.ts';
import { write } from '../../output/stdout.ts';
import type { Leaf } from '../../statement/leaf.ts';
import { CompactRange, leafHash } from '../../statement/merkle-tree.ts';
import { publicText, type Signer, signText } from '../../statement/signed-note.ts';
import {
  borderMs,
  borderOf,
  lineText,
  saltOf,
  signatureText,
  signedMessage,
  type StatementHeader,
  type StatementLedger,
  type StatementLine,
  type StatementSalt,
} from '../../statement/statement-format.ts';
import { checkReportPlace, writeReport } from '../flags/report-file.ts';
import { resolveWindow } from '../flags/resolve-filter.ts';
import { lineOfLead, none, recordIn, type Wanted } from './lead-line.ts';
import { holdsWhatWasSigned, walkLedger, withLedger } from './ledger-walk.ts';
import type { MakeOptions } from './options.ts';
import { keepSigned, newSalt, readSalt, requireSigner } from './signing.ts';
import { SortedLines } from './sorted-lines.ts';
import { checkStatementPlace, openStatement } from './statement-file.ts';
import { openService } from '../../service/client/service.ts';
import type { Evidence } from '../../service/listing/incomplete-error.ts';
import { listLeads } from '../../service/listing/lead-pages.ts';

/** From its creation to its receipt; as `audit` has it, in milliseconds. */
const lateAfterMs = 300_000;

type Counts = { -readonly [K in keyof StatementHeader['counts']]: StatementHeader['counts'][K] };

export async function run(options: MakeOptions, context: Context): Promise<Outcome> {
  const { messages, clock } = context;
  const isListed = options.from === 'service';
  const ofInbox = options.inbox ?? options.previous;
  if (isListed && ofInbox !== undefined)
    throw new UsageError('--inbox and --previous are about what was received, and --from service is not');
  const { since, until, zone } = resolveWindow(
    { ...options, since: undefined, until: undefined },
    clock.now(),
    messages,
  );
  if (since === undefined || until === undefined) {
    throw new UsageError('--in says for which time', { hint: "such as 'leads statement --in last-month'" });
  }
  if (options.html !== undefined) await checkReportPlace(options.html);
  if (until > clock.now()) messages.note('not over', 'the time is not over yet: more leads may come in it');
  const signer = await requireSigner(options.keyFile, context);
  const of = { signer: publicText(signer), basis: isListed ? 'created' : 'received', since, until } as const;
  await checkStatementPlace(options, of);
  const { salt, keep } = await saltFor(options, context);
  const lines = await SortedLines.open();
  const ended = new AbortController();
  limitYoungGeneration(ended.signal);
  const period = { since, until, zone };
  const by = options.by ?? [];
  const wanted = { period, by, salt };
  const written = async (found: Parameters<typeof headerOf>[0], ledger?: Ledger): Promise<void> => {
    const header = await headerOf(found, lines, signer);
    await keep();
    const isThere = await checkStatementPlace(options, of);
    // First: what was handed out must be known where a lead is erased, also after a crash.
    await ledger?.addStatement({ since, until, madeAt: clock.now() });
    await writeStatement(header, lines, signer, options.output, context);
    if (isThere) messages.say(`replaced ${options.output ?? ''}`);
    if (options.html === undefined) return;
    const { statementReport } = await import('./statement-report.ts');
    await writeReport(options.html, await statementReport(header, lines.texts(), clock.now()), context);
  };
  try {
    if (isListed) {
      const evidence = await collectListed(lines, wanted, context);
      await written({ ...wanted, counts: none, basis: 'created', evidence });
      return 'done';
    }
    const isMade = await withLedger(options, context, async (ledger, inbox) => {
      await ledger.sequence();
      let [sizeBefore, isIn] = [0, false];
      const countBefore = ({ receivedAt }: Leaf): void => {
        isIn ||= receivedAt >= since;
        if (!isIn) sizeBefore += 1;
      };
      if (!(await holdsWhatWasSigned(ledger, context, countBefore))) return false;
      const counts = await collect(inbox, lines, wanted, context);
      const found = await headsOf(
        ledger,
        period,
        counts,
        { previous: options.previous, sizeBefore },
        context,
      );
      if (found === undefined) return false;
      await written({ ...wanted, counts, basis: 'received', ledger: found }, ledger);
      return true;
    });
    return isMade ? 'done' : 'problems';
  } finally {
    ended.abort();
    lines.close();
  }
}

interface ChosenSalt {
  readonly salt: StatementSalt;
  readonly keep: () => Promise<void>;
}

/** A salt that is not given is kept beside the statement: without it nobody can find a lead in it. */
async function saltFor({ salt, output }: MakeOptions, context: Context): Promise<ChosenSalt> {
  const keep = (): Promise<void> => Promise.resolve();
  if (salt !== undefined) return { salt: await readSalt(salt, context), keep };
  const fresh = newSalt();
  if (output === undefined || output === '-') {
    context.messages.note('fresh salt', 'made with a salt that is not kept: no lead can be looked up in it');
    return { salt: saltOf(fresh), keep };
  }
  const path = `${output}.salt`;
  if (existsSync(path)) {
    throw new UsageError(`${path} exists, and is not overwritten`, { hint: `--salt ${path} uses it again` });
  }
  return {
    salt: saltOf(fresh),
    async keep() {
      await replaceFile(path, `${fresh.toString('hex')}\n`, { mode: 0o600 });
      context.messages.note('fresh salt', `made with a salt of its own, kept in ${path}`);
    },
  };
}

/** A line for each lead in the period, or within a day of it, of which `headerOf` counts the accepted. Of test leads there is none. */
async function collect(
  inbox: Inbox,
  lines: SortedLines,
  wanted: Wanted,
  { signal, messages }: Pick<Context, 'signal' | 'messages'>,
): Promise<Counts> {
  const { since, until } = wanted.period;
  const counts: Counts = { ...none };
  const rejected = new Map<string, number>();
  const addRejected = (reason: string, count: number): unknown =>
    rejected.set(reason, (rejected.get(reason) ?? 0) + count);
  // Only the newest rejected deliveries and repeats are stored. First: one that goes meanwhile is left out, and none counts twice.
  const { countedSince } = await inbox.extent();
  if (countedSince > since) {
    const time = new Date(countedSince).toISOString();
    messages.warn(`rejected and duplicate may be too low: what was removed before ${time} was not counted`);
  }
  for await (const step of inbox.counts({ since, until, partMs: until - since, isRemoved: true })) {
    for (const { verdict, reason = 'unknown', attempt, count } of step) {
      if (verdict === 'rejected') addRejected(reason, count);
      else if (verdict !== 'other' && attempt > 1) counts.duplicate += count;
    }
  }
  const neverPushed = new BitSet();
  for await (const seqs of inbox.backfilledSeqs(0)) for (const seq of seqs) neverPushed.add(seq);
  const around = { since: since - borderMs, until: until + borderMs };
  for await (const batch of inbox.receipts({ ...around, withRepeats: false })) {
    const added: StatementLine[] = [];
    for (const { seq, receivedAt: at, leadId, verdict, reason, attempt, lead } of batch) {
      if (verdict === 'other' || isTestId(leadId ?? '')) continue;
      const isFirst = reason === undefined && attempt === 1 && leadId !== undefined;
      const record = isFirst ? recordIn(lead) : undefined;
      if (isFirst) added.push(lineOfLead({ leadId, at, record }, wanted));
      if (borderOf(at, wanted.period) !== undefined) continue;
      if (reason !== undefined) addRejected(reason, 1);
      else if (attempt > 1) counts.duplicate += 1;
      else {
        if (neverPushed.has(seq)) counts.repaired += 1;
        const createdAt = readCreatedAt(fieldAt(record, ['createdAt']));
        if (createdAt !== undefined && at - createdAt > lateAfterMs) counts.late += 1;
      }
    }
    lines.add(added);
    await setImmediate();
    signal.throwIfAborted();
  }
  for await (const batch of inbox.prunedSince(around.since)) {
    const leads = batch.filter(({ leadId, receivedAt }) => receivedAt < around.until && !isTestId(leadId));
    lines.add(
      leads.map(({ leadId, receivedAt: at }) => lineOfLead({ leadId, at, record: undefined }, wanted)),
    );
  }
  // In one order, whatever came first.
  const reasons = [...rejected].sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...counts, rejected: Object.fromEntries(reasons) };
}

/** The ledger where the period, or the statement before, ends, and now. Undefined, with a message, where that one is not of it. */
async function headsOf(
  ledger: Ledger,
  { since, until }: Wanted['period'],
  counts: Counts,
  begin: { readonly previous: string | undefined; readonly sizeBefore: number },
  context: Context,
): Promise<StatementLedger | undefined> {
  const { previous } = begin;
  const before = previous === undefined ? undefined : (await openStatement(previous)).header.ledger;
  const sizeBefore = before?.until.size ?? begin.sizeBefore;
  const { head, root, rootBefore, consistency } = await walkLedger(
    ledger,
    sizeBefore,
    context.signal,
    (leaf, isErased) => {
      const isIn = leaf.receivedAt >= since && leaf.receivedAt < until && leaf.kind !== 'test';
      if (isErased && isIn) counts.erased += 1;
    },
  );
  const isOther =
    before !== undefined &&
    (before.origin !== head.origin || rootBefore === undefined || base64(rootBefore) !== before.until.root);
  if (isOther || rootBefore === undefined) {
    context.messages.warn(`not signed: the ledger did not grow from the one that ${previous ?? ''} is of`);
    return undefined;
  }
  await keepSigned({ origin: head.origin, size: head.size, root }, context, true);
  return {
    origin: head.origin,
    since: { size: sizeBefore, root: base64(rootBefore) },
    until: { size: head.size, root: base64(root) },
    consistency: consistency.map(base64),
  };
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

async function headerOf(
  {
    period,
    by,
    salt,
    counts,
    ...basis
  }: Wanted & Pick<StatementHeader, 'counts' | 'basis' | 'ledger' | 'evidence'>,
  lines: SortedLines,
  signer: Signer,
): Promise<StatementHeader> {
  const size = lines.sort();
  const tree = new CompactRange();
  // Of the lines: a lead that is pruned meanwhile is read twice, and has one.
  let accepted = 0;
  for await (const texts of lines.texts()) {
    for (const text of texts) {
      tree.append(leafHash(Buffer.from(text)));
      if (!/"border":"(?:before|after)"\}$/.test(text)) accepted += 1;
    }
  }
  return {
    type: 'leads/statement',
    version: 1,
    signer: publicText(signer),
    basis: basis.basis,
    since: new Date(period.since).toISOString(),
    until: new Date(period.until).toISOString(),
    zone: period.zone,
    by: [...by],
    salt: salt.fingerprint,
    counts: { ...counts, accepted },
    lines: size,
    root: base64(tree.root()),
    ...(basis.basis === 'received' ? { ledger: basis.ledger } : { evidence: basis.evidence }),
  };
}

async function writeStatement(
  header: StatementHeader,
  lines: SortedLines,
  signer: Signer,
  output: string | undefined,
  { stdout, messages }: Context,
): Promise<void> {
  const text = statementText(header, lines, signer);
  if (output !== undefined && output !== '-') await writeWhole(output, text);
  else for await (const chunk of text) await write(stdout, chunk);
  const { accepted, duplicate, erased } = header.counts;
  const parts = [counted(accepted, 'lead', 'leads'), `${duplicate} duplicate`, `${erased} erased`];
  const of =
    header.ledger === undefined ? 'listed by the service' : `ledger of ${header.ledger.until.size} leaves`;
  messages.say(`${parts.join(', ')}; ${of}; signed by ${signer.name}`);
}

async function* statementText(
  header: StatementHeader,
  lines: SortedLines,
  signer: Signer,
): AsyncGenerator<string> {
  const content = createHash('sha256');
  const add = (text: string): string => {
    content.update(text);
    return text;
  };
  yield add(`${lineText(header)}\n`);
  for await (const texts of lines.texts()) yield add(`${texts.join('\n')}\n`);
  yield signatureText(signText(signedMessage(content.digest()), signer));
}

/**
 * A line for each lead that was created in the period, or within a day of it, as the service lists them, and what showed that
 * the list was whole. Throws an
 * `IncompleteError` where the list is not proven complete, and a `DataError` for a lead without an id or a time.
 */
async function collectListed(lines: SortedLines, wanted: Wanted, context: Context): Promise<Evidence> {
  const { since, until } = wanted.period;
  const around = { since: since - borderMs, until: until + borderMs };
  const listing = listLeads(await openService(context), { query: around });
  for await (const { leads } of listing) {
    const dated = leads.map(({ id, createdAt, bytes }) => {
      const at = readCreatedAt(createdAt);
      if (id === undefined || at === undefined) throw undated(id);
      return { leadId: id, at, bytes };
    });
    const near = dated.filter(
      ({ leadId, at }) => at >= around.since && at < around.until && !isTestId(leadId),
    );
    lines.add(near.map(({ bytes, ...lead }) => lineOfLead({ ...lead, record: recordIn(bytes) }, wanted)));
  }
  const { completion } = listing;
  if (completion?.kind !== 'complete' || completion.evidence === 'lone-page') {
    throw new DataError('the service gave one page, and nothing shows that it is the whole list', {
      hint: "'leads doctor' finds out how it pages",
    });
  }
  return completion.evidence;
}

const undated = (id: string | undefined): DataError =>
  new DataError(
    id === undefined
      ? 'the service lists a lead without an id: a statement of its list would leave it out'
      : `the service lists the lead ${id} without a time of creation: it is in no period`,
  );
