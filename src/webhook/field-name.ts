import { ConfigError } from '../errors.ts';

/** The name of a header in lower case (RFC 9110, section 5.1). Throws a `ConfigError` for what is none. */
export function fieldName(name: string): string {
  if (/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return name.toLowerCase();
  throw new ConfigError(`'${name}' is not the name of a header`);
}
