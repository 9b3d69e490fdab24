import type { Plan } from './plan.ts';

/** What `--inbox` is given. */
export const inboxPlace = ({ inbox }: Pick<Plan, 'inbox'>): string =>
  inbox === 'memory' ? ':memory:' : '/sim/inbox.db';
