/** Uses the platform's own dialog, which keeps the focus, closes by Escape, and gives the focus back. */
import { useEffect, useId, useRef, type ReactNode } from 'react';
import { IconButton } from './button.tsx';
import { cx } from './cx.ts';

interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
  /** The dialog has no head, because its content names itself. */
  isBare?: boolean;
  className?: string;
}

export function Dialog({ title, isOpen, onClose, children, isBare = false, className }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    if (isOpen && !dialog.current?.open) dialog.current?.showModal();
    if (!isOpen && dialog.current?.open) dialog.current.close();
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
      className={cx('card w-[min(36rem,calc(100vw-1.5rem))] p-0 text-ink shadow-xl', className)}
      {...(isBare ? { 'aria-label': title } : { 'aria-labelledby': id })}
    >
      {isOpen && !isBare && (
        <div className="flex items-center justify-between border-b py-2 pr-2 pl-4">
          <h2 id={id} className="font-semibold">
            {title}
          </h2>
          <IconButton icon="cross" label="Close" onClick={onClose} />
        </div>
      )}
      {isOpen && children}
    </dialog>
  );
}
