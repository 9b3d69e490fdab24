import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { shownSize } from './shown-size.ts';
import { jsonTokens } from './json-colours.ts';
import { ReceivedText, shown } from './received-text.tsx';

/** A text that is longer is drawn so far until the rest is asked for; characters. */
const shortLength = 60_000;

/** Deeper ones do not wrap further to the right; characters. */
const deepestIndent = 48;

/** A body or a command, line by line; a wrapped line goes on below its own indentation. */
export function Code({ text, isJson, label }: { text: string; isJson: boolean; label: string }): VNode {
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && text.length > shortLength;
  const lines = useMemo(
    () => (isCut ? text.slice(0, shortLength) : text).split('\n').map((line) => drawLine(line, isJson)),
    [text, isJson, isCut],
  );
  return (
    <div class="code">
      <pre tabIndex={0} role="region" aria-label={label}>
        {lines}
      </pre>
      {isCut && (
        <button type="button" class="code-more" onClick={() => setWhole(true)}>
          Show all ({shownSize(text.length)})
        </button>
      )}
    </div>
  );
}

function drawLine(line: string, isJson: boolean): VNode {
  const indent = Math.min(/^ */.exec(line)?.[0].length ?? 0, deepestIndent);
  const style = indent === 0 ? {} : { paddingLeft: `${indent}ch`, textIndent: `-${indent}ch` };
  return (
    <div class="code-line" style={style}>
      {isJson ? coloured(line) : shown(line)}
      {'\n'}
    </div>
  );
}

export function coloured(line: string): VNode[] {
  return jsonTokens(line).map(({ kind, text }, i) => (
    <span key={i} class={`json-${kind}`}>
      {kind === 'string' ? <ReceivedText text={text} /> : shown(text)}
    </span>
  ));
}
