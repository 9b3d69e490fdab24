import type { VNode } from 'preact';
import type { WireDelivery } from '../../wire.ts';

interface BodyEditorProps {
  readonly delivery: WireDelivery;
  /** Null: the stored bytes are sent. */
  readonly body: string | null;
  readonly onChange: (body: string | null) => void;
}

export function BodyEditor({ delivery, body, onChange }: BodyEditorProps): VNode {
  const { text, isCut, hasInvalidText, missing, formatted } = delivery;
  if (isCut || hasInvalidText || missing !== null) {
    return (
      <p class="note">The body cannot be edited here: the page does not have all of its bytes as text.</p>
    );
  }
  return (
    <div class="body-editor">
      <label class="check">
        <input
          type="checkbox"
          checked={body !== null}
          onChange={({ currentTarget }) => onChange(currentTarget.checked ? (formatted ?? text) : null)}
        />
        Edit the body first
      </label>
      {body !== null && (
        <textarea
          class="text-area"
          rows={12}
          spellcheck={false}
          aria-label="Body"
          value={body}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </div>
  );
}
