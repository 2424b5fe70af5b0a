/** Forms with files as they must not be, for an endpoint that takes files. */
import type { Endpoint } from '../../../src/platform/http/endpoint.ts';

export interface HostileForm {
  name: string;
  body: Buffer;
  headers: Record<string, string>;
}

const BOUNDARY = 'a-boundary';
const MULTIPART = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };

const part = (disposition: string, content: string | Buffer = 'x', more = ''): Buffer =>
  Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: ${disposition}\r\n${more}\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
const end = Buffer.from(`--${BOUNDARY}--\r\n`);

/** A form that is right but for what is in it. */
export function uploadOf(
  { uploads }: Endpoint,
  { filename = 'a.txt', content = 'x' }: { filename?: string; content?: string },
): Pick<HostileForm, 'body' | 'headers'> {
  const file = part(`form-data; name="${uploads?.field ?? 'file'}"; filename="${filename}"`, content);
  return { headers: MULTIPART, body: Buffer.concat([file, end]) };
}

/** The first has a file of a byte too many. */
export function uploadBodies({ upload, uploads }: Endpoint): HostileForm[] {
  const field = uploads?.field ?? 'file';
  const maxBytes = upload?.maxBytes ?? uploads?.maxBytes ?? 0;
  const file = (filename: string, content?: string | Buffer, more?: string) =>
    part(`form-data; name="${field}"; filename="${filename}"`, content, more);
  const form = (name: string, parts: Buffer[], headers: Record<string, string> = MULTIPART): HostileForm => ({
    name,
    headers,
    body: Buffer.concat([...parts, end]),
  });
  const unfinished = (name: string, parts: Buffer[]): HostileForm => ({
    name,
    headers: MULTIPART,
    body: Buffer.concat(parts),
  });
  return [
    form('a byte over the limit', [file('a.txt', Buffer.alloc(maxBytes + 1, 'x'))]),
    form('no part', []),
    unfinished('nothing', []),
    unfinished('no end', [file('a.txt')]),
    unfinished('half a header', [Buffer.from(`--${BOUNDARY}\r\nContent-Disp`)]),
    form('no boundary', [file('a.txt')], { 'content-type': 'multipart/form-data' }),
    form('another boundary', [file('a.txt')], { 'content-type': 'multipart/form-data; boundary=b' }),
    form('an empty boundary', [file('a.txt')], { 'content-type': 'multipart/form-data; boundary=""' }),
    form('a long boundary', [file('a.txt')], { 'content-type': `multipart/form-data; boundary=${'b'.repeat(5_000)}` }),
    form('another field', [part('form-data; name="another"; filename="a.txt"')]),
    form('a field for a file', [part(`form-data; name="${field}"`)]),
    form('a part without a name', [part('form-data; filename="a.txt"')]),
    form('a part of another kind', [part(`attachment; name="${field}"; filename="a.txt"`)]),
    form(
      '1,000 files',
      Array.from({ length: 1_000 }, (_, i) => file(`${i}.txt`)),
    ),
    form('1,000 fields', [...Array.from({ length: 1_000 }, (_, i) => part(`form-data; name="f${i}"`)), file('a.txt')]),
    form('fields of the prototype', [
      part('form-data; name="__proto__[polluted]"'),
      part('form-data; name="constructor[prototype][polluted]"'),
      part(`form-data; name="a${'[a]'.repeat(2_000)}"`),
      file('a.txt'),
    ]),
    form('a large field', [part('form-data; name="text"', 'x'.repeat(2_000_000)), file('a.txt')]),
    form('an empty file', [file('a.txt', '')]),
    form('no file name', [file('')]),
    form('a file name that leads up', [file('../../../etc/passwd')]),
    form('a file name with a NUL', [file('a\0.txt')]),
    form('a file name that is no UTF-8', [
      Buffer.from(
        `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"; filename="\xff\xfe"\r\n\r\nx\r\n`,
        'latin1',
      ),
    ]),
    form('a file name in another encoding', [
      part(`form-data; name="${field}"; filename*=UTF-8''%ff%00%ed%a0%80; filename="a.txt"`),
    ]),
    form('a long file name', [file('x'.repeat(5_000))]),
    form('a file name of accents', [file(`e${'\u0301'.repeat(2_000)}.png`)]),
    form('a part with many headers', [file('a.txt', 'x', 'X-A: b\r\n'.repeat(3_000))]),
    form('a part with a long header', [file('a.txt', 'x', `X-A: ${'b'.repeat(100_000)}\r\n`)]),
    form('a part in an encoding', [file('a.txt', 'x', 'Content-Transfer-Encoding: base64\r\n')]),
    form('a part of a type that is none', [file('a.txt', 'x', 'Content-Type: ;;//\r\n')]),
    form('a form in a form', [file('a.txt', 'x', 'Content-Type: multipart/mixed; boundary=c\r\n')]),
    form('a picture that is none', [
      file('a.png', Buffer.from('89504e470d0a1a0a0000000d49484452ffffffffffffffff', 'hex')),
    ]),
    form('a drawing with a script', [file('a.svg', '<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')]),
    { name: 'JSON', body: Buffer.from('{}'), headers: { 'content-type': 'application/json' } },
    { name: 'JSON that says it is a form', body: Buffer.from('{"file":"x"}'), headers: MULTIPART },
  ];
}
