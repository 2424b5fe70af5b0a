/** Shows a secret once and never again. */
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Command } from './copy.tsx';
import { Dialog } from './dialog.tsx';

interface SecretProps {
  title: string;
  secret: string;
  onClose: () => void;
  children: ReactNode;
}

export function Secret({ title, secret, onClose, children }: SecretProps) {
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <div className="space-y-3 p-4">
        <p>{children}</p>
        <Command label="secret" text={secret} />
        <div className="flex justify-end">
          <Button look="primary" onClick={onClose}>
            I have kept it
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
