import { useEffect } from 'preact/hooks';

/** A button that was removed or disabled loses the focus to nothing: the part of the page that it stood in gets it. */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: Element | null = null;
    let part = 'list';
    const onFocus = ({ target }: FocusEvent): void => {
      if (!(target instanceof Element)) return;
      last = target;
      part = target.closest('#pane') === null ? 'list' : 'pane';
    };
    const onRemoved = new MutationObserver(() => {
      if (last === null || document.activeElement !== document.body) return;
      if (last.isConnected && !last.matches(':disabled')) return;
      document.getElementById(part)?.focus({ preventScroll: true });
    });
    document.addEventListener('focusin', onFocus);
    onRemoved.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
    return () => {
      document.removeEventListener('focusin', onFocus);
      onRemoved.disconnect();
    };
  }, []);
}
