/** Shows two versions of a picture side by side. */

/**
 * Finds the picture in an artifact: an SVG, or an address of the form `data:image/...`, alone or as a field.
 * @returns an address for an `<img>`, in which no script of an SVG runs and nothing is loaded from elsewhere
 */
export function imageOf(content: unknown): string | undefined {
  if (typeof content === 'string') {
    const text = content.trim();
    if (/^data:image\/(png|jpeg|gif|webp|svg\+xml)[;,]/.test(text)) return text;
    if (/^(<\?xml[^>]*>\s*)?<svg[\s>]/i.test(text)) return `data:image/svg+xml,${encodeURIComponent(text)}`;
    return undefined;
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return undefined;
  for (const value of Object.values(content)) {
    const found = typeof value === 'string' ? imageOf(value) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

interface Version {
  label: string;
  content: unknown;
}

export const ImagesBeside = ({ from, to }: { from: Version; to: Version }) => (
  <div role="group" aria-label={`Pictures of ${from.label} and ${to.label}`} className="grid gap-3 sm:grid-cols-2">
    {[from, to].map(({ label, content }) => (
      <figure key={label} className="min-w-0 space-y-1">
        <figcaption className="text-xs text-soft">{label}</figcaption>
        <img src={imageOf(content)} alt={`The picture of ${label}`} className="w-full rounded-md border bg-surface" />
      </figure>
    ))}
  </div>
);
