import type { ComponentChildren, VNode } from 'preact';
import type { WireDelivery, WireResult } from '../../wire.ts';
import { Time } from '../elements.tsx';
import { capitalized, plural, shownDuration, shownSize } from '../text/format.ts';
import { ReceivedText } from '../text/received-text.tsx';
import { Section } from './delivery-sections.tsx';

/** What happened to a delivery, in the order of time, and what is still to happen. */
export function Timeline({ delivery }: { delivery: WireDelivery }): VNode {
  const { receivedAt, source, remote, method, path, size, verdict, reason, status, seq, attempt } = delivery;
  const { results, lacking } = delivery;
  return (
    <Section title="What happened">
      <ol class="results">
        <Step what={source === 'backfill' ? 'Read back' : 'Received'} at={receivedAt}>
          {source === 'backfill' ? (
            'from the service'
          ) : (
            <>
              from <ReceivedText text={remote} />: {method} <ReceivedText text={path} />
            </>
          )}
          , {shownSize(size)}
        </Step>
        <Step what="Checked" state={verdict === 'rejected' ? 'failed' : 'ok'}>
          {verdict === 'rejected' ? (
            <>
              rejected: <ReceivedText text={reason ?? 'no reason was kept'} />
            </>
          ) : verdict === 'other' ? (
            'genuine, and no lead'
          ) : (
            'accepted'
          )}
        </Step>
        <Step what="Stored">
          as delivery {seq}
          {attempt > 1 && `, attempt ${attempt} at this lead`}, answered {status}
        </Step>
        {results.map((result, i) => (
          <Attempt key={i} result={result} receivedAt={receivedAt} />
        ))}
        {lacking.map(({ target, tries, dueAt, dead }) => (
          <Step key={target} what={dead ? 'Given up' : 'Waiting'} state={dead ? 'failed' : ''}>
            <ReceivedText text={target} /> has not had it after {plural(tries, 'try', 'tries')}
            {dueAt !== null && !dead && (
              <>
                , again at <Time at={dueAt} />
              </>
            )}
          </Step>
        ))}
      </ol>
    </Section>
  );
}

function Attempt({ result, receivedAt }: { result: WireResult; receivedAt: number }): VNode {
  const { kind, target, address, ok, answer, durationMs, at } = result;
  return (
    <Step what={kind === null ? 'Handed on' : capitalized(kind)} at={at} state={ok ? 'ok' : 'failed'}>
      <ReceivedText text={address ?? target} />
      <span class="result-answer">
        {ok ? 'taken: ' : 'not taken: '}
        <ReceivedText text={answer} /> in {shownDuration(durationMs)},{' '}
        {shownDuration(Math.max(0, at - receivedAt))} after it came
      </span>
    </Step>
  );
}

interface StepProps {
  readonly what: string;
  /** Undefined: right after the step before. */
  readonly at?: number;
  readonly state?: 'ok' | 'failed' | '';
  readonly children: ComponentChildren;
}

const Step = ({ what, at, state = '', children }: StepProps): VNode => (
  <li class={`is-${state}`}>
    <span class="result-time">{at !== undefined && <Time at={at} />}</span>
    <span class="result-state">{what}</span>
    <span>{children}</span>
  </li>
);
