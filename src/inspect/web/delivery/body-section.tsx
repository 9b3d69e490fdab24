import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { WireDelivery } from '../../wire.ts';
import { Button, ReceivedText, Section, visibleNodes } from '../elements.tsx';
import type { PageModel } from '../state/page-model.ts';
import { firstLines, jsonTokens } from '../text.ts';

const bodyForms = ['formatted', 'raw', 'curl'] as const;

interface BodyProps {
  readonly model: PageModel;
  readonly delivery: WireDelivery;
}

export function BodySection({ model, delivery }: BodyProps): VNode {
  const [chosen, setChosen] = useState<(typeof bodyForms)[number]>('formatted');
  const form = delivery[chosen] === null ? 'raw' : chosen;
  const text = delivery[form] ?? '';
  const isJson = form === 'formatted';
  const { lines, isCut } = useMemo(() => firstLines(text), [text]);
  const lineNodes = useMemo(
    () => lines.map((line, i) => <Line key={i} line={line} isJson={isJson} />),
    [lines, isJson],
  );
  const isTable = form === 'raw' && delivery.isHex;
  const tools = (
    <div class="section-tools">
      <div class="choice" role="group" aria-label="Form of the body">
        {bodyForms
          .filter((name) => delivery[name] !== null)
          .map((name) => (
            <Button key={name} aria-pressed={form === name} onClick={() => setChosen(name)}>
              {formNames[name]}
            </Button>
          ))}
      </div>
      <Button class="link" aria-label="Copy the body" onClick={() => void model.copy(text, 'the text')}>
        Copy
      </Button>
    </div>
  );
  return (
    <Section title="Body" tools={tools}>
      {text === '' ? (
        <p class="note">There is no body to show.</p>
      ) : (
        <pre
          class={isTable ? 'code is-table' : 'code'}
          tabIndex={0}
          role="region"
          aria-label="Text of the body"
        >
          {lineNodes}
        </pre>
      )}
      {isCut && <p class="note">Only the beginning is shown. Copy has all of it.</p>}
    </Section>
  );
}

const formNames = { formatted: 'Formatted', raw: 'Raw', curl: 'curl' } as const;

/** In characters; deeper lines do not wrap further to the right. */
const deepestIndent = 48;

function Line({ line, isJson }: { line: string; isJson: boolean }): VNode {
  const indent = Math.min(/^ */.exec(line)?.[0].length ?? 0, deepestIndent);
  return (
    <div class="code-line" style={{ paddingLeft: `${indent}ch`, textIndent: `-${indent}ch` }}>
      {isJson ? coloured(line) : visibleNodes(line)}
      {'\n'}
    </div>
  );
}

/** A line with more tokens is not coloured, since each token costs an element. */
const mostTokens = 400;

function coloured(line: string): (string | VNode)[] {
  const tokens = jsonTokens(line);
  if (tokens.length > mostTokens) return visibleNodes(line);
  return tokens.map(({ kind, text }, i) => (
    <span key={i} class={`json-${kind}`}>
      {kind === 'string' ? <ReceivedText text={text} /> : visibleNodes(text)}
    </span>
  ));
}
