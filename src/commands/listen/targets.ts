import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import * as z from 'zod/mini';
import { isLoopback } from '../../config/base-url.ts';
import { interval, text, type ValueType } from '../../config/value-types.ts';
import { UsageError } from '../../errors.ts';
import type { Condition } from '../../lead/filter-condition.ts';
import { checkValue } from '../flags/command-spec.ts';
import { condition, httpUrl, writtenFile } from '../flags/flag-values.ts';
import { asUsageError, jsonOrFile } from '../flags/resolve-scheme.ts';
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
import { authorityFor } from '../../tls/local-authority.ts';

export interface TargetDefinition {
  readonly to: { readonly forward: URL } | { readonly exec: string } | { readonly output: string };
  /** The flag that names the target, for messages. */
  readonly flag: string;
  readonly when: readonly Condition[];
  readonly giveUpMs: number;
  readonly keepPath: boolean;
  /** Plain HTTP to another host is meant. */
  readonly insecure: boolean;
}

const defaults = {
  when: [],
  giveUpMs: defaultGiveUpMs,
  keepPath: false,
  insecure: false,
};

const textMember = z.optional(z.string('a text'));
const flagMember = z.optional(z.boolean('true or false'));

/** The message of each member says what its value must be. */
const shape = {
  forward: textMember,
  exec: textMember,
  output: textMember,
  when: z.optional(z.union([z.string(), z.array(z.string())], 'a condition, or a list of them')),
  giveUp: textMember,
  keepPath: flagMember,
  insecure: flagMember,
};
const schema = z.strictObject(shape);
type Members = z.infer<typeof schema>;
export const targetKeys = Object.keys(shape);

/** The targets that the flags name. Throws a `UsageError` for one that cannot be, and for two that are the same. */
export async function targetDefinitions(flags: ListenOptions): Promise<readonly TargetDefinition[]> {
  const written = await Promise.all(flags.target.map(readTarget));
  const targets: readonly TargetDefinition[] = [
    ...flags.forwardTo.map((forward) => ({ ...defaults, to: { forward }, flag: '--forward-to' })),
    ...flags.exec.map((exec) => ({ ...defaults, to: { exec }, flag: '--exec' })),
    ...flags.output.map((output) => ({ ...defaults, to: { output }, flag: '--output' })),
    ...written,
  ];
  const addresses = new Set<string>();
  for (const target of targets) {
    rejectPlainHttp(target);
    const address = await addressOf(target);
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
  const json = await jsonOrFile(typed, { where: '--target', kind: 'target' }).catch((error: unknown) => {
    throw asUsageError(error);
  });
  return targetIn(json);
}

function targetIn(json: unknown): TargetDefinition {
  const { forward, exec, output, when = [], giveUp, ...members } = membersOf(json);
  const { keepPath = false, insecure = false } = members;
  if ([forward, exec, output].filter((place) => place !== undefined).length !== 1) {
    throw new UsageError("--target: it has one of 'forward', 'exec' and 'output'", { hint: seeHelp });
  }
  const value = <T>(type: ValueType<T>, typed: string, key: string): T =>
    checkValue(type, typed, `--target: ${key}`) as T;
  const to =
    forward !== undefined
      ? { forward: value(httpUrl, forward, 'forward') }
      : exec !== undefined
        ? { exec: value(text, exec, 'exec') }
        : { output: value(writtenFile, output ?? '', 'output') };
  if (forward === undefined && (keepPath || insecure)) {
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
    when: [when].flat().map((typed) => value(condition, typed, 'when')),
    giveUpMs: giveUp === undefined ? defaults.giveUpMs : value(interval, giveUp, 'giveUp'),
  };
}

const seeHelp = "see 'leads help targets'";

/** No value is quoted: a URL may hold a password. */
function membersOf(json: unknown): Members {
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

/** A forward carries leads and the sender's credential. */
function rejectPlainHttp({ to, flag, insecure }: TargetDefinition): void {
  if (!('forward' in to) || insecure || to.forward.protocol !== 'http:' || isLoopback(to.forward.hostname)) {
    return;
  }
  throw new UsageError(
    `${flag}: ${to.forward.origin} is plain HTTP: leads and credentials would travel unencrypted`,
    {
      hint: `use https://, or --target '{"forward":"URL","insecure":true}' where the network is trusted`,
    },
  );
}

/** The same text for the same target, whatever its credentials are. */
async function addressOf({ to }: TargetDefinition): Promise<string> {
  if ('exec' in to) return `exec ${to.exec}`;
  if ('forward' in to) return `forward ${to.forward.origin}${to.forward.pathname}${to.forward.search}`;
  // A missing file has no real path. Two links to it look different here; the second is refused when its lock is taken.
  return `output ${await realpath(to.output).catch(() => resolve(to.output))}`;
}

const nameOf = ({ to }: TargetDefinition): string =>
  'forward' in to ? to.forward.origin : 'exec' in to ? 'that command' : to.output;

export interface OpenTargetOptions {
  readonly context: Context;
  /** Commands get this environment: it lacks the password of the inbox. */
  readonly commandEnv: Context['env'];
  readonly timeoutMs: number;
  readonly scheme: string;
  readonly host: string | undefined;
  readonly note: (note: ReceiverNote) => void;
  /** Aborts what targets have in flight; `context.signal` ends waits of this process. */
  readonly attemptsAborted: AbortSignal;
}

export async function openTarget(definition: TargetDefinition, options: OpenTargetOptions): Promise<Target> {
  const { when: where, giveUpMs } = definition;
  const { clock } = options.context;
  const unlimited = { categories: [], since: undefined, until: undefined };
  const takes: Target['takes'] =
    where.length === 0
      ? undefined
      : (lead) => leadMatcher({ ...unlimited, where, now: clock.now() }).matches(lead);
  return { ...(await openPlace(definition, options)), giveUpMs, takes };
}

async function openPlace(
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
