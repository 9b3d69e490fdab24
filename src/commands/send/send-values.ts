import type { ValueType } from '../../config/value-types.ts';
import type { MemberChange } from '../../json/members.ts';
import { jsonIn } from '../../json/exact.ts';

/** `--set PATH=VALUE`: a JSON literal if the value is one, else a string. */
export const memberValue: ValueType<MemberChange> = {
  parse: (typed) => {
    const equals = typed.indexOf('=');
    const path = pathOf(typed.slice(0, Math.max(0, equals)));
    return path && { path, value: literalOf(typed.slice(equals + 1)) };
  },
  expected: 'PATH=VALUE such as contact.email=ann@example.com or score=0.5',
};

export const memberPath: ValueType<MemberChange> = {
  parse: (typed) => {
    const path = pathOf(typed);
    return path && { path, value: undefined };
  },
  expected: 'a path such as contact.phone',
};

function pathOf(typed: string): string[] | undefined {
  const path = typed.trim().split('.');
  return path.includes('') ? undefined : path;
}

const literalOf = (text: string): string => (jsonIn(text) === undefined ? JSON.stringify(text) : text.trim());
