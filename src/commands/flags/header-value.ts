import type { ValueType } from '../../config/value-types.ts';
import { UsageError } from '../../errors.ts';

/** `--header 'Name: value'`, as node writes headers: a character of the value for each byte. */
export const headerValue: ValueType<readonly [name: string, value: string]> = {
  parse: (typed) => {
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):(.*)$/s.exec(typed) ?? [];

    if (name === undefined || value === undefined || /[\x00-\x08\x0a-\x1f\x7f]/.test(value)) {
      // Not quoted, as other flags are: a header may hold a credential.
      throw new UsageError('--header: that is no header', { hint: "write it as 'Name: value'" });
    }
    return [name, Buffer.from(value.trim(), 'utf8').toString('latin1')];
  },
  expected: "a header such as 'X-Source: test'",
};
