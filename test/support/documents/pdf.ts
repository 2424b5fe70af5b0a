/** Makes PDF files, byte by byte, good ones and others. */

/** @returns a PDF of these objects, the first of which is the catalog */
export function pdfOf(objects: readonly string[], trailer = ''): Buffer {
  let out = '%PDF-1.4\n';
  const offsets: number[] = [];
  for (const [at, object] of objects.entries()) {
    offsets.push(out.length);
    out += `${at + 1} 0 obj\n${object}\nendobj\n`;
  }
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  out += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}`;
  const start = out.indexOf('xref\n0 ');
  out += `trailer << /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF`;
  return Buffer.from(out, 'latin1');
}

export const streamOf = (content: string, more = ''): string =>
  `<< /Length ${content.length} ${more} >>\nstream\n${content}\nendstream`;

/** @returns the commands that put cells in lines from the top of a page */
export const textOf = (...lines: readonly (readonly string[])[]): string =>
  lines
    .flatMap((cells, line) =>
      cells.map((cell, column) => {
        const text = cell.replaceAll(/[()\\]/g, String.raw`\$&`);
        return `BT /F1 12 Tf ${72 + column * 150} ${700 - line * 20} Td (${text}) Tj ET`;
      }),
    )
    .join('\n');

/** @returns a PDF with a page for each of these contents */
export function pdfOfPages(contents: readonly string[], trailer = ''): Buffer {
  const kids = contents.map((_, at) => `${4 + at * 2} 0 R`).join(' ');
  return pdfOf(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      `<< /Type /Pages /Kids [${kids}] /Count ${contents.length} >>`,
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      ...contents.flatMap((content, at) => [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + at * 2} 0 R ` +
          '/Resources << /Font << /F1 3 0 R >> >> >>',
        streamOf(content),
      ]),
    ],
    trailer,
  );
}
