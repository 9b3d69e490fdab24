import { hostname } from 'node:os';
import type { Settings } from '../../config/load-settings.ts';
import type { Context } from '../../context.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import type { InboxLocation } from '../../inbox/open-inbox.ts';
import { CurrentKeys } from '../../receiver/credentials.ts';
import type { ReceiverNote } from '../../receiver/errors.ts';
import { ReceiverMetrics } from '../../receiver/receiver-metrics.ts';
import { repairOutputFile } from '../../receiver/targets/repair-output.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { withoutInboxPassword } from '../flags/resolve-inbox.ts';
import { leadPlaceOf } from '../flags/delivery-flags.ts';
import { resolveScheme } from '../flags/resolve-scheme.ts';
import type { ListenOptions } from './command.ts';
import { namedInbox, openListenInbox } from './listen-inbox.ts';
import type { RenewedFiles } from './renewed-files.ts';
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
  const namedLocation = await namedInbox(flags, settings, context);
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
  const opened = await openListenInbox(flags, context, {
    namedLocation,
    verifier,
    targets,
    attemptMs: settings.timeoutMs,
  });
  const { inbox } = opened;
  closers.push(() => inbox.close());
  const { idField } = leadPlaceOf(settings, flags.leadAt);
  for (const [i, { to }] of definitions.entries()) {
    const isCut = 'output' in to && (await repairOutputFile(to.output, inbox, idField, targetOptions.host));
    // The target opened the file before it was cut, and knows its old length.
    if (isCut) targets[i]?.reopen?.();
  }
  return { ...run, ...opened, note: targetOptions.note, verifier, targets, metrics, attemptsController };
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
