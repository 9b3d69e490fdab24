import { Component, type VNode } from 'preact';
import type { WireRow } from '../../wire.ts';
import { Time } from '../elements.tsx';
import { openDelivery } from '../state/delivery-actions.ts';
import { useModel } from '../state/page-model.ts';
import { capitalized, deliveryTitle, plural } from '../text/format.ts';
import { ReceivedText } from '../text/received-text.tsx';
import { VerdictIcon } from '../text/verdict.tsx';

export const rowId = (seq: number): string => `row-${seq}`;

interface DeliveryRowProps {
  readonly row: WireRow;
  readonly index: number;
  /** px */
  readonly top: number;
  readonly now: number;
  /** What a search found it by. */
  readonly place: string | null;
  readonly isSelected: boolean;
  readonly isOpen: boolean;
}

export function DeliveryRow({ row, index, top, now, place, isSelected, isOpen }: DeliveryRowProps): VNode {
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
      <Cells row={row} now={now} place={place} />
    </div>
  );
}

type CellsProps = Pick<DeliveryRowProps, 'row' | 'now' | 'place'>;

/**
 * Drawn again only when one of them changed. Not by `useMemo`: an element that is kept keeps the list that it was first drawn
 * in, whose elements keep older lists, so that no row is ever freed.
 */
class Cells extends Component<CellsProps> {
  override shouldComponentUpdate({ row, now, place }: CellsProps): boolean {
    return row !== this.props.row || now !== this.props.now || place !== this.props.place;
  }

  override render({ row, now, place }: CellsProps): VNode {
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
          {place !== null ? (
            <span class="found-in">in {place}</span>
          ) : (
            row.category !== null && <ReceivedText text={row.category} />
          )}
        </span>
        <span
          role="gridcell"
          class={`row-attempts${row.failed > 0 ? ' has-failed' : ''}`}
          title={attemptTitle(row)}
        >
          {attemptText(row)}
        </span>
      </>
    );
  }
}

/** `attempt 3 · 1 failed`: nothing of what is ordinary. */
function attemptText({ attempt, failed, source }: WireRow): string {
  const parts = [];
  if (source !== 'push') parts.push(source);
  if (attempt > 1) parts.push(`attempt ${attempt}`);
  if (failed > 0) parts.push(`${failed} failed`);
  return parts.join(' · ');
}

/** Among the deliveries of one lead. */
export const attemptName = ({ attempt, source }: WireRow): string =>
  source === 'push' ? `attempt ${attempt}` : source;

function attemptTitle({ attempt, failed, delivered }: WireRow): string {
  const handedOn = [
    delivered > 0 ? `taken by ${plural(delivered, 'target')}` : '',
    failed > 0 ? `not taken by ${plural(failed, 'target')}` : '',
  ].filter((part) => part !== '');
  return [`attempt ${attempt}`, ...handedOn].join(', ');
}
