import type { VNode } from 'preact';
import type { WireVerdict } from '../../wire.ts';
import { useValue } from '../state/use-value.ts';
import { useModel } from '../state/page-model.ts';
import { VerdictIcon, verdicts, verdictWords } from '../text/verdict.tsx';

/** Any of the pressed ones; none pressed: all. */
export function VerdictFilter(): VNode {
  const model = useModel();
  const filter = useValue(model.filter);
  const toggle = (verdict: WireVerdict): void => {
    const others = filter.verdicts.filter((one) => one !== verdict);
    const wasPressed = others.length < filter.verdicts.length;
    model.setFilter({ ...filter, verdicts: wasPressed ? others : [...others, verdict] });
  };
  return (
    <div class="verdict-filter" role="group" aria-label="Verdict">
      {verdicts.map((verdict) => (
        <button
          key={verdict}
          type="button"
          class="chip"
          aria-pressed={filter.verdicts.includes(verdict)}
          onClick={() => toggle(verdict)}
        >
          <VerdictIcon verdict={verdict} />
          {verdictWords[verdict]}
        </button>
      ))}
    </div>
  );
}
