/** A field that takes files, and lists those that were chosen. */
import { bytes } from './figures.ts';
import { IconButton } from './button.tsx';
import { Field } from './field.tsx';

interface FileFieldProps {
  label: string;
  hint: string;
  files: readonly File[];
  onChange: (files: File[]) => void;
  accept?: string;
}

export function FileField({ label, hint, files, onChange, accept }: FileFieldProps) {
  return (
    <div className="space-y-1">
      <Field label={label} hint={hint}>
        {(props) => (
          <input
            {...props}
            type="file"
            multiple
            accept={accept}
            className="field w-full py-1"
            onChange={({ target }) => {
              const chosen = [...(target.files ?? [])];
              // The same file can be chosen again after it was taken away.
              target.value = '';
              if (chosen.length > 0) onChange([...files, ...chosen]);
            }}
          />
        )}
      </Field>
      {files.length > 0 && (
        <ul aria-label="Chosen files" className="text-sm">
          {files.map((file, i) => (
            <li key={file.name + i} className="flex items-center gap-2">
              <span className="min-w-0 truncate">{file.name}</span>
              <span className="tabular text-soft">{bytes(file.size)}</span>
              <IconButton
                icon="cross"
                label={`Leave ${file.name} out`}
                onClick={() => onChange(files.filter((each) => each !== file))}
              />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
