import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { WireDiffLine } from '../../wire.ts';
import { coloured } from '../text/code.tsx';
import { shown } from '../text/received-text.tsx';
import { plural } from '../text/shown-size.ts';
import { changedPart } from './changed-part.ts';
import { diffBlocks } from './diff-blocks.ts';

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
export function DiffTable({ lines, label, isJson }: DiffTableProps): VNode {
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
                  <button
                    type="button"
                    class="link"
                    onClick={() => setUnfolded(new Set([...unfolded, from]))}
                  >
                    {plural(rows.length, 'equal line')}
                  </button>
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
