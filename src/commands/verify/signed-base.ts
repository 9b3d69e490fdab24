import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { type Secret, withoutSecrets } from '../../secret.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import { compareBases, messageBase } from '../../webhook/rfc9421/message-base.ts';
import type { VerifyOptions } from './options.ts';
import { readBounded } from './input/read-bounded.ts';
import type { Check } from './report/report.ts';

/** What `--show-base` and `--their-base` ask for; nothing where neither is given. Without the secrets, if it holds one. */
export async function signedBase(
  { showBase, theirBase }: VerifyOptions,
  scheme: string,
  delivery: Delivery,
  secrets: readonly Secret[],
  context: Context,
): Promise<{ readonly base?: string; readonly checks: readonly Check[] }> {
  if (!showBase && theirBase === undefined) return { checks: [] };
  if (scheme !== 'rfc9421') {
    throw new UsageError(
      `--${showBase ? 'show' : 'their'}-base belongs to --scheme rfc9421, and the scheme is '${scheme}'`,
    );
  }
  const found = messageBase(delivery);
  if (found?.base === undefined) {
    const detail =
      found === undefined
        ? 'there is no signature base: signature-input and signature name no signature that can be read'
        : `there is no signature base: ${found.missing ?? 'a component'} is not in the request`;
    return { checks: [{ name: 'base', ok: false, detail }] };
  }
  // Before they are compared: what is shown of a long line may end in the middle of a secret.
  const redact = (bytes: Buffer): Buffer =>
    Buffer.from(withoutSecrets(bytes.toString('latin1'), secrets, '[redacted]'), 'latin1');
  const ours = redact(found.base);
  const base = ours.toString('utf8');
  if (theirBase === undefined) return { base, checks: [] };
  const difference = compareBases(ours, redact(await readBounded(theirBase, 'the base', context)));
  const check: Check =
    difference === undefined
      ? { name: 'base', ok: true, detail: 'theirs is the same: the keys differ, or the algorithms' }
      : { name: 'base', ok: false, detail: difference };
  return { ...(showBase && { base }), checks: [check] };
}
