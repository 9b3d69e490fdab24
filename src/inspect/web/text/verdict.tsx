import type { VNode } from 'preact';
import type { WireListFilter } from '../../wire.ts';
import { Icon } from '../elements.tsx';
import { capitalized } from './format.ts';

/** Told apart by their shapes, too. */
const shapes: Record<WireListFilter, string> = {
  accepted: 'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13M5 8.2l2.1 2.1L11 6',
  duplicate: 'M5.5 5.5h8v8h-8zM10.5 5.3V2.5h-8v8h2.8',
  waiting: 'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13M8 4.5V8l2.3 1.6',
  dead: 'M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13M5 8h6',
  rejected: 'M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3zM5.8 5.8l4.4 4.4m0-4.4-4.4 4.4',
  other: 'M8 1.5 14.5 8 8 14.5 1.5 8zM5.5 8h5',
};

export function VerdictIcon({ verdict }: { verdict: WireListFilter }): VNode {
  return (
    <Icon of={` verdict-icon is-${verdict}`}>
      <path d={shapes[verdict]} />
    </Icon>
  );
}

export function VerdictBadge({ verdict }: { verdict: WireListFilter }): VNode {
  return (
    <span class={`verdict is-${verdict}`}>
      <VerdictIcon verdict={verdict} />
      {capitalized(verdict)}
    </span>
  );
}
