import { mkdtemp } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Settings } from '../../config/load-settings.ts';
import type { Context } from '../../context.ts';
import { ConfigError, DataError, messageOf, noteText } from '../../errors.ts';
import { systemReason } from '../../files/errors.ts';
import { openHttpsServer } from '../../http/server/https-server.ts';
import type { HttpServer } from '../../http/server/server-options.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import { type InboxLocation, type InboxOptions, openInbox } from '../../inbox/open-inbox.ts';
import type { StoreOptions } from '../../inbox/store-options.ts';
import { counted } from '../../output/terminal/progress.ts';
import { openAdminServer } from '../../receiver/admin-server.ts';
import { CurrentKeys } from '../../receiver/credentials.ts';
import type { ReceiverNote } from '../../receiver/errors.ts';
import { inboxUp, ReceiverMetrics } from '../../receiver/receiver-metrics.ts';
import { inboxRequirements } from '../../receiver/receiver.ts';
import { repairOutputFile } from '../../receiver/targets/repair-output.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { answerForOutcome, rejection } from '../../webhook/delivery-answer.ts';
import { leadPlaceOf } from '../flags/delivery-flags.ts';
import {
  inboxFlagsText,
  isInboxNamed,
  openOnceThere,
  resolveInbox,
  withoutInboxPassword,
} from '../flags/resolve-inbox.ts';
import { resolveScheme } from '../flags/resolve-scheme.ts';
import type { ListenOptions } from './command.ts';
import { canBeReread, certificateFor, type RenewedFiles } from './renewed-files.ts';
import type { StopCondition } from './stop-condition.ts';
import { openTarget, type OpenTargetOptions, type TargetDefinition, targetDefinitions } from './targets.ts';

/** The steps that close a run, however it ends. They run in the reverse order of their addition. */
export type Closers = (() => Promise<void> | void)[];

/** A run before anything is open. */
export interface ListenRun {
  readonly flags: ListenOptions;
  readonly context: Context;
  readonly settings: Settings;
  readonly stop: StopCondition;
  readonly closers: Closers;
}

/** The values that the parts of one run share. */
export interface ListenSession extends ListenRun {
  readonly note: (note: ReceiverNote) => void;
  readonly verifier: CurrentKeys;
  readonly targets: readonly Target[];
  readonly inbox: Inbox;
  readonly location: InboxLocation;
  /** The file that holds the URL of the inbox, where its password may be renewed. */
  readonly credentials: RenewedFiles | undefined;
  readonly metrics: ReceiverMetrics | undefined;
  /** Aborts the attempts that the targets have in flight. */
  readonly attemptsController: AbortController;
}

/** Opens the targets that the flags name, and then the inbox. */
export async function openSession(run: ListenRun): Promise<ListenSession> {
  const { flags, context, settings, closers } = run;
  const verifier = new CurrentKeys(await resolveScheme(flags, settings, context));
  const definitions = await targetDefinitions(flags);
  // A run that is for a test, and names no inbox, gets a new one, so that no test meets the leads of another.
  const isTemporary = isForTests(flags) && !isInboxNamed(flags, context.env);
  const namedLocation = isTemporary ? undefined : await resolveInbox(flags, settings, context);
  const attemptsController = new AbortController();
  const targetOptions: OpenTargetOptions = {
    context,
    note: noteWith(context.messages),
    timeoutMs: settings.timeoutMs,
    commandEnv: withoutInboxPassword(flags, context.env),
    scheme: verifier.scheme.name,
    // Machines may share a database: the name of a file or a command in it says on which of them it is.
    host: typeof namedLocation === 'object' ? hostname() : undefined,
    attemptsAborted: attemptsController.signal,
  };
  const targets = await openTargets(definitions, targetOptions, closers);
  const metrics = flags.admin === undefined ? undefined : new ReceiverMetrics(targets);
  const location = namedLocation ?? (await createTemporaryInbox());
  const requirements = inboxRequirements(verifier, targets, settings.timeoutMs);
  const inbox = await openListenInbox(run, { ...requirements, location });
  const { idField } = leadPlaceOf(settings, flags.leadAt);
  for (const [i, { to }] of definitions.entries()) {
    const isCut = 'output' in to && (await repairOutputFile(to.output, inbox, idField, targetOptions.host));
    // The target opened the file before it was cut, and knows its old length.
    if (isCut) targets[i]?.reopen?.();
  }
  const credentials = await credentialFile(location);
  const opened = { verifier, targets, inbox, location, credentials, metrics, attemptsController };
  return { ...run, ...opened, note: targetOptions.note };
}

const noteWith =
  (messages: Context['messages']) =>
  ({ kind, cause = '', message, isWarning }: ReceiverNote): void => {
    if (isWarning === true) messages.warn(message);
    else messages.note(`${kind} ${cause}`, message);
  };

async function openTargets(
  definitions: readonly TargetDefinition[],
  options: OpenTargetOptions,
  closers: Closers,
): Promise<readonly Target[]> {
  const targets: Target[] = [];
  // SIGHUP: a file that logrotate has renamed is opened under its name.
  closers.push(options.context.onHangup(() => targets.forEach((target) => target.reopen?.())));
  closers.push(async () => {
    for (const target of targets) await target.close?.();
  });
  for (const definition of definitions) targets.push(await openTarget(definition, options));
  return targets;
}

/**
 * Opens the inbox of one run, and notes which stored leads this run will not deliver. A run without an end waits for the database
 * of the inbox, and answers 503 meanwhile. Throws a `ConfigError` when the inbox cannot be opened.
 */
async function openListenInbox(
  { flags, context, closers }: ListenRun,
  options: Omit<InboxOptions, 'clock' | 'warn'>,
): Promise<Inbox> {
  const { clock, messages } = context;
  const open = (warn: StoreOptions['warn']): Promise<Inbox> => openInbox({ ...options, clock, warn });
  const hasEnd = flags.for !== undefined || flags.count !== undefined;
  const inbox = hasEnd
    ? await open((warning) => messages.warn(noteText(warning)))
    : await openOnceThere(options.location, open, context, {
        message: ', and answers 503 meanwhile',
        begin: (whyNotReady) => answerMeanwhile(flags, context, whyNotReady),
      });
  closers.push(() => inbox.close());
  await noteUndelivered(inbox, inboxFlagsText(flags, inbox.location), messages);
  return inbox;
}

/** Answers that are under way have this time when the servers for the meantime are closed. */
const closeMs = 500;

/**
 * Answers deliveries and probes with 503, at the addresses that the receiver will have, until the function that it resolves to
 * is called. With port 0 there is nothing to answer: no sender can know a port that the system has yet to choose.
 */
async function answerMeanwhile(
  { host, port, admin, ...flags }: ListenOptions,
  context: Pick<Context, 'paths' | 'clock' | 'messages'>,
  whyNotReady: () => Promise<string>,
): Promise<() => Promise<void>> {
  const { clock, messages } = context;
  const onError = (error: unknown): void => messages.note('waiting', messageOf(error));
  const refused = rejection('cannot_store', 'the database of the inbox does not answer');
  const servers: HttpServer[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.close(closeMs)));
  };
  try {
    if (port !== 0) {
      const { tls } = await certificateFor(flags, context);
      const handle = () => Promise.resolve(answerForOutcome(refused));
      servers.push(
        await openHttpsServer({ host, port, tls, clock, checkHead: () => refused, handle, onError }),
      );
    }
    if (admin !== undefined && admin.port !== 0) {
      const metrics = () => Promise.resolve([inboxUp(0)]);
      const options = { ...admin, addressOption: 'admin', whyNotReady, metrics, clock, onError };
      servers.push(await openAdminServer(options));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return close;
}

/** The file of `--inbox @FILE`, whose password may be renewed; undefined for any other inbox. */
async function credentialFile(location: InboxLocation): Promise<RenewedFiles | undefined> {
  const file = typeof location === 'string' ? undefined : location.file;
  if (typeof location === 'string' || file === undefined || !(await canBeReread(file))) return undefined;
  const subject = 'the credentials of the inbox were';
  const { renewCredentials } = await import('../../inbox/postgres/open-session.ts');
  const use = async ([url]: readonly Buffer[]): Promise<string | undefined> =>
    (await renewCredentials(location, String(url).trim()))
      ? `${subject} renewed: new connections use the new ones`
      : undefined;
  return { subject, paths: [file], use };
}

const isForTests = ({ count, for: forMs, verify }: ListenOptions): boolean =>
  count !== undefined || forMs !== undefined || !verify;

const isForward = (target: string): boolean => target.startsWith('forward ');

/**
 * Names the targets that do not get the leads of before, and counts the leads that this run will not deliver: those that are dead
 * for its targets, and those that wait for a target of another run, such as an app that has another address or port now.
 * `inboxFlags`: those that name this inbox, for a command in a note.
 */
async function noteUndelivered(
  inbox: Pick<Inbox, 'newTargets' | 'targetCounts'>,
  inboxFlags: string,
  messages: Pick<Context['messages'], 'note' | 'warn'>,
): Promise<void> {
  for (const target of inbox.newTargets) {
    const retry = `'leads inbox retry ID --to URL${inboxFlags}'`;
    const older = isForward(target) ? `: ${retry} sends an older one` : '';
    messages.note(`new ${target}`, `${target} is new to this inbox, and gets new leads only${older}`);
  }
  const counts = await inbox.targetCounts().catch((error: unknown) => {
    // Only the notes are lacking: deliveries are received all the same.
    if (!(error instanceof DataError)) throw error;
    messages.warn(`what waits for a target is not known: ${messageOf(error)}`);
    return [];
  });
  const retry = `'leads inbox retry --pending`;
  for (const { target, waiting, dead, isOwn } of counts) {
    if (isOwn && dead > 0) {
      const leads = counted(dead, 'lead is', 'leads are');
      const advice = `${retry}${inboxFlags}' has this receiver try again`;
      messages.note(`dead ${target}`, `${leads} dead for ${target}: ${advice}`);
    }
    if (isOwn) continue;
    const undelivered = waiting + dead;
    const leads = counted(undelivered, 'lead waits', 'leads wait');
    const them = undelivered === 1 ? 'it' : 'them';
    const next = isForward(target)
      ? `${retry} --to URL${inboxFlags}' delivers ${them} to the address that the app has now`
      : 'a run that has that target tries again';
    messages.note(`waiting ${target}`, `${leads} for ${target}, which is no target of this run: ${next}`);
  }
}

/** The inbox stays after the run, for a person who looks at it. */
async function createTemporaryInbox(): Promise<string> {
  const parent = tmpdir();
  try {
    return join(await mkdtemp(join(parent, 'leads-inbox-')), 'inbox.db');
  } catch (cause) {
    throw new ConfigError(`cannot make an inbox in ${parent}: ${systemReason(cause)}`, {
      hint: 'name another directory in TMPDIR, or an inbox with --inbox',
      cause,
    });
  }
}
