/** Shows what an agent made as people read it. */
import { lazy, Suspense } from 'react';
import { asText, Value } from './json.tsx';

const Markdown = lazy(() => import('./markdown.tsx').then((module) => ({ default: module.Markdown })));

/** A longer text is shown folded and as plain text. */
const LARGE = 64_000;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const extensionOf = (content: unknown): string => {
  if (typeof content !== 'string') return 'json';
  if (/^\s*(<\?xml[^>]*>\s*)?<svg/.test(content)) return 'svg';
  return /^\s*</.test(content) ? 'html' : 'md';
};

/** No script of a drawing runs in an `<img>`, and it loads nothing from elsewhere. */
const Drawing = ({ svg }: { svg: string }) => (
  <figure className="space-y-2">
    <img
      src={`data:image/svg+xml,${encodeURIComponent(svg)}`}
      alt="The drawing"
      className="max-h-96 max-w-full rounded-md border bg-surface"
    />
    <details>
      <summary className="text-xs text-soft">Source</summary>
      <Value value={svg} label="the drawing" filename="drawing.svg" />
    </details>
  </figure>
);

/** Shows a text as it is read, and each field of an object by the kind of its value. */
export function Content({ content }: { content: unknown }) {
  if (isObject(content) && asText(content).length <= LARGE) {
    return (
      <dl className="space-y-3">
        {Object.entries(content).map(([name, value]) => (
          <div key={name}>
            <dt className="text-xs text-soft">{name.replaceAll('_', ' ')}</dt>
            <dd>{isObject(value) ? <Value value={value} label={name} /> : <Content content={value} />}</dd>
          </div>
        ))}
      </dl>
    );
  }
  const drawing = typeof content === 'string' && extensionOf(content) === 'svg' ? content : undefined;
  if (drawing !== undefined && drawing.length <= LARGE) return <Drawing svg={drawing} />;
  const isPage = typeof content === 'string' && /^\s*</.test(content);
  if (typeof content !== 'string' || isPage || content.length > LARGE) {
    return <Value value={content} label="the content" filename={`content.${extensionOf(content)}`} />;
  }
  return (
    <Suspense fallback={<p className="whitespace-pre-wrap">{content}</p>}>
      <Markdown text={content} />
    </Suspense>
  );
}
