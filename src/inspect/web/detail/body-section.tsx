import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { WireDelivery } from '../../wire.ts';
import { copyText } from '../state/delivery-actions.ts';
import { useModel } from '../state/page-model.ts';
import { Code } from '../text/code.tsx';
import { shownSize } from '../text/shown-size.ts';
import { Section } from './section.tsx';

type Form = 'formatted' | 'raw';

/** Of this page's visit: who reads raw bodies reads the next one raw, too. */
let preferred: Form = 'formatted';

export function BodySection({ delivery }: { delivery: WireDelivery }): VNode {
  const model = useModel();
  const [chosen, setChosen] = useState(preferred);
  const { formatted, text, isCut, size, missing } = delivery;
  const form = formatted === null ? 'raw' : chosen;
  const shownText = form === 'formatted' && formatted !== null ? formatted : text;
  const choose = (next: Form): void => {
    preferred = next;
    setChosen(next);
  };
  const tools = (
    <div class="section-tools">
      {formatted !== null && (
        <div class="choice" role="group" aria-label="Form of the body">
          {(['formatted', 'raw'] as const).map((one) => (
            <button key={one} type="button" aria-pressed={form === one} onClick={() => choose(one)}>
              {one === 'formatted' ? 'Formatted' : 'Raw'}
            </button>
          ))}
        </div>
      )}
      {shownText !== '' && (
        <button
          type="button"
          class="link"
          aria-label="Copy the body"
          onClick={() => void copyText(model, shownText)}
        >
          Copy
        </button>
      )}
    </div>
  );
  return (
    <Section title="Body" tools={tools}>
      {text === '' ? (
        <p class="empty-body">{missing === null ? 'The body is empty.' : 'There is no body to show.'}</p>
      ) : (
        <Code key={form} text={shownText} isJson={formatted !== null} label="Text of the body" />
      )}
      {isCut && (
        <p class="note">
          The first {shownSize(text.length)} of {shownSize(size)}. The download has all of it.
        </p>
      )}
    </Section>
  );
}
