import type { VNode } from 'preact';
import { visibleParts } from './control-characters.ts';

/** Text from outside: isolated from the direction of what stands around it, with its hidden characters named. */
export function ReceivedText({ text }: { text: string }): VNode {
  return <bdi>{shown(text)}</bdi>;
}

/** The same without an element of its own. */
export function shown(text: string): (string | VNode)[] {
  return visibleParts(text).map((part, i) =>
    part.isHidden ? (
      <span key={i} class="hidden-character">
        {part.text}
      </span>
    ) : (
      part.text
    ),
  );
}
