import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Disk } from '../kernel/disk.ts';
import type { StoredLeads } from './inbox-file.ts';
import { bookmarkedPath, bookmarkPath, exportPath, type Run } from './operator.ts';
import { giveUpTimes, type Plan, type TargetKind } from './plan.ts';
import { apiKey } from './service.ts';
import { token } from './senders.ts';
import { isAsSent, type Moment, pairOf, type Truth } from './truth.ts';

/** A promise that did not hold. */
export class Violation extends Error {
  override readonly name = 'Violation';
  readonly invariant: string;

  constructor(invariant: string, detail: string) {
    super(detail);
    this.invariant = invariant;
  }
}

const some = (ids: readonly string[]): string =>
  ids.length > 5 ? `${ids.slice(0, 5).join(', ')} and ${ids.length - 5} more` : ids.join(', ');

/** A 200 means that the lead is stored. */
export function checkStored(truth: Truth, { ids }: StoredLeads): void {
  const lost = [...truth.acknowledged.keys()].filter((id) => !ids.has(id) && !truth.erased.has(id));
  if (lost.length > 0)
    throw new Violation('acknowledged-is-stored', `acknowledged and not in the inbox: ${some(lost)}`);
}

/** The targets that receivers of this plan are started with. */
const targetSets = ({ targets, happenings }: Plan): readonly (readonly TargetKind[])[] => [
  targets,
  ...happenings.flatMap((one) => (one.kind === 'flags' ? [one.targets] : [])),
];

/** A lead that was pushed is stored together with all that it is to be forwarded to. */
export function checkForwards(truth: Truth, plan: Plan, { ids, pushed, forwards }: StoredLeads): void {
  const alone = forwards.filter(({ id }) => !ids.has(id));
  if (alone.length > 0)
    throw new Violation(
      'erased-is-cancelled',
      `to be forwarded and not stored: ${some(alone.map(({ id }) => id))}`,
    );
  const found = new Map<string, Set<TargetKind>>();
  for (const { id, target } of forwards) found.set(id, (found.get(id) ?? new Set()).add(target));
  for (const id of pushed) {
    const targets = found.get(id) ?? new Set();
    const wanted = truth.wanted.get(id);
    const isRight = (wanted === undefined ? targetSets(plan) : [wanted]).some(
      (set) =>
        [...targets].every((target) => set.includes(target)) &&
        set.every((target) => targets.has(target) || isForgotten(truth, id, target)),
    );
    if (!isRight)
      throw new Violation(
        'stored-with-its-forwards',
        `${id} is stored for ${[...targets].join(', ') || 'no target'} instead of ${wanted?.join(', ') ?? 'those of a receiver'}`,
      );
  }
}

/** What is dead cannot be sent any more once its delivery is pruned. */
const isForgotten = ({ dead, isPruned }: Truth, id: string, target: TargetKind): boolean =>
  isPruned && dead.has(pairOf(id, target));

/** A target has had what the inbox calls done, and the inbox calls done what a receiver said that it was. */
export function checkDone(
  truth: Truth,
  { ids, forwards }: StoredLeads,
  lines: ReadonlyMap<string, number>,
): void {
  const done = forwards.filter(({ state }) => state === 'done');
  const untrue = done.filter(({ id, target }) => !hasHad(truth, id, target, lines));
  const [first] = untrue;
  if (first !== undefined)
    throw new Violation(
      'done-was-delivered',
      `${first.target} has not had what is done: ${some(untrue.map(({ id }) => id))}`,
    );
  const pairs = new Set(done.map(({ id, target }) => pairOf(id, target)));
  const lost = [...truth.saidDone].filter(
    ([pair, { id }]) => !pairs.has(pair) && ids.has(id) && !truth.erased.has(id),
  );
  if (lost.length > 0)
    throw new Violation(
      'said-is-recorded',
      `said to be done, and not recorded: ${some(lost.map(([pair]) => pair))}`,
    );
}

const hasHad = (truth: Truth, id: string, target: TargetKind, lines: ReadonlyMap<string, number>): boolean =>
  truth.taken[target].has(id) || truth.erased.has(id) || (target === 'file' && lines.has(id));

/** A target is tried so long before a lead is given up for it. `ahead`: by how much a clock was ahead at most, in milliseconds. */
export function checkGivenUp(
  { giveUp = '3d' }: Plan,
  { forwards }: StoredLeads,
  now: number,
  ahead: number,
): void {
  const early = forwards.filter(
    ({ state, since }) => state === 'dead' && now + ahead - since < giveUpTimes[giveUp],
  );
  if (early.length > 0)
    throw new Violation('given-up-in-time', `given up too early: ${some(early.map(({ id }) => id))}`);
}

/** What nobody works on any more is claimed for so long at most. `ahead`: as above. */
export function checkClaimsEnd({ forwards }: StoredLeads, now: number, ahead: number): void {
  const endless = forwards.filter(({ claimedUntil }) => claimedUntil > now + ahead + claimMs);
  if (endless.length > 0)
    throw new Violation('claims-end', `claimed for too long: ${some(endless.map(({ id }) => id))}`);
}

/** Only the end of an attempt ends its claim: another one would begin beside it. `underWay`: pairs of a lead and a target. */
export function checkStillClaimed({ forwards }: StoredLeads, underWay: ReadonlySet<string>): void {
  const ended = forwards.filter(
    ({ id, target, state, claimedUntil }) =>
      state === 'waiting' && claimedUntil === 0 && underWay.has(pairOf(id, target)),
  );
  if (ended.length > 0)
    throw new Violation('one-attempt-at-a-time', `sent, and not claimed: ${some(ended.map(({ id }) => id))}`);
}

/** No claim of a lead lasts longer. */
export const claimMs = 40_000;

/** What is given up is said. */
export function checkSaidDead({ saidDead }: Truth, { forwards }: StoredLeads): void {
  const unsaid = forwards.filter(({ state, target }) => state === 'dead' && !saidDead.has(target));
  if (unsaid.length > 0)
    throw new Violation('dead-is-said', `dead, and nobody said so: ${some(unsaid.map(({ id }) => id))}`);
}

/** The only receiver has ended as it was told: what it had claimed can be claimed again. `now`: by its clock. */
export function checkUnclaimed({ forwards }: StoredLeads, now: number): void {
  const claimed = forwards.filter(({ state, claimedUntil }) => state === 'waiting' && claimedUntil > now);
  if (claimed.length > 0)
    throw new Violation('ends-with-its-claims', `still claimed: ${some(claimed.map(({ id }) => id))}`);
}

/** Which of these leads a target has not had, in words. */
export function undelivered(
  truth: Truth,
  ids: Iterable<string>,
  targets: readonly TargetKind[],
  lines: Map<string, number>,
): string | undefined {
  for (const target of targets) {
    const lacking = [...ids].filter((id) => !hasHad(truth, id, target, lines));
    if (lacking.length > 0) return `${target} has not had what was acknowledged: ${some(lacking)}`;
  }
  return undefined;
}

/** What was acknowledged reached each target, now that all of them work and everything was tried again. */
export function checkDelivered(truth: Truth, plan: Plan, lines: Map<string, number>): void {
  const isWantedByAll = plan.happenings.every(({ kind }) => kind !== 'flags');
  for (const target of plan.targets) {
    const ids = [...truth.acknowledged.keys()].filter(
      (id) => (truth.wanted.get(id)?.includes(target) ?? isWantedByAll) && !isForgotten(truth, id, target),
    );
    const lacking = undelivered(truth, ids, [target], lines);
    if (lacking !== undefined) throw new Violation('acknowledged-is-delivered', lacking);
  }
}

/** Ids of leads that some target is to be tried for. */
export const waiting = ({ forwards }: StoredLeads): readonly string[] =>
  forwards.flatMap(({ id, state }) => (state === 'waiting' ? [id] : []));

/** Ids of leads that some target has not had, dead or not. */
export const undone = ({ forwards }: StoredLeads): readonly string[] =>
  forwards.flatMap(({ id, state }) => (state === 'done' ? [] : [id]));

/** Nothing waits once everything has worked for so long. */
export function checkNothingWaits(ids: Iterable<string>): void {
  const left = [...ids];
  if (left.length > 0) throw new Violation('nothing-waits-for-ever', `still waiting: ${some(left)}`);
}

export function checkAcceptedOnce(truth: Truth, id: string): void {
  if ((truth.accepted.get(id) ?? 0) > 1) throw new Violation('accepted-once', `${id} was accepted twice`);
}

export function checkSecrets(name: string, text: string): void {
  for (const secret of [token, apiKey]) {
    if (text.includes(secret)) throw new Violation('no-secret-in-output', `${name} printed ${secret}`);
  }
}

/** Once `inbox erase` has ended well, no byte of the person is in the inbox's files, and none comes again. */
export function checkErased(disk: Disk, { gone }: Truth): void {
  if (gone.size === 0) return;
  for (const file of readdirSync(disk.root)) {
    if (!file.startsWith('inbox.db')) continue;
    const bytes = readFileSync(join(disk.root, file));
    for (const { email } of gone) {
      if (bytes.includes(email)) throw new Violation('erased-is-gone', `${email} is in ${file}`);
    }
  }
}

/** A target is given the bytes that the sender sent. */
export function checkTaken(truth: Truth, target: TargetKind, id: string, text: string): void {
  if (!isAsSent(truth, id, text)) throw new Violation('handed-on-as-sent', `${target} was given ${text}`);
}

/** A burst of leads is no burst of processes. */
export function checkCommands(running: number): void {
  if (running > mostCommands)
    throw new Violation('queues-are-bounded', `${running} commands of one receiver run at a time`);
}

const mostCommands = 4;

/** Nor one of connections to the application. */
export function checkConnections(open: number): void {
  if (open > mostConnections)
    throw new Violation('queues-are-bounded', `one receiver has ${open} connections to the application`);
}

const mostConnections = 64;

/** Exit 0 of an export: every lead that was listed from its start to its end, each once, in the service's own bytes. */
export function checkExport(disk: Disk, truth: Truth, run: Run, now: number): void {
  const path = run.action === 'export' ? exportPath : bookmarkedPath;
  const lines = readFileSync(disk.real(path), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const ids = lines.map((line) => (JSON.parse(line) as { id: string }).id);
  const written = new Set(ids);
  const name = run.action === 'export' ? 'exit-0-is-complete' : 'bookmark-is-complete';
  if (written.size < ids.length) {
    throw new Violation(
      'exported-once',
      `${path}: ${some(ids.filter((id, i) => ids.indexOf(id) < i))} twice`,
    );
  }
  const listed = [...truth.leads.values()].filter(
    ({ createdAt, deletedAt = Infinity }) => createdAt < run.startedAt && deletedAt > now,
  );
  const missing = listed.filter(({ id }) => !written.has(id)).map(({ id }) => id);
  if (missing.length > 0) throw new Violation(name, `${path} lacks ${some(missing)}`);
  for (const [i, line] of lines.entries()) {
    const lead = truth.leads.get(ids[i] ?? '');
    if (lead === undefined) throw new Violation(name, `${path} has ${ids[i] ?? ''}, which never was`);
    if (line !== lead.listed)
      throw new Violation('exported-as-it-was', `${path}: ${line} instead of ${lead.listed}`);
  }
}

/**
 * An export with a bookmark may end with 6 in a healthy world as well: where all leads that it asks for again were deleted, the
 * list may be another one.
 */
export function mayBeAnotherList(disk: Disk, truth: Truth, { action, process }: Run): boolean {
  const saysSo = process.exitCode === 6 && /newest leads? of the run before/.test(process.stderr);
  if (action !== 'bookmark' || !saysSo) return false;
  const { ids } = JSON.parse(readFileSync(disk.real(bookmarkPath), 'utf8')) as {
    ids: readonly (readonly [id: string, createdAt: number])[];
  };
  return ids.length > 0 && ids.every(([id]) => truth.leads.get(id)?.deletedAt !== undefined);
}

interface Finding {
  readonly type: string;
  readonly class: string;
  readonly id: string;
  readonly reason: string | null;
}

interface AuditEnd {
  readonly run: Run;
  readonly code: number;
  readonly now: number;
  /** What the inbox holds now. */
  readonly stored: ReadonlySet<string>;
  readonly settleMs: number;
}

/** In a run that takes longer, an answer may have taken too long to say how far the clocks are apart, in milliseconds. */
const tellingMs = 60_000;

/**
 * Exit 0 or 7 of an audit: what it calls missing is, and what is missing is called so, or stored now; after a long run it may be
 * called missing so far.
 */
export function checkAudit(truth: Truth, { run, code, now, stored, settleMs }: AuditEnd): void {
  const lines = run.process.stdout.split('\n').filter((line) => line !== '');
  const findings = lines.map((line) => JSON.parse(line) as Finding).filter(({ type }) => type === 'finding');
  const missing = new Set(findings.filter((finding) => finding.class === 'missing').map(({ id }) => id));
  const falseAlarms = [...missing].filter((id) => run.storedBefore.has(id) && !truth.erased.has(id));
  if (falseAlarms.length > 0)
    throw new Violation('audit-is-true', `called missing, and stored before: ${some(falseAlarms)}`);
  const soFar = new Set(findings.filter(({ reason }) => reason === 'missing so far').map(({ id }) => id));
  // A run that does not know how far the clocks are apart judges ages by the one here.
  const settledHere =
    now - run.startedAt > tellingMs ? run.startedAt + run.clockErrorMs - settleMs : Infinity;
  const unseen = [...truth.leads.values()].filter(
    ({ id, createdAt, deletedAt = Infinity }) =>
      createdAt < run.startedAt - 2 * settleMs &&
      deletedAt > now &&
      !truth.tried.has(id) &&
      !stored.has(id) &&
      (run.action === 'repair' || !missing.has(id)) &&
      !(soFar.has(id) && createdAt > settledHere),
  );
  if (unseen.length > 0) {
    throw new Violation(
      'audit-is-true',
      `never delivered, and ${run.action === 'repair' ? 'not stored' : 'not called missing'}: ${some(unseen.map(({ id }) => id))}`,
    );
  }
  if (code === 0 && run.action === 'audit' && missing.size > 0)
    throw new Violation('audit-is-true', 'exit 0 with missing leads');
}

/** An app believes only who knows the secret of the moment, whenever the lead came. */
export function checkSigned(id: string, credential: unknown): void {
  if (credential !== token)
    throw new Violation('forwards-are-signed', `${id} is handed on with the token ${String(credential)}`);
}

/** Who is handed a lead, and when. */
interface Handing extends Moment {
  readonly id: string;
  readonly target: TargetKind;
  /** Until when the world was disturbed in a way in which two attempts may be under way at a time. */
  readonly calmSince: number;
}

/** No target gets again what it has had, once that was said: what was under way then ends soon. */
export function checkHandedOnce(truth: Truth, { id, target, awakeMs, calmSince }: Handing): void {
  const done = truth.saidDone.get(pairOf(id, target));
  if (done === undefined || truth.erased.has(id)) return;
  if (done.now > calmSince || awakeMs - done.awakeMs > longestAttemptMs)
    throw new Violation('handed-on-once', `${target} is handed ${id} again, and has had it`);
}

/** No target gets what was erased: what was under way then ends soon. */
export function checkErasedStays(truth: Truth, { id, target, awakeMs }: Handing): void {
  const gone = truth.goneAt.get(id);
  if (gone !== undefined && awakeMs - gone.awakeMs > longestAttemptMs)
    throw new Violation('erased-is-not-sent', `${target} is handed ${id}, which was erased`);
}

/** An attempt takes half a minute at most, and may begin some seconds after its claim. */
const longestAttemptMs = 60_000;
