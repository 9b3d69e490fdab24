import type { SeenLead } from './seen-page.ts';

export type LeadOrder = 'newest first' | 'oldest first' | 'neither by time' | 'unknown';

/** In which order a page lists its leads, by their time of creation. */
export function orderOf(leads: readonly SeenLead[]): LeadOrder {
  const times = leads.flatMap(({ createdAt }) => createdAt ?? []);
  const steps = times.slice(1).map((time, i) => time - (times[i] ?? time));
  if (steps.every((step) => step === 0)) return 'unknown';
  if (steps.every((step) => step <= 0)) return 'newest first';
  return steps.every((step) => step >= 0) ? 'oldest first' : 'neither by time';
}
