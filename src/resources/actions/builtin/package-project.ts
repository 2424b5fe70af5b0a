/**
 * Renders a small code project as one HTML file, in which its README is read and its files are viewed and downloaded.
 */
import { z } from 'zod';
import { ActionError, type Action } from './action.ts';
import { paletteOf } from './rendering/colours.ts';
import { fileOf } from './rendering/file.ts';
import { MarkdownPart, renderMarkdown, splitTitle } from './rendering/markdown.ts';
import { html } from './rendering/markup.ts';
import { languageOf, page } from './rendering/page.ts';
import { allParts, findPart, requirePart, Words } from './rendering/sources.ts';

const Files = z.object({
  files: z
    .array(z.object({ path: Words, content: z.string() }))
    .min(1)
    .max(200),
});
const Readme = z.object({ readme: Words }).transform(({ readme }) => ({ content: readme }));

const CSS = `
main{max-width:60rem;margin:0 auto;padding:clamp(1.5rem,5vw,3.5rem) 1.25rem 6rem}
h1{font-size:clamp(2rem,6vw,3rem);letter-spacing:-.025em;margin:0 0 1.5rem}
h2{margin:2.5rem 0 .75rem}
.tree{list-style:none;margin:0 0 2rem;padding:1rem 1.25rem;border:1px solid color-mix(in srgb,var(--ink) 18%,transparent);border-radius:.75rem;font-family:ui-monospace,Menlo,Consolas,monospace}
.tree li{display:flex;justify-content:space-between;gap:1rem;padding:.2rem 0}
.size{opacity:.7;white-space:nowrap}
article{margin:0 0 2rem}
article table{display:block;overflow-x:auto;border-collapse:collapse}
article th,article td{text-align:left;vertical-align:top;padding:.4rem 1rem .4rem 0;border-bottom:1px solid color-mix(in srgb,var(--ink) 18%,transparent)}
.tree a{min-width:0;overflow-wrap:anywhere}
.file{margin:0 0 2rem;border:1px solid color-mix(in srgb,var(--ink) 18%,transparent);border-radius:.75rem;overflow:hidden}
.file header{display:flex;flex-wrap:wrap;gap:.5rem 1rem;justify-content:space-between;align-items:center;padding:.6rem 1rem;background:color-mix(in srgb,var(--ink) 6%,transparent)}
.file h3{margin:0;font-size:1rem;font-family:ui-monospace,Menlo,Consolas,monospace}
pre{margin:0;padding:1rem;overflow-x:auto;font-size:.9rem;line-height:1.5;tab-size:2}
`;

/** @throws ActionError for a path that would write outside the folder into which somebody unpacks the project */
function checkedPath(path: string): string {
  const parts = path.replaceAll('\\', '/').replace(/^\.\//, '').split('/');

  const isBad = (part: string) => part === '' || part === '.' || part === '..' || /[\u0000-\u001f:]/.test(part);
  if (parts.length > 20 || path.length > 300 || parts.some(isBad)) {
    throw new ActionError(`${JSON.stringify(path.slice(0, 100))} is not a path of a file inside the project`);
  }
  return parts.join('/');
}

/**
 * Renames files whose path is taken, because two steps may choose the same one: the second becomes `app-2.js`, and no
 * file is lost.
 */
function apart<File extends { path: string }>(files: readonly File[]): File[] {
  const taken = new Set<string>();
  return files.map((file) => {
    let { path } = file;
    for (let nth = 2; taken.has(path); nth += 1) path = file.path.replace(/(\.\w+)?$/, `-${nth}$1`);
    taken.add(path);
    return { ...file, path };
  });
}

export const packageProject: Action = {
  name: 'package_project',
  description:
    'Packs code files [{path, content}] of all earlier steps and their readme into one HTML file in which they can be read ' +
    'and downloaded one by one.',
  effect: 'read',
  isPure: true,
  async run(context) {
    requirePart(context, 'code files', 'files', Files);
    const given = allParts(context, Files).flatMap(({ files: some }) => some);
    const files = apart(given.map(({ path, content }) => ({ path: checkedPath(path), content })));

    const readme = findPart(context, Readme) ?? findPart(context, MarkdownPart);
    const { title } = context.project;
    const sizeOf = ({ content }: { content: string }) => {
      const bytes = Buffer.byteLength(content);
      return bytes < 1_000 ? `${bytes} B` : `${(bytes / 1_000).toFixed(1)} kB`;
    };
    const download = ({ content }: { content: string }) =>
      `data:text/plain;charset=utf-8;base64,${Buffer.from(content).toString('base64')}`;
    const body = html`<main>
      <h1>${title}</h1>
      ${readme && html`<article>${renderMarkdown(splitTitle(readme.content).rest, 'readme-').body}</article>`}
      <h2 id="files">Files</h2>
      <ul class="tree">
        ${files.map(
          (file, index) =>
            html`<li><a href="#file-${index + 1}">${file.path}</a><span class="size">${sizeOf(file)}</span></li>`,
        )}
      </ul>
      ${files.map(
        (file, index) =>
          html`<section class="file">
            <header>
              <h3 id="file-${index + 1}">${file.path}</h3>
              <a href="${download(file)}" download="${file.path.split('/').at(-1)}">Download ${file.path}</a>
            </header>
            <pre tabindex="0"><code>${file.content}</code></pre>
          </section> `,
      )}
    </main>`;
    const language = languageOf(context.project);
    return fileOf(context, 'text/html', page({ title, language, palette: paletteOf(context), css: CSS, body }));
  },
};
