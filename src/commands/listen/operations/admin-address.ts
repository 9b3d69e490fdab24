import type { ValueType } from '../../../config/value-types.ts';
import { isLoopback } from '../../../config/base-url.ts';
import { parseDuration } from '../../../time/duration.ts';

/** Where `--admin` listens. */
export interface AdminAddress {
  /** `::1` without brackets. */
  readonly host: string;
  readonly port: number;
}

const highestPort = 65_535;

/** `[HOST:]PORT`. */
export const adminAddress: ValueType<AdminAddress> = {
  parse(typed) {
    const [, bracketed, plain, digits] =
      /^(?:(?:\[([\da-fA-F:.]+)\]|([^\s:/@[\]]+)):)?(\d{1,5})$/.exec(typed) ?? [];
    const port = Number(digits ?? highestPort + 1);
    return port > highestPort ? undefined : { host: bracketed ?? plain ?? '127.0.0.1', port };
  },
  expected: 'a port such as 9090, or HOST:PORT such as 0.0.0.0:9090 or [::1]:9090',
};

/** Whether two hosts stand for an address in common, so that one port cannot be had for both. IPv6 without brackets. */
export const shareAddress = (one: string, other: string): boolean =>
  one === other || includesAddress(one, other) || includesAddress(other, one);

function includesAddress(host: string, other: string): boolean {
  if (host === '0.0.0.0') return !other.includes(':');
  return host === '::' || (host === 'localhost' && (other === '::1' || isLoopback(other)));
}

const longestDrainMs = 3_600_000;

/** Milliseconds. An hour at most: service managers kill a process that takes longer to stop. */
export const drainTime: ValueType<number> = {
  parse(typed) {
    const ms = parseDuration(typed);
    return ms === undefined || ms > longestDrainMs ? undefined : ms;
  },
  expected: 'a duration of an hour or less, such as 500ms, 30s or 5m',
};
