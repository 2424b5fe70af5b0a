import { z } from 'zod';
import { readDocument } from '../../../platform/documents/documents.ts';
import { DocumentError, type Reading } from '../../../platform/documents/model.ts';
import { inTurn } from '../../../platform/documents/in-turn.ts';
import { isPicture, lookAtPicture } from '../../../platform/documents/picture.ts';
import type { AttachmentOwner } from '../../attachments/model.ts';
import { ToolError } from '../model.ts';
import { builtinTool } from './builtin-tool.ts';
import { documentPage, rangeOf } from './document-page.ts';
import { Offset, PAGE_LENGTH } from './text-page.ts';

interface AttachedFile {
  id: string;
  filename: string;
  contentType: string;
  sizeBytes: number;
  fileKey: string;
  reading: Reading | null;
}

export interface ReadAttachmentSource {
  /** @returns the owner of the files that this run may read */
  ownerOfRun(customerId: string, runId: string): Promise<AttachmentOwner | undefined>;
  /** @returns the files, the oldest first */
  list(customerId: string, owner: AttachmentOwner): Promise<AttachedFile[]>;
}

/** The list has only the latest files, because it is for choosing from. */
const MAX_LISTED = 200;

export const createReadAttachment = (source: ReadAttachmentSource) =>
  builtinTool({
    slug: 'read_attachment',
    area: 'projects',
    description:
      'Reads a reference file that people put beside this project, scheduled job or conversation: PDF, Word, Excel, ' +
      'PowerPoint, EPUB, HTML, CSV, text and pictures. Without id and filename it lists them: {attachments: [{id, filename, ' +
      'content_type, size_bytes, reads_as}], total}; reads_as says what it is, such as "20 pages of text", or why it ' +
      'cannot be read. With one of the two it returns its text: {id, filename, content_type, kind, content, ' +
      `next_offset}, at most ${PAGE_LENGTH} characters at a time. Where it has pages, sheets, slides or chapters, ` +
      '`pages` names the first and last of them, and {unit, pages, total_pages, next_pages} says what content has. To ' +
      'read on, pass next_pages as pages and next_offset as offset; both are null at the end. A ' +
      'picture is shown to you with the answer {kind: "image", width, height}, if you can see pictures. Of files with the same ' +
      'name it reads the latest.',
    effect: 'read',
    args: z.strictObject({
      id: z.string().max(100).optional().describe('Id from the list'),
      filename: z.string().max(1_000).optional().describe('Name from the list, instead of the id'),
      pages: z
        .string()
        .regex(/^\d{1,6}(-\d{0,6})?$/, 'expects a number or a range, such as 3, 3-7 or 3-')
        .optional()
        .describe('Pages, sheets, slides or chapters to read: 3, 3-7 or 3-. By default from the first'),
      offset: Offset,
    }),
    async execute({ id, filename, pages, offset }, { customerId, runId, files, signal }) {
      const owner = await source.ownerOfRun(customerId, runId);
      if (!owner)
        throw new ToolError('this run has no files beside it: it belongs to no project, scheduled job or conversation');
      const all = await source.list(customerId, owner);
      if (id === undefined && filename === undefined) {
        return { attachments: all.slice(-MAX_LISTED).map(listed), total: all.length };
      }
      const file = all.findLast((one) => (id === undefined ? one.filename === filename : one.id === id));
      if (!file) throw new ToolError('there is no such attachment: call without id and filename to list them');
      const range = rangeOf(pages ?? '1-');
      const read = async () => {
        const bytes = await files.get(file.fileKey);
        if (isPicture(bytes)) {
          const { width, height } = await lookAtPicture(bytes);
          return { ...described(file), kind: 'image', width, height };
        }
        const wanted = { ...range, bytes, filename: file.filename, characters: offset + PAGE_LENGTH };
        const document = await readDocument(wanted, signal);
        if (document.unit === null && range.first > 1) {
          throw new ToolError(`${file.filename} has no pages: read it by offset`);
        }
        const note = document.note === undefined ? {} : { note: document.note };
        return { ...described(file), kind: document.kind, ...note, ...documentPage(document, range, offset) };
      };
      try {
        return await inTurn(read, signal);
      } catch (error) {
        if (!(error instanceof DocumentError)) throw error;
        const { contentType, sizeBytes } = file;
        const about = `${file.filename} (${contentType}, ${sizeBytes} bytes)`;
        throw new ToolError(`${about} cannot be read: ${error.message}`);
      }
    },
  });

const described = ({ id, filename, contentType }: AttachedFile) => ({ id, filename, content_type: contentType });

const listed = (file: AttachedFile) => ({
  ...described(file),
  size_bytes: file.sizeBytes,
  reads_as: file.reading?.summary ?? null,
});
