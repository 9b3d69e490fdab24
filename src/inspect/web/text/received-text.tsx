import type { VNode } from 'preact';
import { visibleParts, withNamedCharacters } from './text-parts.ts';

/** Text from outside: isolated from the direction of the text around it, with its hidden characters named. */
export const ReceivedText = ({ text }: { text: string }): VNode => <bdi>{shown(text)}</bdi>;

/** A text with more parts is drawn as one, since each part costs an element. */
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
