import type { WireRow } from '../../wire.ts';
import { plural } from '../text/shown-size.ts';

/** `attempt 3 · 1 failed`: nothing of what is ordinary. */
export function attemptText({ attempt, failed, source }: WireRow): string {
  const parts = [];
  if (source !== 'push') parts.push(source);
  if (attempt > 1) parts.push(`attempt ${attempt}`);
  if (failed > 0) parts.push(`${failed} failed`);
  return parts.join(' · ');
}

/** Among the deliveries of one lead. */
export const attemptName = ({ attempt, source }: WireRow): string =>
  source === 'push' ? `attempt ${attempt}` : source;

export function attemptTitle({ attempt, failed, delivered }: WireRow): string {
  const handedOn = [
    delivered > 0 ? `taken by ${plural(delivered, 'target')}` : '',
    failed > 0 ? plural(failed, 'failed try', 'failed tries') : '',
  ].filter((part) => part !== '');
  return [`attempt ${attempt}`, ...handedOn].join(', ');
}
