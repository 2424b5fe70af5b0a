/** Asks for a confirmation code, in a box over the page that needs it. */
import { useState, useSyncExternalStore } from 'react';
import { askedNow, watchAsked } from '../../api/confirmation.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { plural } from '../../ui/figures.ts';

export function CodePrompt() {
  const [asked, ...others] = useSyncExternalStore(watchAsked, askedNow);
  // Each question has a box of its own, so that what was typed into one never stands in the next.
  return asked ? <Box key={asked.number} asked={asked} left={others.length} /> : null;
}

type Asked = ReturnType<typeof askedNow>[number];

function Box({ asked: { demand, isAgain, answer }, left }: { asked: Asked; left: number }) {
  const [code, setCode] = useState('');
  const [way, where = ''] = demand.delivery.split(/:(.*)/s);
  return (
    <Dialog title="Confirm with a code" isOpen onClose={() => answer(undefined)}>
      <form
        className="space-y-3 p-4"
        onSubmit={(event) => {
          event.preventDefault();
          answer(code.trim());
        }}
      >
        <p>
          {way === 'email'
            ? `Six digits were mailed to ${where}.`
            : `No mail server is set here, so the code is ${where}.`}
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
        {left > 0 && <p className="text-sm text-soft">After it, {plural(left, 'more code')} will be asked for.</p>}
        <div className="flex justify-end gap-2">
          <Button onClick={() => answer(undefined)}>Cancel</Button>
          <Button type="submit" look="primary">
            Confirm
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
