/** Finds the pictures that a run has read, for a model that sees. */
import { fieldsOf } from '../../platform/core/record.ts';
import { inTurn } from '../../platform/documents/in-turn.ts';
import { DocumentError } from '../../platform/documents/model.ts';
import { shownPicture } from '../../platform/documents/picture.ts';
import { FileNotFoundError, type FileStore } from '../../platform/files/files.ts';
import { seesPictures } from '../../platform/models/pictures.ts';
import type { ModelCredentials, ResolvedModel, ShownPicture } from '../../platform/models/types.ts';
import type { AttachmentStore } from '../attachments/store.ts';
import type { RunInTurn } from '../runs/store/run-in-turn.ts';

interface Dependencies {
  attachments: Pick<AttachmentStore, 'findAttachment'>;
  files: Pick<FileStore, 'get'>;
}

/** The latest so many are shown with each call; those before are read again where they are wanted. */
const MAX_SHOWN = 4;

/** Says with the result of a call what became of its picture. */
export const PICTURE_NOTES = {
  shown: 'the picture is shown with this',
  earlier: `not shown any more, as the latest ${MAX_SHOWN} pictures are: read it again to see it`,
  unseen: 'not shown: this model is not known to see pictures',
  gone: 'not shown: the picture is not there any more, or is damaged',
} as const;
type PictureNote = keyof typeof PICTURE_NOTES;

export interface PicturesOfRun {
  /** By the id of the call that read it. */
  shown: ReadonlyMap<string, ShownPicture>;
  notes: ReadonlyMap<string, PictureNote>;
}

export type LoadPictures = (
  run: Pick<RunInTurn, 'customerId' | 'toolCalls'>,
  resolved: ResolvedModel,
  credentials: ModelCredentials,
) => Promise<PicturesOfRun>;

export const createPictures =
  ({ attachments, files }: Dependencies): LoadPictures =>
  async ({ customerId, toolCalls }, resolved, credentials) => {
    const shown = new Map<string, ShownPicture>();
    const notes = new Map<string, PictureNote>();
    const load = async (id: string): Promise<ShownPicture | undefined> => {
      try {
        const file = await attachments.findAttachment(customerId, id);
        return file && (await inTurn(async () => shownPicture(await files.get(file.fileKey))));
      } catch (error) {
        if (error instanceof DocumentError || error instanceof FileNotFoundError) return undefined;
        throw error;
      }
    };
    const read = toolCalls.flatMap(({ callId, tool, status, result }) => {
      const { kind, id } = fieldsOf(result);
      const isPicture = tool === 'read_attachment' && status === 'succeeded' && kind === 'image';
      return isPicture && typeof id === 'string' ? [{ callId, id }] : [];
    });
    for (const [at, { callId, id }] of read.entries()) {
      if (!seesPictures(resolved, credentials)) notes.set(callId, 'unseen');
      else if (at < read.length - MAX_SHOWN) notes.set(callId, 'earlier');
      else {
        const picture = await load(id);
        if (picture) shown.set(callId, picture);
        notes.set(callId, picture ? 'shown' : 'gone');
      }
    }
    return { shown, notes };
  };
