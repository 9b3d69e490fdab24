import { ConfigError } from '../../errors.ts';
import type { Slot } from './template.ts';

/** Where a scheme finds what it signs besides the request. */
interface Sources {
  readonly timestampHeader?: string | undefined;
  readonly timestampPrefix?: string | undefined;
  readonly nonceHeader?: string | undefined;
}

/**
 * Throws a `ConfigError` where a time or nonce is sent but not signed, or signed but not sent. One that is not signed
 * proves nothing: an attacker who replays a delivery can write a new one.
 */
export function rejectUnsigned(sources: Sources, slots: ReadonlySet<Slot>): void {
  const { timestampHeader, timestampPrefix, nonceHeader } = sources;
  if (timestampHeader !== undefined && timestampPrefix !== undefined) {
    throw new ConfigError(
      'the signed time has two sources, a header of its own and the one of the signature',
      {
        hint: 'give --timestamp-header or --timestamp-prefix',
      },
    );
  }
  requireBoth('timestamp', slots.has('timestamp'), timestampHeader ?? timestampPrefix);
  requireBoth('nonce', slots.has('nonce') || slots.has('id'), nonceHeader);
}

function requireBoth(what: 'timestamp' | 'nonce', isSigned: boolean, source: string | undefined): void {
  if (isSigned && source === undefined) {
    throw new ConfigError(`the signed content holds {${what}}, but no header is named that carries it`, {
      hint: `name it with --${what}-header`,
    });
  }
  if (!isSigned && source !== undefined) {
    throw new ConfigError(`the ${what} is not part of the signed content, so it proves nothing`, {
      hint: `add {${what}} to --signed-content, or leave out --${what}-header`,
    });
  }
}
