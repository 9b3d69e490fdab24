import type { Delivery } from '../delivery.ts';
import type { Authentic, Verifier } from '../scheme.ts';
import { checkTimestamp, type TimestampFormat } from '../timestamp.ts';
import { customFlags, isPlausible } from './custom-flags.ts';
import type { Finding, Search } from './finding.ts';
import { searchSignature } from './search-signature.ts';
import { keyForms } from './secret/key-forms.ts';

/** Why the time of an authentic delivery is rejected at `now` (ms): read in the wrong unit, or clocks that differ. */
export function explainTime(
  authentic: Authentic,
  delivery: Delivery,
  { scheme, keys }: Verifier,
  now: number,
  search: Search,
): Finding | undefined {
  const { timestamp, expires } = authentic;
  if (timestamp === undefined || checkTimestamp(authentic, scheme.toleranceMs, now).ok) return undefined;
  const inUnit = (read: string, format: TimestampFormat): Finding => {
    const unit = format === 'unix' ? 'seconds' : format;
    const what = `The signature matches; its time is in ${unit} and was read as ${read}`;
    if (scheme.name === 'custom') return { what: `${what}.`, flags: `--timestamp-format ${format}` };
    const match = searchSignature(delivery, keyForms(keys), search);
    return {
      what: `${what}: ${scheme.name} signs another unit.`,
      flags: match && customFlags(match, scheme.name),
    };
  };
  if (!isPlausible(timestamp) && isPlausible(timestamp / 1000)) return inUnit('seconds', 'milliseconds');
  if (!isPlausible(timestamp) && isPlausible(timestamp * 1000)) return inUnit('milliseconds', 'unix');
  const captureFlags =
    expires !== undefined && now >= expires
      ? undefined
      : `--tolerance ${toleranceFor(Math.abs(now - timestamp))}`;
  if (timestamp > now) {
    return {
      what: 'The signature matches; only its time is ahead: compare the clocks of the sender and of this machine.',
      captureFlags,
    };
  }
  return {
    what: 'The signature matches; only its time is too old: a delivery sent again as it was, a slow queue, or clocks that differ.',
    captureFlags,
  };
}

/** A duration that still covers an age a minute later, in the largest unit that fits. */
function toleranceFor(ageMs: number): string {
  const [name, size] = units.find(([, least]) => ageMs >= 2 * least) ?? (['s', 1000] as const);
  return `${Math.ceil((ageMs + 60_000) / size)}${name}`;
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;
