import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { WireDelivery, WireFound, WireRow } from '../../wire.ts';
import { problemOf } from '../api-client/problem.ts';
import { Time } from '../elements.tsx';
import { attemptName } from '../list/delivery-row.tsx';
import { orderedPair } from '../panes/delivery-sections.tsx';
import { focusOn } from '../state/delivery-actions.ts';
import { useModel } from '../state/page-model.ts';
import { go } from '../state/route.ts';
import { deliveryTitle } from '../text/format.ts';
import { ReceivedText } from '../text/received-text.tsx';
import { VerdictBadge } from '../text/verdict.tsx';
import { Dialog, Option, Options } from './dialog.tsx';

/** With which one: what is searched for; else the other deliveries of this lead, then the ones around it in the list. */
export function CompareDialog({ delivery }: { delivery: WireDelivery }): VNode {
  const model = useModel();
  const { ofLead, around } = comparable(delivery, model.rows);
  const [text, setText] = useState('');
  const found = useFound(text.trim(), delivery.seq);
  const rows = found ?? [...ofLead, ...around];
  const [chosen, setOther] = useState<number | null>(null);
  const other = (rows.find(({ seq }) => seq === chosen) ?? rows[0])?.seq ?? null;
  const compare = (event: Event): void => {
    event.preventDefault();
    if (other === null) return;
    model.dialog.value = null;
    go(orderedPair(delivery.seq, other));
    focusOn('pane');
  };
  const group = (title: string, rows: readonly WireRow[]): VNode | null =>
    rows.length === 0 ? null : (
      <Options title={title}>
        {rows.map((row) => (
          <Option
            key={row.seq}
            of="other"
            isChosen={row.seq === other}
            onChoose={() => setOther(row.seq)}
            isFocused={row.seq === other}
          >
            <VerdictBadge verdict={row.verdict} />
            <span class="option-name">
              {rows === ofLead ? attemptName(row) : <ReceivedText text={deliveryTitle(row)} />}
            </span>
            <Time at={row.receivedAt} />
          </Option>
        ))}
      </Options>
    );
  return (
    <Dialog title="Compare with">
      <form onSubmit={compare}>
        <input
          type="search"
          aria-label="Search the other delivery"
          placeholder="Search"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <div class="option-groups">
          {found === null ? (
            <>
              {group('Deliveries of the same lead', ofLead)}
              {group('Others in the list', around)}
            </>
          ) : (
            group('Found, newest first', found)
          )}
          {other === null && (
            <p>{found === null ? 'There is no other delivery in the list.' : 'Nothing found'}</p>
          )}
        </div>
        <div class="dialog-actions">
          <button type="submit" class="button primary" disabled={other === null}>
            Compare
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** A search begins when nothing was typed for this long; ms. */
const pauseMs = 120;
const mostFound = 20;

/** The newest deliveries with these words; null where there are none to search for. */
function useFound(text: string, without: number): readonly WireRow[] | null {
  const { api, announcer } = useModel();
  const [found, setFound] = useState<readonly WireRow[] | null>(null);
  useEffect(() => {
    if (text === '') {
      setFound(null);
      return undefined;
    }
    const abort = new AbortController();
    const search = async (): Promise<void> => {
      const rows: WireRow[] = [];
      const path = `/api/search?${new URLSearchParams({ q: text }).toString()}`;
      for await (const line of api.lines<WireFound>(path, abort.signal)) {
        if (line.type === 'found' && line.row.seq !== without) rows.push(line.row);
        if (rows.length === mostFound) break;
      }
      setFound(rows);
    };
    const failed = (error: unknown): void => {
      if (!abort.signal.aborted) announcer.show(problemOf(error).message);
    };
    const timer = setTimeout(() => void search().catch(failed), pauseMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text, without]);
  return found;
}

/** How many of a lead's deliveries are offered, and how many of the list on each side. */
const mostOfLead = 20;
const mostOnEachSide = 5;

/** What a delivery may be compared with; the likeliest first. */
function comparable(
  delivery: WireDelivery,
  rows: readonly WireRow[],
): { ofLead: readonly WireRow[]; around: readonly WireRow[] } {
  const others = delivery.attempts.filter(({ seq }) => seq !== delivery.seq);
  const distance = ({ seq }: WireRow): number =>
    seq < delivery.seq ? delivery.seq - seq : seq - delivery.seq + 0.5;
  const ofLead = [...others].sort((a, b) => distance(a) - distance(b)).slice(0, mostOfLead);
  const known = new Set([delivery.seq, ...others.map(({ seq }) => seq)]);
  const index = rows.findIndex(({ seq }) => seq <= delivery.seq);
  const from = Math.max(0, (index === -1 ? rows.length : index) - mostOnEachSide);
  const around = rows
    .slice(from, from + 2 * mostOnEachSide + 1)
    .filter(({ seq }) => !known.has(seq))
    .sort((a, b) => distance(a) - distance(b));
  return { ofLead, around };
}
