import { text } from '../../config/value-types.ts';
import { type Flags, inGroup, type OptionsOf } from './flag.ts';
import { condition, pointInTime } from './flag-values.ts';

/** Which leads: the same on every command that pulls. */
export const filterFlags = inGroup('Filters', {
  status: { value: 'status', type: text, help: 'as the service judges it, such as new' },
  category: { value: 'name', type: text, repeatable: true, known: 'categories', help: 'any of these' },
  since: { value: 'time', type: pointInTime, help: 'created then or later: 2026-01-31, yesterday, 7d' },
  until: { value: 'time', type: pointInTime, help: 'created before then' },
  where: {
    value: 'condition',
    type: condition,
    repeatable: true,
    known: 'conditions',
    help: 'PATH=VALUE; also != < <= > >=, and ~ for contains',
  },
}) satisfies Flags;

export type FilterOptions = OptionsOf<typeof filterFlags>;
