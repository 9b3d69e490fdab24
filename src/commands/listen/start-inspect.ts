import type { Context } from '../../context.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import { proxyFor } from '../../http/client/http-client.ts';
import { queriesInThisThread } from '../../inspect/queries/queries-in-this-thread.ts';
import { type ReplayTarget, replayTarget } from '../../inspect/replay/replay-target.ts';
import { Replayer } from '../../inspect/replay/replayer.ts';
import type { Receiver } from '../../receiver/create-receiver.ts';
import { rejectUnableToSign, type Signer } from '../../sender/sign-request.ts';
import { authorityFor } from '../../tls/local-authority.ts';
import type { Verifier } from '../../webhook/scheme.ts';
import { replayTargets } from '../inspect/replay-targets.ts';
import { openQueries, servePage } from '../inspect/serve-page.ts';
import type { ListenSession } from './session.ts';
import type { TargetDefinition } from './targets.ts';

/** `--inspect`: serves the page over the receiver's inbox until it is closed. */
export async function startInspect(
  { flags, context, verifier, definitions, inbox, location, stop: { signal } }: ListenSession,
  receiver: Pick<Receiver, 'events' | 'handAlone'>,
  port: number,
) {
  const signer = signerOf(verifier);
  const trustFlags = { ca: undefined, insecure: false };
  const targets = [
    ...(await forwards(definitions, signer, context, signal)),
    ...(await replayTargets(flags.replayTo, { signer, trustFlags, signal }, context)),
  ];
  // What is in memory has no other reader.
  const queries =
    location === ':memory:' ? queriesInThisThread(inbox) : await openQueries(location, context.clock);
  const replays = new Replayer({
    targets,
    useInbox: (_, use) => use(inbox),
    handAlone: receiver.handAlone,
    clock: context.clock,
  });
  const place = {
    ...{ location: inbox.location, queries, replays },
    receiver: flags.http ? ('http' as const) : ('https' as const),
  };
  const page = await servePage({ ...place, port, portOption: 'inspect', open: false }, context);
  const unsubscribe = receiver.events.subscribe(() => page.wake());
  return {
    async close(): Promise<void> {
      unsubscribe();
      await page.close();
    },
  };
}

/** The apps that leads are forwarded to, at the addresses under which the inbox knows them. */
async function forwards(
  definitions: readonly TargetDefinition[],
  signer: Signer | undefined,
  context: Context,
  signal: AbortSignal,
): Promise<readonly ReplayTarget[]> {
  const { clock, env, paths } = context;
  const { timeoutMs } = await context.settings();
  const targets: ReplayTarget[] = [];
  for (const { to, keepPath, where } of definitions) {
    if (!('forward' in to)) continue;
    const loopbackCa = await authorityFor(to.forward, paths.dataDir);
    const target = replayTarget({
      ...{ url: to.forward, keepPath: keepPath ? { urlSaidBy: where } : undefined },
      ...{ signer, timeoutMs, loopbackCa, signal },
      proxy: proxyFor(to.forward, env),
      now: () => clock.now(),
    });
    targets.push(target);
  }
  return targets;
}

/** The receiver's own secret signs where it can: what an app gets is then signed as what it gets from the service. */
function signerOf(verifier: Verifier): Signer | undefined {
  const { scheme, keys } = verifier;
  const [key] = keys;
  if (key === undefined) return undefined;
  try {
    rejectUnableToSign(scheme, key);
    return {
      scheme,
      get key() {
        return verifier.keys[0];
      },
    };
  } catch (error) {
    // A public key verifies only, and a scheme may sign what we do not send.
    if (error instanceof ConfigError || error instanceof UsageError) return undefined;
    throw error;
  }
}
