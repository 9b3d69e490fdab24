import type { Context } from '../../context.ts';
import { type ReplayTarget, replayTarget } from '../../inspect/replay/replay-target.ts';
import type { Signer } from '../../sender/sign-request.ts';
import { resolveSigner } from '../flags/resolve-scheme.ts';
import { resolveTarget } from '../flags/resolve-target.ts';
import type { TrustOptions, SchemeOptions } from '../flags/shared-flags.ts';

interface ReplayTargetsOptions {
  readonly signer: Signer | undefined;
  readonly trustFlags: TrustOptions;
  /** Aborts what is in flight. */
  readonly signal: AbortSignal;
}

/** The targets of `--replay-to`. Throws a `UsageError` for plain HTTP beyond this machine. */
export async function replayTargets(
  urls: readonly URL[],
  { signer, trustFlags, signal }: ReplayTargetsOptions,
  context: Context,
): Promise<readonly ReplayTarget[]> {
  const { clock } = context;
  const { timeoutMs } = await context.settings();
  const common = { signer, timeoutMs, loopbackCa: undefined, now: () => clock.now(), signal };
  return Promise.all(
    urls.map(async (url) => {
      const { proxy, trust } = await resolveTarget(url, trustFlags, context);
      return replayTarget({ ...common, url, proxy, trust });
    }),
  );
}

/** As `send` signs; undefined where neither a flag, nor the environment, nor the profile says how. */
export async function replaySigner(options: SchemeOptions, context: Context): Promise<Signer | undefined> {
  const settings = await context.settings();
  const { scheme, token, tokenFile, secret, secretFile, verify } = options;
  const isGiven =
    [token, tokenFile, secret, secretFile].some((list) => list.length > 0) ||
    [scheme, settings.webhookScheme, settings.webhookToken].some((one) => one !== undefined);
  return isGiven && verify ? resolveSigner(options, context) : undefined;
}
