import type { VNode } from 'preact';
import type { WireDiff } from '../../wire.ts';
import { Section } from '../detail/section.tsx';
import { useLoaded } from '../server/loaded.ts';
import { ClosePane } from '../shell/close-pane.tsx';
import { PaneProblem } from '../shell/pane-problem.tsx';
import { openDelivery } from '../state/delivery-actions.ts';
import { useValue } from '../state/use-value.ts';
import { useModel } from '../state/page-model.ts';
import { shown } from '../text/received-text.tsx';
import { plural } from '../text/shown-size.ts';
import { DiffTable } from './diff-table.tsx';

export function ComparePane({ left, right }: { left: number; right: number }): VNode {
  const model = useModel();
  const version = useValue(model.version);
  const path = `/api/diff?left=${left}&right=${right}`;
  const { answer, problem } = useLoaded<WireDiff>(model.api, path, version);
  if (problem !== null) return <PaneProblem problem={problem} title="The two cannot be compared" />;
  if (answer === null) return <div class="pane-loading" aria-busy="true" />;
  const { fields, headers, body, isCut } = answer;
  const isSame = (lines: WireDiff['body']): boolean => lines.every(({ kind }) => kind === 'same');
  const side = (seq: number): VNode => (
    <button type="button" class="link" onClick={() => openDelivery(model, seq)}>
      delivery {seq}
    </button>
  );
  return (
    <article class="compare">
      <header class="compare-head">
        <h2>
          {side(left)} and {side(right)}
        </h2>
        <ClosePane />
      </header>
      {fields.length > 0 && (
        <div class="compare-fields">
          <p>
            {plural(fields.length, 'field')} {fields.length === 1 ? 'differs' : 'differ'}:
          </p>
          <ul class="field-names">
            {fields.map((field) => (
              <li key={field}>
                <code>{shown(field)}</code>
              </li>
            ))}
          </ul>
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
