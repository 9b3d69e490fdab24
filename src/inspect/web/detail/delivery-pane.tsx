import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { WireDelivery } from '../../wire.ts';
import { useLoaded } from '../server/loaded.ts';
import { useValue } from '../state/use-value.ts';
import { useModel } from '../state/page-model.ts';
import { PaneProblem } from '../shell/pane-problem.tsx';
import { BodySection } from './body-section.tsx';
import { DeliveryFacts } from './delivery-facts.tsx';
import { DeliveryHead } from './delivery-head.tsx';
import { HeaderSection } from './header-section.tsx';
import { LeadAttempts } from './lead-attempts.tsx';
import { Notices } from './notices.tsx';
import { ResultSection } from './result-section.tsx';

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
    model.selected.value = seq;
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
      <ResultSection results={answer.results} />
      <LeadAttempts delivery={answer} />
      <BodySection delivery={answer} />
      <HeaderSection headers={answer.headers} />
    </article>
  );
}
