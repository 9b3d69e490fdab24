import { ConfigError } from '../../errors.ts';
import { parsePointer } from '../../json/exact.ts';
import type { Policy } from '../../webhook/check-delivery.ts';

/** Where the leads are in a body: `auto`, or a JSON Pointer (RFC 6901), of which an empty one is the body. */
export function leadPlace(leadAt = 'auto'): Pick<Policy, 'leadAt' | 'leadAtSaidBy'> {
  const place = leadAt === 'auto' ? leadAt : parsePointer(leadAt);
  if (place !== undefined) return { leadAt: place, leadAtSaidBy: 'leadAt' };
  throw new ConfigError(`leadAt '${leadAt}' is no JSON Pointer`, { hint: "such as '/data', or 'auto'" });
}
