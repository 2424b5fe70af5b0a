/** Documents as programs write them: `files/` has what reportlab, pikepdf, openpyxl, python-docx and python-pptx made. */
import { readFileSync } from 'node:fs';

export const fileOf = (name: string): Buffer => readFileSync(new URL(`./files/${name}`, import.meta.url));
