import type { VNode } from 'preact';
import type { WireTarget } from '../../wire.ts';
import { ReceivedText } from '../text/received-text.tsx';

interface TargetChoiceProps {
  readonly targets: readonly WireTarget[];
  readonly chosen: WireTarget | null;
  readonly onChoose: (name: string) => void;
}

export function TargetChoice({ targets, chosen, onChoose }: TargetChoiceProps): VNode {
  if (targets.length === 0) {
    return <p class="notice">An edited delivery is sent to this machine only, and no target is on it.</p>;
  }
  return (
    <fieldset class="options">
      <legend>{targets.length === 1 ? 'Target' : 'Choose a target'}</legend>
      {targets.map((target) => (
        <label key={target.name} class="option">
          <input
            type="radio"
            name="target"
            checked={target === chosen}
            onChange={() => onChoose(target.name)}
          />
          <span class="option-name">
            <ReceivedText text={target.name} />
          </span>
          <span class="option-note">{target.scheme === null ? 'unsigned' : `signed: ${target.scheme}`}</span>
        </label>
      ))}
    </fieldset>
  );
}
