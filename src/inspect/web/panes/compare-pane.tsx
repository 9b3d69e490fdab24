import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { WireDiff, WireDiffLine } from '../../wire.ts';
import { Button, Time } from '../elements.tsx';
import { useLoaded } from '../api-client/use-loaded.ts';
import { openDelivery } from '../state/delivery-actions.ts';
import { useModel, useValue } from '../state/page-model.ts';
import { deliveryTitle, plural } from '../text/format.ts';
import { coloured, FieldNames, ReceivedText, shown } from '../text/received-text.tsx';
import { Section } from './delivery-sections.tsx';
import { changedPart, diffBlocks } from './diff-blocks.ts';
import { ClosePane, PaneProblem } from './pane-parts.tsx';

export function ComparePane({ left, right }: { left: number; right: number }): VNode {
  const model = useModel();
  const version = useValue(model.version);
  const path = `/api/diff?left=${left}&right=${right}`;
  const { answer, problem } = useLoaded<WireDiff>(model.api, path, version);
  if (problem !== null) return <PaneProblem problem={problem} title="The two cannot be compared" />;
  if (answer === null) return <div class="pane-loading" aria-busy="true" />;
  const { rows, fields, headers, body, isCut } = answer;
  const isSame = (lines: WireDiff['body']): boolean => lines.every(({ kind }) => kind === 'same');
  return (
    <article class="compare">
      <header class="compare-head">
        <h2>
          {rows.map((row) => (
            <Button
              key={row.seq}
              class="link"
              title={`Open delivery ${row.seq}`}
              onClick={() => openDelivery(model, row.seq)}
            >
              <ReceivedText text={deliveryTitle(row)} />
              <Time at={row.receivedAt} />
            </Button>
          ))}
        </h2>
        <ClosePane />
      </header>
      {fields.length > 0 && (
        <div class="compare-fields">
          <p>
            {plural(fields.length, 'field')} {fields.length === 1 ? 'differs' : 'differ'}:
          </p>
          <FieldNames fields={fields} />
        </div>
      )}
      <Section title="Body">
        {isSame(body) ? (
          <p class="equal">The bodies are the same.</p>
        ) : (
          <DiffTable lines={body} label="Both bodies" isJson />
        )}
        {isCut && <p class="note">The bodies are large: only their beginnings were compared.</p>}
      </Section>
      <Section title="Headers">
        {isSame(headers) ? (
          <p class="equal">The headers are the same.</p>
        ) : (
          <DiffTable lines={headers} label="Both sets of headers" isJson={false} />
        )}
      </Section>
    </article>
  );
}

const words: Record<WireDiffLine['kind'], string> = {
  same: '',
  changed: 'changed',
  left: 'only on the left',
  right: 'only on the right',
};

/** A line that is longer is drawn so far; characters. */
const longestLine = 2_000;

interface DiffTableProps {
  readonly lines: readonly WireDiffLine[];
  readonly label: string;
  readonly isJson: boolean;
}

/** Side by side; what is the same over many lines is folded. */
function DiffTable({ lines, label, isJson }: DiffTableProps): VNode {
  const blocks = useMemo(() => diffBlocks(lines), [lines]);
  const [unfolded, setUnfolded] = useState<ReadonlySet<number>>(new Set());
  return (
    <div class="diff-frame" tabIndex={0} role="region" aria-label={label}>
      <table class="diff">
        <colgroup>
          <col class="diff-sign-column" />
          <col />
          <col />
        </colgroup>
        <thead class="only-spoken">
          <tr>
            <th scope="col">Difference</th>
            <th scope="col">Left</th>
            <th scope="col">Right</th>
          </tr>
        </thead>
        {blocks.map(({ from, rows, isFolded }) => (
          <tbody key={from}>
            {isFolded && !unfolded.has(from) ? (
              <tr class="diff-fold">
                <td colSpan={3}>
                  <Button class="link" onClick={() => setUnfolded(new Set([...unfolded, from]))}>
                    {plural(rows.length, 'equal line')}
                  </Button>
                </td>
              </tr>
            ) : (
              rows.map((line, i) => <DiffLine key={i} line={line} isJson={isJson} />)
            )}
          </tbody>
        ))}
      </table>
    </div>
  );
}

function DiffLine({ line: { kind, left, right }, isJson }: { line: WireDiffLine; isJson: boolean }): VNode {
  const sign = { same: '', changed: '≠', left: '−', right: '+' }[kind];
  return (
    <tr class={`diff-line is-${kind}`}>
      <td class="diff-sign">
        <span aria-hidden="true">{sign}</span>
        <span class="only-spoken">{words[kind]}</span>
      </td>
      <Side text={left} other={right} isJson={isJson} name="left" />
      <Side text={right} other={left} isJson={isJson} name="right" />
    </tr>
  );
}

interface SideProps {
  readonly text: string | null;
  readonly other: string | null;
  readonly isJson: boolean;
  readonly name: string;
}

function Side({ text, other, isJson, name }: SideProps): VNode {
  if (text === null) return <td class={`diff-side is-${name} is-absent`} />;
  const drawn = cut(text);
  if (other === null || other === text) {
    return <td class={`diff-side is-${name}`}>{isJson ? coloured(drawn) : shown(drawn)}</td>;
  }
  const [before, changed, after] = changedPart(drawn, cut(other));
  return (
    <td class={`diff-side is-${name}`}>
      {shown(before)}
      {changed !== '' && <mark>{shown(changed)}</mark>}
      {shown(after)}
    </td>
  );
}

const cut = (text: string): string => (text.length > longestLine ? `${text.slice(0, longestLine)}…` : text);
