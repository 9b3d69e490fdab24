import { Component, type VNode } from 'preact';
import type { WireRow } from '../../wire.ts';
import { Time } from '../elements.tsx';
import { openDelivery } from '../state/delivery-actions.ts';
import { useModel } from '../state/page-model.ts';
import { capitalized, deliveryTitle } from '../text/format.ts';
import { ReceivedText } from '../text/received-text.tsx';
import { VerdictIcon } from '../text/verdict.tsx';

export const rowId = (seq: number): string => `row-${seq}`;

interface DeliveryRowProps {
  readonly row: WireRow;
  readonly index: number;
  /** px */
  readonly top: number;
  readonly now: number;
  readonly isSelected: boolean;
  readonly isOpen: boolean;
}

export function DeliveryRow({ row, index, top, now, isSelected, isOpen }: DeliveryRowProps): VNode {
  const model = useModel();
  return (
    <div
      id={rowId(row.seq)}
      role="row"
      class={`row is-${row.verdict}${isOpen ? ' is-open' : ''}`}
      aria-rowindex={index + 1}
      aria-selected={isSelected}
      style={{ top: `${top}px` }}
      onClick={() => openDelivery(model, row.seq)}
    >
      <Cells row={row} now={now} />
    </div>
  );
}

type CellsProps = Pick<DeliveryRowProps, 'row' | 'now'>;

/**
 * Drawn again only when one of them changed. Not by `useMemo`: an element that is kept keeps the list that it was first drawn
 * in, whose elements keep older lists, so that no row is ever freed.
 */
class Cells extends Component<CellsProps> {
  override shouldComponentUpdate({ row, now }: CellsProps): boolean {
    return row !== this.props.row || now !== this.props.now;
  }

  override render({ row, now }: CellsProps): VNode {
    return (
      <>
        <span role="gridcell" class="row-verdict">
          <VerdictIcon verdict={row.verdict} />
          <span>{capitalized(row.verdict)}</span>
        </span>
        <span role="gridcell" class="row-name">
          <ReceivedText text={deliveryTitle(row)} />
        </span>
        <span role="gridcell" class="row-time">
          <Time at={row.receivedAt} now={now} />
        </span>
        <span role="gridcell" class="row-id">
          {row.leadId !== null && row.leadId !== deliveryTitle(row) ? (
            <ReceivedText text={row.leadId} />
          ) : (
            row.reason
          )}
        </span>
        <span role="gridcell" class="row-category">
          {row.category !== null && <ReceivedText text={row.category} />}
        </span>
        <span role="gridcell" class={`row-attempts${row.dead > 0 ? ' has-failed' : ''}`}>
          {stateText(row)}
        </span>
      </>
    );
  }
}

/** `attempt 3 · 1 waiting`: where the delivery differs from a first one, and how far its lead is at the targets. */
function stateText({ attempt, source, done, waiting, dead }: WireRow): string {
  return [
    source === 'push' ? '' : source,
    attempt > 1 ? `attempt ${attempt}` : '',
    ...[[done, 'done'] as const, [waiting, 'waiting'] as const, [dead, 'dead'] as const].map(
      ([count, state]) => (count === 0 ? '' : `${count} ${state}`),
    ),
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

/** Among the deliveries of one lead. */
export const attemptName = ({ attempt, source }: WireRow): string =>
  source === 'push' ? `attempt ${attempt}` : source;
