/**
 * Turns an agent's Markdown into React elements. None of its HTML is taken over, its links open in a new tab without a
 * referrer, and its pictures become links, so that reading an answer sends no request to anybody.
 */
import { marked, type Token, type Tokens } from 'marked';
import { Fragment, memo, type ReactNode } from 'react';

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return <div className="space-y-3 leading-6 break-words">{blocks(withLevels(marked.lexer(text)))}</div>;
});

/** Levels of headings in the outline of the page, which skips none whatever the text does. */
const LEVELS = new WeakMap<Token, number>();

function withLevels(tokens: Token[]): Token[] {
  // Texts are shown below headings of the second level.
  let before = 2;
  void marked.walkTokens(tokens, (token) => {
    if (token.type !== 'heading') return;
    before = Math.min(6, (token as Tokens.Heading).depth + 2, before + 1);
    LEVELS.set(token, before);
  });
  return tokens;
}

const blocks = (tokens: readonly Token[]): ReactNode =>
  tokens.map((token, i) => <Fragment key={i}>{block(token)}</Fragment>);

const HEADINGS = ['text-xl', 'text-lg', 'text-base', 'text-base', 'text-sm', 'text-sm'];

function block(token: Token): ReactNode {
  switch (token.type) {
    case 'space':
      return null;
    case 'heading':
      // A heading is drawn as a paragraph, whatever its depth, because the page has an outline of its own.
      return (
        <p role="heading" aria-level={LEVELS.get(token) ?? 3} className={`font-semibold ${HEADINGS[token.depth - 1]}`}>
          {inline(token.tokens)}
        </p>
      );
    case 'paragraph':
      return <p>{inline(token.tokens)}</p>;
    case 'text':
      return token.tokens ? inline(token.tokens) : token.text;
    case 'code':
      return (
        <pre tabIndex={0} className="overflow-x-auto rounded-md border bg-raised p-2 font-mono text-xs leading-5">
          {token.text}
        </pre>
      );
    case 'blockquote':
      return <blockquote className="space-y-2 border-l-2 pl-3 text-soft">{blocks(token.tokens ?? [])}</blockquote>;
    case 'hr':
      return <hr />;
    case 'list':
      return <List list={token as Tokens.List} />;
    case 'table':
      return <Table table={token as Tokens.Table} />;
    default:
      return <span className="whitespace-pre-wrap">{token.raw}</span>;
  }
}

function List({ list }: { list: Tokens.List }) {
  const items = list.items.map((item, i) => (
    <li key={i} className="pl-1">
      {item.task && (
        <input type="checkbox" checked={item.checked ?? false} readOnly disabled aria-label="done" className="mr-2" />
      )}
      {blocks(item.tokens)}
    </li>
  ));
  return list.ordered ? (
    <ol start={Number(list.start) || 1} className="list-decimal space-y-1 pl-6">
      {items}
    </ol>
  ) : (
    <ul className="list-disc space-y-1 pl-6">{items}</ul>
  );
}

function Table({ table }: { table: Tokens.Table }) {
  return (
    <div tabIndex={0} role="group" aria-label="Table" className="overflow-x-auto">
      <table className="text-sm">
        <thead>
          <tr>
            {table.header.map((cell, i) => (
              <th key={i} className="border px-2 py-1 text-left">
                {inline(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j} className="border px-2 py-1">
                  {inline(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const inline = (tokens: readonly Token[] = []): ReactNode =>
  tokens.map((token, i) => <Fragment key={i}>{piece(token)}</Fragment>);

function piece(token: Token): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token.tokens)}</strong>;
    case 'em':
      return <em>{inline(token.tokens)}</em>;
    case 'del':
      return <del>{inline(token.tokens)}</del>;
    case 'codespan':
      return <code className="rounded bg-raised px-1 font-mono text-xs">{token.text}</code>;
    case 'br':
      return <br />;
    case 'link':
    case 'image':
      return <Away href={token.href as string}>{token.tokens ? inline(token.tokens) : token.text || token.href}</Away>;
    case 'escape':
      return token.text;
    case 'text':
      return token.tokens ? inline(token.tokens) : decoded(token.text as string);
    default:
      return token.raw;
  }
}

/** Follows only links to a web page or a mail address, and no other scheme. */
function Away({ href, children }: { href: string; children: ReactNode }) {
  if (!/^(https?:|mailto:)/i.test(href)) return <>{children}</>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" className="text-accent underline">
      {children}
    </a>
  );
}

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };
const decoded = (text: string): string => text.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity]!);
