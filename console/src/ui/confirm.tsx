/**
 * Asks before something that costs money or cannot be undone. The dialog says what will happen, and shows a refusal
 * where the question was asked.
 */
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Refusal } from './empty.tsx';

interface ConfirmProps {
  title: string;
  /** The verb on the button. */
  action: string;
  isDangerous?: boolean;
  isOpen: boolean;
  onClose: () => void;
  /** Where it throws, the error is shown and the dialog stays. */
  onConfirm: () => Promise<unknown>;
  children: ReactNode;
}

export function Confirm({ title, action, isDangerous = false, isOpen, onClose, onConfirm, children }: ConfirmProps) {
  const deed = useMutation({ mutationFn: onConfirm, onSuccess: onClose });
  const close = () => {
    deed.reset();
    onClose();
  };
  return (
    <Dialog title={title} isOpen={isOpen} onClose={close}>
      <form
        className="space-y-3 p-4"
        onSubmit={(event) => {
          event.preventDefault();
          deed.mutate();
        }}
      >
        {children}
        <Refusal error={deed.error} />
        <div className="flex justify-end gap-2 pt-1">
          <Button onClick={close}>Keep it as it is</Button>
          <Button type="submit" look={isDangerous ? 'danger' : 'primary'} isBusy={deed.isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
