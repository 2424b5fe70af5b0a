/** Reads a mail: who wrote to whom and when, its text, and what is attached, which is not opened. Nothing is fetched. */
import PostalMime, { type Address } from 'postal-mime';
import { damagedDocument } from './archive.ts';
import { htmlText } from './html.ts';
import { limitedText, type OpenDocument } from './model.ts';

/** @throws DocumentError damaged, too_large */
export async function readMail(bytes: Buffer): Promise<OpenDocument> {
  const mail = await PostalMime.parse(bytes, { forceRfc822Attachments: true }).catch(() => {
    throw damagedDocument('its parts');
  });
  const { from, to = [], cc = [], subject, date, attachments } = mail;
  const header = [
    ['From', from ? nameOf(from) : ''],
    ['To', to.map(nameOf).join(', ')],
    ['Cc', cc.map(nameOf).join(', ')],
    ['Date', date ?? ''],
    ['Subject', subject ?? ''],
  ]
    .filter(([, value]) => value !== '')
    .map(([title, value]) => `${title}: ${value}`);
  const body = mail.text?.trim() ? mail.text : htmlText(mail.html ?? '');
  const attached = attachments.map(
    ({ filename, mimeType, content }) =>
      `[attachment, not opened] ${filename ?? 'without a name'} (${mimeType}, ${sizeOf(content).toLocaleString('en')} bytes)`,
  );
  const text = limitedText([header.join('\n'), body.trim(), attached.join('\n')].filter(Boolean).join('\n\n'));
  const count = attachments.length;
  const note = count === 0 ? 'a mail' : `a mail with ${count} attached, to be attached here by themselves`;
  return { unit: null, count: 1, note, text: () => text };
}

const nameOf = ({ name, address, group }: Address): string =>
  group
    ? `${name}: ${group.map(nameOf).join(', ')}`
    : name && address
      ? `${name} <${address}>`
      : name || (address ?? '');

const sizeOf = (content: ArrayBuffer | Uint8Array | string): number =>
  typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;
