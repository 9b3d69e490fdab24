import type { VNode } from 'preact';
import { visibleParts, withNamedCharacters } from './control-characters.ts';

/** Text from outside: isolated from the direction of what stands around it, with its hidden characters named. */
export function ReceivedText({ text }: { text: string }): VNode {
  return <bdi>{shown(text)}</bdi>;
}

/** More of them in one text are not worth an element each. */
const mostParts = 400;

/** The same without an element of its own. */
export function shown(text: string): (string | VNode)[] {
  const parts = visibleParts(text);
  if (parts.length > mostParts) return [withNamedCharacters(text)];
  return parts.map((part, i) =>
    part.isHidden ? (
      <span key={i} class="hidden-character">
        {part.text}
      </span>
    ) : (
      part.text
    ),
  );
}
