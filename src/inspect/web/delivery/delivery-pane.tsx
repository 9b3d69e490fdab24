import type { ComponentChildren, VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { WireDelivery, WireListFilter } from '../../wire.ts';
import { Button, Icon, Key, Popover, ReceivedText, Section, Time, VerdictBadge } from '../elements.tsx';
import { hashOf } from '../state/address.ts';
import type { PageModel } from '../state/page-model.ts';
import {
  capitalized,
  deliveryTitle,
  durationText,
  exactTime,
  plural,
  sentence,
  shortTime,
  sizeText,
} from '../text.ts';
import { BodySection } from './body-section.tsx';

interface DeliveryProps {
  readonly model: PageModel;
  readonly delivery: WireDelivery;
}

export function DeliveryPane({ model }: { model: PageModel }): VNode {
  const { delivery, problem, address } = model;
  useEffect(() => document.getElementById('pane')?.scrollTo(0, 0), [delivery?.seq]);
  if (problem !== null) {
    const isGone = problem.code === 'not-found';
    return (
      <div class="nothing-open" role="alert">
        <h2>{isGone ? `Delivery ${address.seq} is not in the inbox` : 'It cannot be shown'}</h2>
        <p>{isGone ? 'It may have been pruned or erased.' : sentence(problem.message)}</p>
        <Button class="button" onClick={() => model.close()}>
          Back to the list
        </Button>
      </div>
    );
  }
  if (delivery === null) return <div aria-busy="true" />;
  return (
    <article class="delivery" aria-busy={delivery.seq !== address.seq}>
      <DeliveryHead model={model} delivery={delivery} />
      <Notices delivery={delivery} />
      <DeliveryFacts delivery={delivery} />
      <AttemptSection delivery={delivery} />
      <LeadSection model={model} delivery={delivery} />
      <BodySection model={model} delivery={delivery} />
      <HeaderSection headers={delivery.headers} />
      <Popover id="replay" title="Replay">
        <ReplayTargets model={model} delivery={delivery} />
      </Popover>
    </article>
  );
}

function DeliveryHead({ model, delivery }: DeliveryProps): VNode {
  const { verdict, leadId, curl, notReplayable } = delivery;
  const canReplay = notReplayable === null && model.inbox.targets.length > 0;
  return (
    <header class="delivery-head">
      <div class="delivery-title">
        <VerdictBadge verdict={verdict} />
        <h2>
          <ReceivedText text={deliveryTitle({ ...delivery, leadId: null })} />
        </h2>
        <Button
          class="button quiet close-pane"
          aria-label="Back"
          title="Back (Esc)"
          onClick={() => model.close()}
        >
          <Icon kind="back" path="M9.5 3.5 5 8l4.5 4.5" />
          <Icon kind="close" path="m4 4 8 8m0-8-8 8" />
        </Button>
      </div>
      {leadId !== null && (
        <p class="delivery-id">
          <code>
            <ReceivedText text={leadId} />
          </code>
          <Button class="link" onClick={() => void model.copy(leadId, 'the id')}>
            Copy id
          </Button>
        </p>
      )}
      <div class="actions" role="group" aria-label="Actions">
        <Button class={`button${canReplay ? ' primary' : ''}`} aria-keyshortcuts="r" popovertarget="replay">
          Replay <Key name="r" />
        </Button>
        <Button
          class="button"
          aria-keyshortcuts="c"
          onClick={() => void model.copy(curl, 'as a curl command')}
        >
          Copy as curl <Key name="c" />
        </Button>
      </div>
    </header>
  );
}

function Notices({ delivery }: { delivery: WireDelivery }): VNode {
  const { verdict, reason, status, explanation, differs, firstSeq, seq, missing } = delivery;
  return (
    <>
      {explanation.length > 0 && (
        <div class={`notice is-${verdict}`}>
          <h3>
            {capitalized(verdict)}: {reason ?? 'no reason was kept'}{' '}
            <span class="count">answered {status}</span>
          </h3>
          {explanation.map((text) => (
            <p key={text}>
              <ReceivedText text={text} />
            </p>
          ))}
        </div>
      )}
      {differs !== null && differs.length > 0 && (
        <p class="notice">
          Differs from the first delivery of this lead in <ReceivedText text={differs.join(', ')} />.
        </p>
      )}
      {firstSeq !== null && firstSeq !== seq && (
        <p class="notice">One of several leads in one request, which began with delivery {firstSeq}.</p>
      )}
      {missing !== null && <p class="notice">{missing}</p>}
    </>
  );
}

const sourceTexts: Record<WireDelivery['source'], string> = {
  push: '',
  backfill: 'read back from the service',
  replay: 'sent as a replay',
};

function DeliveryFacts({ delivery }: { delivery: WireDelivery }): VNode {
  const { receivedAt, status, attempt, remote, method, path, size, source, category, seq } = delivery;
  const request = (
    <code>
      {method} <ReceivedText text={path} />
    </code>
  );
  const facts: [name: string, value: ComponentChildren, more: string][] = [
    ['Received', shortTime(receivedAt, Date.now()), exactTime(receivedAt)],
    ['Answer', status, `to attempt ${attempt}`],
    ['Request', request, sizeText(size)],
    ['Sender', <ReceivedText text={remote} />, sourceTexts[source]],
    ['Category', category !== null && <ReceivedText text={category} />, ''],
    ['Number', seq, ''],
  ];
  return (
    <dl class="facts">
      {facts.map(
        ([name, value, more]) =>
          value !== false && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                {value}
                <span class="fact-more">{more}</span>
              </dd>
            </div>
          ),
      )}
    </dl>
  );
}

function AttemptSection({ delivery: { results, forwards, receivedAt } }: { delivery: WireDelivery }) {
  const unfinished = forwards.filter(({ state }) => state !== 'done');
  if (results.length + unfinished.length === 0) return null;
  return (
    <Section title="Attempts" count={results.length}>
      <ol class="attempts">
        {results.map(({ kind, target, address, ok, answer, durationMs, at: endedAt }, i) => (
          <Entry key={i} time={endedAt} kind={ok ? 'accepted' : 'rejected'}>
            <strong>{capitalized(kind)}</strong>
            <ReceivedText text={address ?? target} />
            <>
              {ok ? 'taken: ' : 'not taken: '}
              <ReceivedText text={answer} /> in {durationText(durationMs)},{' '}
              {durationText(Math.max(0, endedAt - receivedAt))} after it came
            </>
          </Entry>
        ))}
        {unfinished.map(({ target, state, tries, dueAt }) => (
          <Entry key={target} time={dueAt} kind={state === 'dead' ? 'rejected' : 'waiting'}>
            <strong>{capitalized(state)}</strong>
            <ReceivedText text={target} />
            <>
              {dueAt === null ? 'not delivered' : 'is tried again'} after {plural(tries, 'attempt')}
            </>
          </Entry>
        ))}
      </ol>
    </Section>
  );
}

function LeadSection({ model, delivery: { leadDeliveries, seq } }: DeliveryProps): VNode | null {
  if (leadDeliveries.length < 2) return null;
  return (
    <Section title="Deliveries of this lead" count={leadDeliveries.length}>
      <ol class="attempts">
        {leadDeliveries.map((row) => (
          <Entry key={row.seq} time={row.receivedAt} kind={row.verdict}>
            <VerdictBadge verdict={row.verdict} />
            {row.seq === seq ? (
              `delivery ${row.seq}, shown here`
            ) : (
              <a href={hashOf({ ...model.address, seq: row.seq })}>delivery {row.seq}</a>
            )}
            <>
              {row.source === 'push' ? `attempt ${row.attempt}` : row.source}, answered {row.status}
            </>
          </Entry>
        ))}
      </ol>
    </Section>
  );
}

interface EntryProps {
  readonly time: number | null;
  readonly kind: WireListFilter;
  readonly children: readonly [ComponentChildren, ComponentChildren, ComponentChildren];
}

const Entry = ({ time, kind, children: [state, subject, note] }: EntryProps): VNode => (
  <li class={`is-${kind}`}>
    {time === null ? <span /> : <Time time={time} />}
    {state}
    <span class="attempt-text">
      {subject}
      <span class="fact-more">{note}</span>
    </span>
  </li>
);

function HeaderSection({ headers }: { headers: WireDelivery['headers'] }): VNode | null {
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

function ReplayTargets({ model, delivery }: DeliveryProps): VNode {
  const { targets } = model.inbox;
  if (delivery.notReplayable !== null) return <p>{delivery.notReplayable}</p>;
  if (targets.length === 0) {
    return (
      <p>
        No target was named when the program was started. Start it with <code>--replay-to URL</code>.
      </p>
    );
  }
  return (
    <>
      <p>
        Sends the stored body of <ReceivedText text={deliveryTitle(delivery)} /> once more, to:
      </p>
      {targets.map(({ name, scheme }) => (
        <Button
          key={name}
          class="button target"
          popovertarget="replay"
          popovertargetaction="hide"
          onClick={() => void model.replay(delivery, name)}
        >
          <ReceivedText text={name} />
          <span class="note">{scheme === null ? 'unsigned' : `signed: ${scheme}`}</span>
        </Button>
      ))}
    </>
  );
}
