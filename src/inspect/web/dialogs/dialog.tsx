import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button, Icon } from '../elements.tsx';
import { useModel } from '../state/page-model.ts';

/** A modal dialog: the browser keeps the focus in it, closes it at Escape and gives the focus back. */
export function Dialog({ title, children }: { title: string; children: ComponentChildren }): VNode {
  const { dialog } = useModel();
  const element = useRef<HTMLDialogElement>(null);
  const isPressedOutside = useRef(false);
  const titleId = useId();
  const shown = useRef(dialog.value);
  // At once when Escape is pressed: the next key is meant for the page, and may open another dialog, which stays.
  const forget = (): void => {
    if (dialog.value === shown.current) dialog.value = null;
  };
  useEffect(() => {
    const opened = element.current;
    opened?.showModal();
    // Not autofocus: of an element that is added later, the browser writes to the console that it ignores it.
    opened?.querySelector<HTMLElement>('[data-focus-first]')?.focus();
    // The browser gives the focus back only when it closes the dialog, not when it is removed.
    return () => opened?.close();
  }, []);
  return (
    <dialog
      ref={element}
      class="dialog"
      aria-labelledby={titleId}
      onCancel={forget}
      onClose={forget}
      onPointerDown={({ target }) => (isPressedOutside.current = target === element.current)}
      onClick={({ target }) => {
        // Selecting text may end outside, which must not close what is being edited.
        if (isPressedOutside.current && target === element.current) element.current?.close();
      }}
    >
      <div class="dialog-content">
        <div class="dialog-head">
          <h2 id={titleId}>{title}</h2>
          <Button class="button quiet" aria-label="Close" onClick={() => element.current?.close()}>
            <Icon>
              <path d="m4 4 8 8m0-8-8 8" />
            </Icon>
          </Button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
