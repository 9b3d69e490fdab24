import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Button } from '../elements.tsx';
import { shownSize } from './format.ts';
import { jsonTokens, visibleParts, withNamedCharacters } from './text-parts.ts';

/** Text from outside: isolated from the direction of what stands around it, with its hidden characters named. */
export function ReceivedText({ text }: { text: string }): VNode {
  return <bdi>{shown(text)}</bdi>;
}

/** More of them in one text are not worth an element each. */
const mostParts = 400;

/** The same without an element of its own. */
export function shown(text: string): (string | VNode)[] {
  const parts = visibleParts(text);
  if (parts.length > mostParts) return [withNamedCharacters(text)];
  return parts.map((part, i) =>
    part.isHidden ? (
      <span key={i} class="hidden-character">
        {part.text}
      </span>
    ) : (
      part.text
    ),
  );
}

/** Names of fields of a lead, which came from outside. */
export const FieldNames = ({ fields }: { fields: readonly string[] }): VNode => (
  <ul class="field-names">
    {fields.map((field) => (
      <li key={field}>
        <code>{shown(field)}</code>
      </li>
    ))}
  </ul>
);

/** A text that is longer is drawn so far until the rest is asked for. */
const shortLength = 60_000;
const shortLines = 2_000;

/** Deeper ones do not wrap further to the right; characters. */
const deepestIndent = 48;

/** Of a long text: lines that are drawn together, without colours. */
const linesInBlock = 200;

interface CodeProps {
  readonly text: string;
  readonly isJson: boolean;
  /** Its columns line up: it scrolls to the side and does not wrap. */
  readonly isTable?: boolean;
  readonly label: string;
}

/** A body, line by line; a wrapped line goes on below its own indentation. */
export function Code({ text, isJson, isTable = false, label }: CodeProps): VNode {
  const [isWhole, setWhole] = useState(false);
  const beginning = useMemo(
    () => text.slice(0, shortLength).split('\n').slice(0, shortLines).join('\n'),
    [text],
  );
  const isLong = text.length > beginning.length;
  const lines = useMemo(
    () => (isLong && isWhole ? drawBlocks(text) : drawLines(beginning, isJson)),
    [text, beginning, isJson, isLong, isWhole],
  );
  return (
    <div class={isTable ? 'code is-table' : 'code'}>
      <pre tabIndex={0} role="region" aria-label={label}>
        {lines}
      </pre>
      {isLong && !isWhole && (
        <Button class="code-more" onClick={() => setWhole(true)}>
          Show all ({shownSize(text.length)})
        </Button>
      )}
    </div>
  );
}

const drawLines = (text: string, isJson: boolean): VNode[] =>
  text.split('\n').map((line) => drawLine(line, isJson));

/** A million elements would stop the page, which is what a hostile body is made for. */
function drawBlocks(text: string): VNode[] {
  const lines = withNamedCharacters(text).split('\n');
  return Array.from({ length: Math.ceil(lines.length / linesInBlock) }, (_, i) => (
    <div key={i} class="code-line">
      {lines.slice(i * linesInBlock, (i + 1) * linesInBlock).join('\n')}
      {'\n'}
    </div>
  ));
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

/** More of them in one line are not coloured. */
const mostTokens = 400;

function coloured(line: string): (string | VNode)[] {
  const tokens = jsonTokens(line);
  if (tokens.length > mostTokens) return shown(line);
  return tokens.map(({ kind, text }, i) => (
    <span key={i} class={`json-${kind}`}>
      {kind === 'string' ? <ReceivedText text={text} /> : shown(text)}
    </span>
  ));
}
