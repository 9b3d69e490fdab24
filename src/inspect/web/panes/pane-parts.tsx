import type { VNode } from 'preact';
import { Button, Icon } from '../elements.tsx';
import type { Problem } from '../api-client/problem.ts';
import { closePane } from '../state/delivery-actions.ts';
import { useModel } from '../state/page-model.ts';
import { sentence } from '../text/format.ts';

/** An arrow where the pane covers the list, a cross where it stands beside it. */
export function ClosePane(): VNode {
  return (
    <Button class="button quiet close-pane" aria-label="Back" title="Back (Esc)" onClick={() => closePane()}>
      <Icon>
        <path class="back" d="M9.5 3.5 5 8l4.5 4.5" />
        <path class="close" d="m4 4 8 8m0-8-8 8" />
      </Icon>
    </Button>
  );
}

/** In place of what the pane cannot show. */
export function PaneProblem({ problem, title }: { problem: Problem; title: string }): VNode {
  const model = useModel();
  return (
    <div class="pane-problem" role="alert">
      <h2>{title}</h2>
      <p>{problem.code === 'not-found' ? 'It may have been pruned or erased.' : sentence(problem.message)}</p>
      <div class="actions">
        <Button class="button" onClick={() => model.version.value++}>
          Try again
        </Button>
        <Button class="button quiet" onClick={() => closePane()}>
          Back to the list
        </Button>
      </div>
    </div>
  );
}
