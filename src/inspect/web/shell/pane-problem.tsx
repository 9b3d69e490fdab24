import type { VNode } from 'preact';
import type { Problem } from '../server/problem.ts';
import { closePane } from '../state/delivery-actions.ts';
import { useModel } from '../state/page-model.ts';
import { sentence } from '../text/sentence.ts';

/** In place of what the pane cannot show. */
export function PaneProblem({ problem, title }: { problem: Problem; title: string }): VNode {
  const model = useModel();
  return (
    <div class="pane-problem" role="alert">
      <h2>{title}</h2>
      <p>{problem.code === 'not-found' ? 'It may have been pruned or erased.' : sentence(problem.message)}</p>
      <div class="actions">
        <button type="button" class="button" onClick={() => model.version.value++}>
          Try again
        </button>
        <button type="button" class="button quiet" onClick={() => closePane(model)}>
          Back to the list
        </button>
      </div>
    </div>
  );
}
