import type { ComponentChildren, VNode } from 'preact';
import { useId, useState } from 'preact/hooks';
import { mostDumped, type WireDelivery } from '../../wire.ts';
import { Button, Time } from '../elements.tsx';
import { attemptName } from '../list/delivery-row.tsx';
import { copyText, openDelivery } from '../state/delivery-actions.ts';
import { useModel } from '../state/page-model.ts';
import { shownCount, shownSize } from '../text/format.ts';
import { Code, ReceivedText } from '../text/received-text.tsx';
import { VerdictBadge } from '../text/verdict.tsx';

interface SectionProps {
  readonly title: string;
  readonly count?: number;
  /** On the line of the title. */
  readonly tools?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Section({ title, count, tools, children }: SectionProps): VNode {
  const id = useId();
  return (
    <section class="section" aria-labelledby={id}>
      <div class="section-head">
        <h3 id={id}>
          {title} {count !== undefined && <span class="count">{shownCount(count)}</span>}
        </h3>
        {tools}
      </div>
      {children}
    </section>
  );
}

/** All deliveries of this lead, where there are others. */
export function LeadAttempts({ delivery }: { delivery: WireDelivery }): VNode | null {
  const model = useModel();
  const { attempts, seq } = delivery;
  if (attempts.length < 2) return null;
  return (
    <Section title="Deliveries of this lead" count={attempts.length}>
      <ol class="lead-attempts">
        {attempts.map((row) => (
          <li key={row.seq} class={row.seq === seq ? 'is-this' : ''}>
            <VerdictBadge verdict={row.verdict} />
            <span class="attempt-number">
              {attemptName(row)}, {row.status}
            </span>
            <Time at={row.receivedAt} />
            {row.seq === seq ? (
              <span class="this-one">shown here</span>
            ) : (
              <span class="attempt-actions">
                <Button
                  class="link"
                  aria-label={`Open delivery ${row.seq}`}
                  onClick={() => openDelivery(model, row.seq)}
                >
                  Open
                </Button>
              </span>
            )}
          </li>
        ))}
      </ol>
    </Section>
  );
}

const formNames = { formatted: 'Formatted', raw: 'Raw', hex: 'Hex' } as const;

type Form = keyof typeof formNames;

/** Of this page's visit: who reads raw bodies reads the next one raw, too. */
let preferred: Form | undefined;

export function BodySection({ delivery }: { delivery: WireDelivery }): VNode {
  const model = useModel();
  const [chosen, setChosen] = useState(preferred);
  const { formatted, text, hex, isCut, size, missing } = delivery;
  const texts = { formatted, hex, raw: text };
  const forms = (['formatted', 'hex', 'raw'] as const).filter((one) => texts[one] !== null);
  const form = forms.find((one) => one === chosen) ?? forms[0] ?? 'raw';
  const shownText = texts[form] ?? '';
  const shownBytes = form === 'hex' ? mostDumped : isCut ? text.length : size;
  const choose = (next: Form): void => {
    preferred = next;
    setChosen(next);
  };
  const tools = (
    <div class="section-tools">
      {forms.length > 1 && (
        <div class="choice" role="group" aria-label="Form of the body">
          {forms.map((one) => (
            <Button key={one} aria-pressed={form === one} onClick={() => choose(one)}>
              {formNames[one]}
            </Button>
          ))}
        </div>
      )}
      {shownText !== '' && (
        <Button class="link" aria-label="Copy the body" onClick={() => void copyText(model, shownText)}>
          Copy
        </Button>
      )}
    </div>
  );
  return (
    <Section title="Body" tools={tools}>
      {text === '' ? (
        <p class="empty-body">{missing === null ? 'The body is empty.' : 'There is no body to show.'}</p>
      ) : (
        <Code
          key={form}
          text={shownText}
          isJson={form !== 'hex' && formatted !== null}
          isTable={form === 'hex'}
          label="Text of the body"
        />
      )}
      {size > shownBytes && (
        <p class="note">
          The first {shownSize(shownBytes)} of {shownSize(size)}. The download has all of it.
        </p>
      )}
    </Section>
  );
}

export function HeaderSection({ headers }: { headers: WireDelivery['headers'] }): VNode | null {
  if (headers.length === 0) return null;
  return (
    <Section title="Headers" count={headers.length}>
      <dl class="headers">
        {headers.map(([name, value], i) => (
          <div key={i}>
            <dt>
              <ReceivedText text={name} />
            </dt>
            <dd>
              <ReceivedText text={value} />
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
