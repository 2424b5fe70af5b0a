/** Makes archives, byte by byte, and documents of Office in them; also such that lie. */
import { crc32, deflateRawSync } from 'node:zlib';

interface Part {
  name: string;
  content: string | Buffer;
  /** What the archive says of its size, where that is not true. */
  claims?: number;
  isEncrypted?: boolean;
}

export function zipOf(parts: readonly Part[]): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, claims, isEncrypted = false } of parts) {
    const plain = Buffer.from(content);
    const packed = deflateRawSync(plain);
    const header = Buffer.alloc(26);
    header.writeUInt16LE(20, 0);
    header.writeUInt16LE(isEncrypted ? 0x801 : 0x800, 2);
    header.writeUInt16LE(8, 4);
    header.writeUInt32LE(crc32(plain), 10);
    header.writeUInt32LE(packed.length, 14);
    header.writeUInt32LE(claims ?? plain.length, 18);
    header.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), header, Buffer.from(name), packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), header, place, Buffer.from(name)]));
    files.push(local);
    offset += local.length;
  }
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  const entries = Buffer.concat(directory);
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(entries.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...files, entries, end]);
}

const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships';

/** @param targets by id; one that is no path is outside */
export const relationsOf = (targets: Readonly<Record<string, string>>): string =>
  `<Relationships xmlns="${RELATIONS}">${Object.entries(targets)
    .map(([id, target]) => {
      const mode = target.includes('://') ? ' TargetMode="External"' : '';
      return `<Relationship Id="${id}" Type="t" Target="${target}"${mode}/>`;
    })
    .join('')}</Relationships>`;

/** @param body the XML inside the body of the document */
export const docxOf = (body: string, more: readonly Part[] = []): Buffer =>
  zipOf([
    { name: '[Content_Types].xml', content: '<Types/>' },
    {
      name: 'word/document.xml',
      content: `<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="w" xmlns:r="r"><w:body>${body}</w:body></w:document>`,
    },
    ...more,
  ]);

export const paragraph = (text: string, properties = ''): string =>
  `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
