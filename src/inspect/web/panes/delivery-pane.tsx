import type { ComponentChildren, VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { WireDelivery, WireResult } from '../../wire.ts';
import { Button, Key, Time } from '../elements.tsx';
import { useLoaded } from '../api-client/use-loaded.ts';
import { copyCurl, copyText, downloadBody, openReplay } from '../state/delivery-actions.ts';
import { useModel, useValue } from '../state/page-model.ts';
import { go, route } from '../state/route.ts';
import {
  deliveryTitle,
  exactTime,
  sentence,
  shortTime,
  shownSize,
  capitalized,
  plural,
  shownDuration,
} from '../text/format.ts';
import { FieldNames, ReceivedText, shown } from '../text/received-text.tsx';
import { VerdictBadge } from '../text/verdict.tsx';
import { BodySection, HeaderSection, LeadAttempts, Section } from './delivery-sections.tsx';
import { ClosePane, PaneProblem } from './pane-parts.tsx';

export function DeliveryPane({ seq }: { seq: number }): VNode {
  const model = useModel();
  const version = useValue(model.version);
  const { answer, problem, path } = useLoaded<WireDelivery>(model.api, `/api/deliveries/${seq}`, version);
  useEffect(() => {
    model.shown.value = answer;
    return () => (model.shown.value = null);
  }, [model, answer, seq]);
  // However it was opened: by a key, by a click, by Back.
  useEffect(() => {
    document.getElementById('pane')?.scrollTo(0, 0);
  }, [answer?.seq]);
  useEffect(() => {
    // This runs behind the drawing: a key may have gone on to another one meanwhile.
    const { value: current } = route;
    if (current.view === 'delivery' && current.seq === seq) model.selected.value = seq;
  }, [model, seq]);
  if (problem !== null && path === `/api/deliveries/${seq}`) {
    return (
      <PaneProblem
        problem={problem}
        title={problem.code === 'not-found' ? `Delivery ${seq} is not in the inbox` : 'It cannot be shown'}
      />
    );
  }
  if (answer === null) return <div class="pane-loading" aria-busy="true" />;
  return (
    <article class="delivery" aria-busy={answer.seq !== seq} key={answer.seq}>
      <DeliveryHead delivery={answer} />
      <Notices delivery={answer} />
      <DeliveryFacts delivery={answer} />
      <Timeline delivery={answer} />
      <LeadAttempts delivery={answer} />
      <BodySection delivery={answer} />
      <HeaderSection headers={answer.headers} />
    </article>
  );
}

function DeliveryHead({ delivery }: { delivery: WireDelivery }): VNode {
  const model = useModel();
  const { verdict, name, leadId, seq, notReplayable } = delivery;
  const canReplay = notReplayable === null && model.inbox.targets.length > 0;
  return (
    <header class="delivery-head">
      <div class="delivery-title">
        <VerdictBadge verdict={verdict} />
        <h2>
          <ReceivedText text={deliveryTitle({ seq, name, leadId: null })} />
        </h2>
        <ClosePane />
      </div>
      {leadId !== null && (
        <p class="delivery-id">
          <code>
            <ReceivedText text={leadId} />
          </code>
          <Button class="link" onClick={() => void copyText(model, leadId)}>
            Copy id
          </Button>
        </p>
      )}
      <div class="actions" role="group" aria-label="Actions">
        <Button
          class={`button${canReplay ? ' primary' : ''}`}
          aria-keyshortcuts="r"
          onClick={() => void openReplay(model)}
        >
          Replay <Key name="r" />
        </Button>
        <Button class="button" aria-keyshortcuts="c" onClick={() => void copyCurl(model)}>
          Copy as curl <Key name="c" />
        </Button>
        <Button class="button" onClick={() => void downloadBody(model)}>
          Download body
        </Button>
      </div>
    </header>
  );
}

/** What is not ordinary about a delivery: why it was rejected first. */
function Notices({ delivery }: { delivery: WireDelivery }): VNode {
  const { verdict, forwards, explanation, differs, missing, hasInvalidText, firstSeq, seq } = delivery;
  return (
    <>
      {verdict === 'rejected' && <Rejection delivery={delivery} />}
      {verdict === 'other' && (
        <div class="notice is-other">
          <h3>Genuine, and no lead</h3>
          <p>Another event of the sender: it is kept here and forwarded to no target.</p>
        </div>
      )}
      {forwards.some(({ state }) => state !== 'done') && (
        <div class="notice is-waiting">
          <h3>Stored, but not forwarded yet</h3>
          <p>A target that was asked for has not taken it.</p>
        </div>
      )}
      {explanation === null && differs !== null && differs.length > 0 && (
        <div class="notice">
          <h3>Differs from this lead’s first delivery</h3>
          <FieldNames fields={differs} />
        </div>
      )}
      {firstSeq !== null && firstSeq !== seq && (
        <p class="notice">
          One of several leads in one request, which began with{' '}
          <Button class="link" onClick={() => go({ view: 'delivery', seq: firstSeq })}>
            delivery {firstSeq}
          </Button>
          .
        </p>
      )}
      {missing !== null && <p class="notice">{sentence(missing)}</p>}
      {hasInvalidText && (
        <p class="notice">
          Bytes of the body that are not UTF-8 are shown as �. The download has them as they came.
        </p>
      )}
    </>
  );
}

function Rejection({ delivery: { reason, explanation, status } }: { delivery: WireDelivery }): VNode {
  return (
    <div class="notice is-rejected">
      <h3>
        Rejected: {reason ?? 'no reason was kept'} <span class="notice-status">answered {status}</span>
      </h3>
      {explanation?.map((text, i) => (
        <p key={i}>{shown(text)}</p>
      ))}
    </div>
  );
}

const sources: Record<WireDelivery['source'], string> = {
  push: '',
  backfill: 'read back from the service',
  replay: 'sent as a replay',
};

function DeliveryFacts({ delivery }: { delivery: WireDelivery }): VNode {
  const { receivedAt, status, attempt, remote, method, path, size, source, category, seq } = delivery;
  return (
    <dl class="facts">
      <Fact name="Received">
        <time dateTime={new Date(receivedAt).toISOString()}>{shortTime(receivedAt, Date.now())}</time>
        <span class="fact-more">{exactTime(receivedAt)}</span>
      </Fact>
      <Fact name="Answer">
        {status} <span class="fact-more">to attempt {attempt}</span>
      </Fact>
      <Fact name="Request">
        <code>
          {method} <ReceivedText text={path} />
        </code>
        <span class="fact-more">{shownSize(size)}</span>
      </Fact>
      <Fact name="Sender">
        <ReceivedText text={remote} />
        <span class="fact-more">{sources[source]}</span>
      </Fact>
      {category !== null && (
        <Fact name="Category">
          <ReceivedText text={category} />
        </Fact>
      )}
      <Fact name="Number">{seq}</Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** What happened to a delivery, in the order of time, and what is still to happen. */
function Timeline({ delivery }: { delivery: WireDelivery }): VNode {
  const { receivedAt, source, remote, method, path, size, verdict, reason, status, seq, attempt } = delivery;
  const { results, forwards } = delivery;
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
        {forwards
          .filter(({ state }) => state !== 'done')
          .map(({ target, state, tries, dueAt }) => (
            <Step key={target} what={capitalized(state)} state={state === 'dead' ? 'failed' : ''}>
              <ReceivedText text={target} /> has not had it after {plural(tries, 'attempt', 'attempts')}
              {dueAt !== null && (
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
    <Step what={capitalized(kind)} at={at} state={ok ? 'ok' : 'failed'}>
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
