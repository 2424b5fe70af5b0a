/** Asks for a confirmation code, in a box over the page that needs it. */
import { useState, useSyncExternalStore } from 'react';
import { askedNow, watchAsked } from '../../api/confirmation.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';

export function CodePrompt() {
  const asked = useSyncExternalStore(watchAsked, askedNow);
  const [code, setCode] = useState('');
  if (!asked) return null;
  const { demand, isAgain, answer } = asked;
  const [way, where = ''] = demand.delivery.split(/:(.*)/s);
  const give = (value: string | undefined) => {
    setCode('');
    answer(value);
  };
  return (
    <Dialog title="Confirm with a code" isOpen onClose={() => give(undefined)}>
      <form
        className="space-y-3 p-4"
        onSubmit={(event) => {
          event.preventDefault();
          give(code.trim());
        }}
      >
        <p>
          {way === 'email'
            ? `Six digits were mailed to ${where}.`
            : `The code is in the log of the service (${where}).`}
          {isAgain && <strong role="alert"> That was not the code.</strong>}
        </p>
        <Field label="Code" hint={`For: ${demand.scope}`}>
          {(props) => (
            <input
              {...props}
              autoFocus
              required
              inputMode="numeric"
              autoComplete="one-time-code"
              pattern="\s*\d{6}\s*"
              title="Six digits"
              className="field tabular w-full"
              value={code}
              onChange={({ target }) => setCode(target.value)}
            />
          )}
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={() => give(undefined)}>Cancel</Button>
          <Button type="submit" look="primary">
            Confirm
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
