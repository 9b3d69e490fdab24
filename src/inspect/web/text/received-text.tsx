import type { VNode } from 'preact';
import { visibleParts, withNamedCharacters } from './text-parts.ts';

/** Text from outside could change the direction of the text around it, so it is isolated. */
export const ReceivedText = ({ text }: { text: string }): VNode => <bdi>{shown(text)}</bdi>;

/** An element for each part is expensive, so a text with more parts is drawn as one. */
const mostParts = 400;

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
