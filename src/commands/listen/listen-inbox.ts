import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Settings } from '../../config/load-settings.ts';
import type { Context } from '../../context.ts';
import { ConfigError, DataError, messageOf, noteText } from '../../errors.ts';
import { counted } from '../../output/terminal/progress.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import type { StoreOptions } from '../../inbox/store-options.ts';
import { type InboxLocation, openInbox } from '../../inbox/open-inbox.ts';
import { openHttpsServer } from '../../http/server/https-server.ts';
import type { HttpServer } from '../../http/server/server-options.ts';
import { openAdminServer } from '../../receiver/admin-server.ts';
import { inboxUp } from '../../receiver/backlog-metrics.ts';
import { answerForOutcome, rejection } from '../../webhook/delivery-answer.ts';
import { inboxRequirements } from '../../receiver/inbox-requirements.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { slept } from '../../time/clock.ts';
import type { Verifier } from '../../webhook/scheme.ts';
import { inboxWords, isInboxNamed, resolveInbox } from '../flags/resolve-inbox.ts';
import { openOnceThere } from '../flags/wait-for-database.ts';
import { certificateFor } from './certificate.ts';
import type { ListenOptions } from './command.ts';
import { isReadAgain, type RenewedFiles } from './renewed-files.ts';

interface ListenInboxParts {
  readonly namedLocation: InboxLocation | undefined;
  readonly verifier: Verifier;
  readonly targets: readonly Target[];
  /** How long an attempt at a target lasts at most, in milliseconds. */
  readonly attemptMs: number;
}

/** The inbox that a run continues; undefined for one that gets an inbox of its own. */
export const namedInbox = async (
  flags: ListenOptions,
  settings: Settings,
  context: Context,
): Promise<InboxLocation | undefined> => {
  const isNamed = !isForTests(flags) || isInboxNamed(flags, context.env);
  return isNamed ? resolveInbox(flags, settings, context) : undefined;
};

/** Opens the inbox of one run. Throws a `ConfigError` when it cannot be opened. */
export async function openListenInbox(
  flags: ListenOptions,
  context: Pick<Context, 'paths' | 'clock' | 'signal' | 'messages'>,
  { namedLocation, verifier, targets, attemptMs }: ListenInboxParts,
) {
  const { clock, messages } = context;
  const location = namedLocation ?? (await createTemporaryInbox());
  const open = (warn: StoreOptions['warn']): Promise<Inbox> =>
    openInbox({ ...inboxRequirements(verifier, targets, attemptMs), location, clock, warn });
  const isShort = flags.for !== undefined || flags.count !== undefined;
  const inbox = isShort
    ? await open((warning) => messages.warn(noteText(warning)))
    : await openOnceThere(location, open, context, {
        message: ', and answers 503 meanwhile',
        begin: (whyNotReady) => answerMeanwhile(flags, context, whyNotReady),
      });
  try {
    await noteWaiting(inbox, inboxWords(flags, inbox.location), messages);
  } catch (error) {
    // It is only said, and leads are taken all the same.
    if (!(error instanceof DataError)) throw error;
    messages.warn(`what waits for a target is not known: ${messageOf(error)}`);
  }
  return {
    inbox,
    location,
    credentials: await credentialFile(location),
  };
}

/** Answers that are under way get so long, in milliseconds. */
const closeMs = 500;

/**
 * Answers deliveries and probes with 503 until the function that it resolves to is called. On the addresses that the receiver
 * will have; a port that the system chooses is not known to anybody yet.
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

async function credentialFile(location: InboxLocation): Promise<RenewedFiles | undefined> {
  const file = typeof location === 'string' ? undefined : location.file;
  if (typeof location === 'string' || file === undefined || !(await isReadAgain(file))) return undefined;
  const subject = 'the credentials of the inbox were';
  const { renewCredentials } = await import('../../inbox/postgres/open-session.ts');
  const use = async ([url]: readonly Buffer[]): Promise<string | undefined> =>
    (await renewCredentials(location, String(url).trim()))
      ? `${subject} renewed: new connections use the new ones`
      : undefined;
  return { subject, paths: [file], use };
}

/** A run for a test gets a new inbox, but still on disk; any other continues the one that the last run used. */
const isForTests = ({ count, for: forMs, verify }: ListenOptions): boolean =>
  count !== undefined || forMs !== undefined || !verify;

/**
 * Says what this run will not deliver: what is dead, what waits for a target of another run, such as an app at another address,
 * its port included, and leads that came before a target was added. `where`: the flags that name this inbox.
 */
async function noteWaiting(
  inbox: Pick<Inbox, 'targetCounts' | 'newTargets'>,
  where: string,
  messages: Pick<Context['messages'], 'note'>,
): Promise<void> {
  for (const target of inbox.newTargets) {
    const older = target.startsWith('forward ')
      ? `: 'leads inbox retry ID --to URL${where}' sends an older one`
      : '';
    messages.note(`new ${target}`, `${target} is new to this inbox, and gets new leads only${older}`);
  }
  for (const { target, waiting, dead, isOwn } of await inbox.targetCounts()) {
    if (isOwn && dead > 0) {
      const leads = counted(dead, 'lead is', 'leads are');
      messages.note(
        `dead ${target}`,
        `${leads} dead for ${target}: 'leads inbox retry --pending${where}' has this receiver try again`,
      );
    }
    if (isOwn) continue;
    const leads = counted(waiting + dead, 'lead waits', 'leads wait');
    const next = target.startsWith('forward ')
      ? `'leads inbox retry --pending --to URL${where}' delivers ${waiting + dead === 1 ? 'it' : 'them'} to the address that the app has now`
      : 'a run that has that target tries again';
    messages.note(`waiting ${target}`, `${leads} for ${target}, which is no target of this run: ${next}`);
  }
}

/** Makes a directory for the inbox of this run in the system's temporary one, where it stays for people who look at it. */
async function createTemporaryInbox(): Promise<string> {
  const parent = tmpdir();
  try {
    return join(await mkdtemp(join(parent, 'leads-inbox-')), 'inbox.db');
  } catch (cause) {
    throw new ConfigError(`cannot make an inbox in ${parent}: ${messageOf(cause)}`, {
      hint: 'name another directory in TMPDIR, or an inbox with --inbox',
      cause,
    });
  }
}

/** `--retain`: drops deliveries that are older than that, now and from time to time, until `signal` aborts. */
export async function dropOldDeliveries(
  inbox: Pick<Inbox, 'prune'>,
  retainMs: number,
  { clock, messages }: Pick<Context, 'clock' | 'messages'>,
  signal: AbortSignal,
): Promise<void> {
  const pauseMs = Math.min(3_600_000, Math.max(60_000, retainMs / 10));
  do {
    try {
      await inbox.prune(clock.now() - retainMs);
    } catch (error) {
      messages.note('retain', `old deliveries were not dropped: ${messageOf(error)}`);
    }
  } while (await slept(clock, pauseMs, signal));
}
