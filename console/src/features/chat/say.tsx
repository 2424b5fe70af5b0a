/** The box that a message is written in. Enter sends it, Shift and Enter begin a line. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { post } from '../../api/client.ts';
import { mayChange, useSession } from '../../api/session.ts';
import type { ChatThread, NewChatMessage } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { Refusal } from '../../ui/empty.tsx';
import { filesQuery } from '../attachments/files.tsx';

export function Say({ thread, onSaid }: { thread: ChatThread; onSaid: () => void }) {
  const path = `/v1/chat/threads/${thread.id}`;
  const files = useQuery(filesQuery(`${path}/attachments`));
  const [text, setText] = useState('');
  const [about, setAbout] = useState<readonly string[]>([]);
  const saying = useMutation({
    mutationFn: () => {
      const body: NewChatMessage = { content: text.trim(), attachment_ids: [...about] };
      return post(`${path}/messages`, body);
    },
    onSuccess() {
      setText('');
      setAbout([]);
      onSaid();
    },
  });
  const say = () => {
    if (text.trim() !== '' && !saying.isPending) saying.mutate();
  };
  if (!mayChange(useSession())) return null;
  return (
    <form
      aria-label="Say something"
      className="space-y-2 border-t bg-surface p-3"
      onSubmit={(event) => {
        event.preventDefault();
        say();
      }}
    >
      {files.data && files.data.data.length > 0 && (
        <fieldset className="flex flex-wrap gap-x-4 text-sm">
          <legend className="sr-only">It is about these files</legend>
          {files.data.data.map((file) => (
            <label key={file.id} className="flex min-h-8 items-center gap-2 pointer-coarse:min-h-11">
              <input
                type="checkbox"
                checked={about.includes(file.id)}
                onChange={({ target }) =>
                  setAbout(target.checked ? [...about, file.id] : about.filter((each) => each !== file.id))
                }
              />
              {file.filename}
            </label>
          ))}
        </fieldset>
      )}
      <div className="flex items-end gap-2">
        <textarea
          aria-label="Message"
          rows={2}
          maxLength={100_000}
          className="field min-w-0 flex-1 py-1.5"
          placeholder="Enter sends it"
          value={text}
          onChange={({ target }) => setText(target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
            event.preventDefault();
            say();
          }}
        />
        <Button type="submit" look="primary" isBusy={saying.isPending} disabled={text.trim() === ''}>
          Send
        </Button>
      </div>
      <Refusal error={saying.error} />
    </form>
  );
}
