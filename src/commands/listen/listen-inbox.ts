import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Settings } from '../../config/load-settings.ts';
import type { Context } from '../../context.ts';
import { ConfigError, DataError, messageOf, noteText } from '../../errors.ts';
import { systemReason } from '../../files/errors.ts';
import { counted } from '../../output/terminal/progress.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import type { StoreOptions } from '../../inbox/store-options.ts';
import { type InboxLocation, openInbox } from '../../inbox/open-inbox.ts';
import { openHttpsServer } from '../../http/server/https-server.ts';
import type { HttpServer } from '../../http/server/server-options.ts';
import { openAdminServer } from '../../receiver/admin-server.ts';
import { inboxUp } from '../../receiver/backlog-metrics.ts';
import { answerForOutcome, rejection } from '../../webhook/delivery-answer.ts';
import { inboxRequirements } from '../../receiver/receiver.ts';
import type { Target } from '../../receiver/targets/target.ts';
import type { Verifier } from '../../webhook/scheme.ts';
import { inboxFlagsText, isInboxNamed, resolveInbox } from '../flags/resolve-inbox.ts';
import { openOnceThere } from '../flags/wait-for-database.ts';
import { certificateFor } from './certificate.ts';
import type { ListenOptions } from './command.ts';
import { canBeReread, type RenewedFiles } from './renewed-files.ts';

/** `attemptMs`: the longest time of an attempt at a target. */
interface ListenInboxParts {
  readonly namedLocation: InboxLocation | undefined;
  readonly verifier: Verifier;
  readonly targets: readonly Target[];
  readonly attemptMs: number;
}

/**
 * The inbox that a run continues: the one that is named, or else the profile's own. Undefined for a run that is for a test and
 * names none: it gets a new inbox in a temporary directory, so that no test meets the leads of another.
 */
export async function namedInbox(
  flags: ListenOptions,
  settings: Settings,
  context: Context,
): Promise<InboxLocation | undefined> {
  const isTemporary = isForTests(flags) && !isInboxNamed(flags, context.env);
  return isTemporary ? undefined : resolveInbox(flags, settings, context);
}

/**
 * Opens the inbox of one run, and notes which stored leads this run will not deliver. A run without an end waits for the database
 * of the inbox, and answers 503 meanwhile. Throws a `ConfigError` when the inbox cannot be opened.
 */
export async function openListenInbox(
  flags: ListenOptions,
  context: Pick<Context, 'paths' | 'clock' | 'signal' | 'messages'>,
  { namedLocation, verifier, targets, attemptMs }: ListenInboxParts,
) {
  const { clock, messages } = context;
  const location = namedLocation ?? (await createTemporaryInbox());
  const open = (warn: StoreOptions['warn']): Promise<Inbox> =>
    openInbox({ ...inboxRequirements(verifier, targets, attemptMs), location, clock, warn });
  const hasEnd = flags.for !== undefined || flags.count !== undefined;
  const inbox = hasEnd
    ? await open((warning) => messages.warn(noteText(warning)))
    : await openOnceThere(location, open, context, {
        message: ', and answers 503 meanwhile',
        begin: (whyNotReady) => answerMeanwhile(flags, context, whyNotReady),
      });
  const inboxFlags = inboxFlagsText(flags, inbox.location);
  noteNewTargets(inbox, inboxFlags, messages);
  try {
    await noteUndelivered(inbox, inboxFlags, messages).catch((error: unknown) => {
      // Only the notes are lacking: deliveries are received all the same.
      if (!(error instanceof DataError)) throw error;
      messages.warn(`what waits for a target is not known: ${messageOf(error)}`);
    });
    return { inbox, location, credentials: await credentialFile(location) };
  } catch (error) {
    await inbox.close();
    throw error;
  }
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

/** Names the targets that do not get the leads of before. `inboxFlags`: those that name this inbox, for a command in a note. */
function noteNewTargets(
  { newTargets }: Pick<Inbox, 'newTargets'>,
  inboxFlags: string,
  messages: Pick<Context['messages'], 'note'>,
): void {
  for (const target of newTargets) {
    const older = isForward(target)
      ? `: 'leads inbox retry ID --to URL${inboxFlags}' sends an older one`
      : '';
    messages.note(`new ${target}`, `${target} is new to this inbox, and gets new leads only${older}`);
  }
}

/**
 * Counts the leads that this run will not deliver: those that are dead for its targets, and those that wait for a target of
 * another run, such as an app that has another address or port now.
 */
async function noteUndelivered(
  inbox: Pick<Inbox, 'targetCounts'>,
  inboxFlags: string,
  messages: Pick<Context['messages'], 'note'>,
): Promise<void> {
  for (const { target, waiting, dead, isOwn } of await inbox.targetCounts()) {
    if (isOwn && dead > 0) {
      const leads = counted(dead, 'lead is', 'leads are');
      messages.note(
        `dead ${target}`,
        `${leads} dead for ${target}: 'leads inbox retry --pending${inboxFlags}' has this receiver try again`,
      );
    }
    if (isOwn) continue;
    const undelivered = waiting + dead;
    const leads = counted(undelivered, 'lead waits', 'leads wait');
    const next = isForward(target)
      ? `'leads inbox retry --pending --to URL${inboxFlags}' delivers ${undelivered === 1 ? 'it' : 'them'} to the address that the app has now`
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
