import type { Plan } from './plan.ts';

/** What `--inbox` is given. */
export function inboxPlace({ inbox }: Pick<Plan, 'inbox'>): string {
  if (inbox === 'memory') return ':memory:';
  return inbox === 'database' ? 'postgres://sim/leads' : '/sim/inbox.db';
}
