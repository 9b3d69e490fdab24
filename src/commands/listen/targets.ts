import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import * as z from 'zod/mini';
import { interval, text, type ValueType } from '../../config/value-types.ts';
import { UsageError } from '../../errors.ts';
import type { Condition } from '../../lead/filter-condition.ts';
import { checkValue } from '../flags/command-spec.ts';
import { rejectPlainHttp } from '../flags/delivery-target.ts';
import { condition, httpUrl, writtenFile } from '../flags/flag-values.ts';
import { jsonOrFile, throwAsUsageError } from '../flags/resolve-scheme.ts';
import { didYouMean } from '../../output/suggest.ts';
import type { ListenOptions } from './command.ts';
import type { Context } from '../../context.ts';
import { proxyFor } from '../../http/client/proxy.ts';
import { trustIn } from '../../http/client/trust.ts';
import { leadMatcher } from '../../lead/filter.ts';
import type { ReceiverNote } from '../../receiver/errors.ts';
import { defaultGiveUpMs } from '../../receiver/target-health.ts';
import { openAppendTarget } from '../../receiver/targets/append.ts';
import { execTarget } from '../../receiver/targets/exec.ts';
import { forwardTarget } from '../../receiver/targets/forward.ts';
import type { Target } from '../../receiver/targets/target.ts';
import type { Clock } from '../../time/clock.ts';
import { authorityFor } from '../../tls/local-authority.ts';

/**
 * A target as a flag declares it: the URL, command or file that leads are delivered to, and how.
 * - `flag`: the flag, for messages
 * - `when`: all of these conditions must hold for a lead to be delivered
 * - `giveUpMs`: the time after which a lead that could not be delivered is dead
 * - `keepPath`: the path and the query of each delivery are appended to the URL
 * - `insecure`: plain HTTP to another machine is allowed
 */
export interface TargetDefinition {
  readonly to: { readonly forward: URL } | { readonly exec: string } | { readonly output: string };
  readonly flag: string;
  readonly when: readonly Condition[];
  readonly giveUpMs: number;
  readonly keepPath: boolean;
  readonly insecure: boolean;
}

const defaults = { when: [], giveUpMs: defaultGiveUpMs, keepPath: false, insecure: false };

const textMember = z.optional(z.string('a text'));
const flagMember = z.optional(z.boolean('true or false'));

/** The JSON object of `--target`. The message of each member says what its value must be. */
const members = {
  forward: textMember,
  exec: textMember,
  output: textMember,
  when: z.optional(z.union([z.string(), z.array(z.string())], 'a condition, or a list of them')),
  giveUp: textMember,
  keepPath: flagMember,
  insecure: flagMember,
};
const schema = z.strictObject(members);
type TargetMembers = z.infer<typeof schema>;
export const targetKeys = Object.keys(members);

const plainHttpHint = `use https://, or --target '{"forward":"URL","insecure":true}' where the network is trusted`;

/** The targets that the flags name. Throws a `UsageError` for one that cannot be, and for two that are the same. */
export async function targetDefinitions(flags: ListenOptions): Promise<readonly TargetDefinition[]> {
  const targets: readonly TargetDefinition[] = [
    ...flags.forwardTo.map((forward) => ({ ...defaults, to: { forward }, flag: '--forward-to' })),
    ...flags.exec.map((exec) => ({ ...defaults, to: { exec }, flag: '--exec' })),
    ...flags.output.map((output) => ({ ...defaults, to: { output }, flag: '--output' })),
    ...(await Promise.all(flags.target.map(readTarget))),
  ];
  const addresses = new Set<string>();
  for (const target of targets) {
    if ('forward' in target.to && !target.insecure)
      rejectPlainHttp(target.to.forward, plainHttpHint, `${target.flag}: `);
    const address = await comparableAddress(target);
    if (addresses.has(address)) {
      throw new UsageError(`${target.flag}: ${nameOf(target)} is a target already`, {
        hint: 'each target gets a lead once',
      });
    }
    addresses.add(address);
  }
  return targets;
}

async function readTarget(typed: string): Promise<TargetDefinition> {
  const json = await jsonOrFile(typed, { where: '--target', kind: 'target' }).catch(throwAsUsageError);
  return definitionOf(membersOf(json));
}

function definitionOf(typed: TargetMembers): TargetDefinition {
  const { when = [], giveUp, keepPath = false, insecure = false } = typed;
  const to = destinationOf(typed);
  if (!('forward' in to) && (keepPath || insecure)) {
    throw new UsageError("--target: 'keepPath' and 'insecure' need 'forward'");
  }
  if (keepPath && 'forward' in to && to.forward.search !== '') {
    throw new UsageError("--target: 'keepPath' keeps the query of each delivery: leave it out of the URL");
  }
  return {
    to,
    flag: '--target',
    keepPath,
    insecure,
    when: [when].flat().map((typedCondition) => checkMember(condition, typedCondition, 'when')),
    giveUpMs: giveUp === undefined ? defaults.giveUpMs : checkMember(interval, giveUp, 'giveUp'),
  };
}

function destinationOf({ forward, exec, output }: TargetMembers): TargetDefinition['to'] {
  const destinations = [forward, exec, output].filter((value) => value !== undefined);
  if (destinations.length === 1) {
    if (forward !== undefined) return { forward: checkMember(httpUrl, forward, 'forward') };
    if (exec !== undefined) return { exec: checkMember(text, exec, 'exec') };
    if (output !== undefined) return { output: checkMember(writtenFile, output, 'output') };
  }
  throw new UsageError("--target: it has one of 'forward', 'exec' and 'output'", { hint: seeHelp });
}

const checkMember = <T>(type: ValueType<T>, typed: string, key: string): T =>
  checkValue(type, typed, `--target: ${key}`) as T;

const seeHelp = "see 'leads help targets'";

/** Throws a `UsageError` that quotes no value: a URL may hold a password. */
function membersOf(json: unknown): TargetMembers {
  const read = schema.safeParse(json);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  if (issue?.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    const allKeys = `the keys are ${targetKeys.join(', ')}`;
    throw new UsageError(`--target: '${key}' is no key of a target`, {
      hint: didYouMean(key, targetKeys) ?? allKeys,
    });
  }
  const [key] = issue?.path ?? [];
  throw new UsageError(
    key === undefined
      ? '--target: that is no JSON object'
      : `--target: the value of '${String(key)}' must be ${issue?.message ?? ''}`,
    { hint: seeHelp },
  );
}

/** The same text for the same target, whatever its credentials are. */
async function comparableAddress({ to }: TargetDefinition): Promise<string> {
  if ('exec' in to) return `exec ${to.exec}`;
  if ('forward' in to) return `forward ${to.forward.origin}${to.forward.pathname}${to.forward.search}`;
  // A missing file has no real path: two links to it look different here, and the second is refused when its file is locked.
  return `output ${await realpath(to.output).catch(() => resolve(to.output))}`;
}

/** How messages call a target: a URL may hold a password, and so may a command. */
function nameOf({ to }: TargetDefinition): string {
  if ('forward' in to) return to.forward.origin;
  return 'exec' in to ? 'that command' : to.output;
}

/**
 * - `commandEnv`: the environment of commands, which lacks the password of the inbox
 * - `timeoutMs`: the longest time of one attempt
 * - `scheme`: the name of the scheme that verifies deliveries
 * - `host`: this machine, if the inbox may be shared with others
 * - `attemptsAborted`: aborts the attempts in flight; `context.signal` only ends the wait for the lock of a file
 */
export interface OpenTargetOptions {
  readonly context: Context;
  readonly commandEnv: Context['env'];
  readonly timeoutMs: number;
  readonly scheme: string;
  readonly host: string | undefined;
  readonly note: (note: ReceiverNote) => void;
  readonly attemptsAborted: AbortSignal;
}

export async function openTarget(definition: TargetDefinition, options: OpenTargetOptions): Promise<Target> {
  const { when, giveUpMs } = definition;
  const takes = when.length === 0 ? undefined : matcherOf(when, options.context.clock);
  return { ...(await openDestination(definition, options)), giveUpMs, takes };
}

/** A filter is made for each lead, since durations such as `7d` in a condition count from its `now`. */
function matcherOf(where: readonly Condition[], clock: Pick<Clock, 'now'>): NonNullable<Target['takes']> {
  const unlimited = { categories: [], since: undefined, until: undefined };
  return (lead) => leadMatcher({ ...unlimited, where, now: clock.now() }).matches(lead);
}

async function openDestination(
  { to, keepPath }: TargetDefinition,
  { context, commandEnv, timeoutMs, scheme, host, note, attemptsAborted }: OpenTargetOptions,
): Promise<Target> {
  const { clock, killGroup, messages, paths, pid } = context;
  if ('exec' in to) {
    const signal = attemptsAborted;
    return execTarget({ host, timeoutMs, signal, command: to.exec, env: commandEnv, messages, killGroup });
  }
  if ('output' in to) {
    return openAppendTarget(to.output, { host, pid, clock, signal: context.signal, note });
  }
  return forwardTarget({
    timeoutMs,
    scheme,
    signal: attemptsAborted,
    url: to.forward,
    keepPath,
    proxy: proxyFor(to.forward, context.env),
    trust: trustIn(await authorityFor(to.forward, paths.dataDir)),
    now: () => clock.now(),
  });
}
