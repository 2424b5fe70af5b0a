/**
 * Code that verifies `X-Service-Signature: t=<unix seconds>,v1=<hex>[,v1=<hex>]`, which is over `<t>.<raw body>`. It
 * refuses a signature that is older than five minutes. `test/console/snippets.test.ts` runs each of them.
 */
export const SNIPPETS = {
  Node: `import { createHmac, timingSafeEqual } from 'node:crypto';

// rawBody: the bytes as they came, before any JSON parser.
export function isGenuine(secret, header, rawBody) {
  const [time, ...signatures] = (header ?? '').split(',');
  const t = time.replace('t=', '');
  if (!(Math.abs(Date.now() / 1000 - Number(t)) <= 300)) return false;
  const expected = Buffer.from('v1=' + createHmac('sha256', secret).update(t + '.').update(rawBody).digest('hex'));
  return signatures.map((each) => Buffer.from(each)).some((each) => each.length === expected.length && timingSafeEqual(each, expected));
}`,
  'Web Crypto': `// For Workers, Deno, Bun and browsers. rawBody: the bytes as they came, as a Uint8Array.
export async function isGenuine(secret, header, rawBody) {
  const [time, ...signatures] = (header ?? '').split(',');
  const t = time.replace('t=', '');
  if (!(Math.abs(Date.now() / 1000 - Number(t)) <= 300)) return false;
  const encoder = new TextEncoder();
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), hmac, false, ['verify']);
  const signed = new Uint8Array(await new Blob([encoder.encode(t + '.'), rawBody]).arrayBuffer());
  for (const each of signatures) {
    const bytes = Uint8Array.from(each.replace('v1=', '').match(/../g) ?? [], (hex) => parseInt(hex, 16));
    if (await crypto.subtle.verify('HMAC', key, bytes, signed)) return true;
  }
  return false;
}`,
  Python: `import hashlib, hmac, time

# raw_body: the bytes as they came.
def is_genuine(secret: str, header: str, raw_body: bytes) -> bool:
    stamp, *signatures = header.split(",")
    t = stamp.removeprefix("t=")
    if not t.isdigit() or abs(time.time() - int(t)) > 300:
        return False
    digest = hmac.new(secret.encode(), t.encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    return any(hmac.compare_digest(each, "v1=" + digest) for each in signatures)`,
  Go: `// rawBody: the bytes as they came.
func isGenuine(secret, header string, rawBody []byte) bool {
	parts := strings.Split(header, ",")
	t := strings.TrimPrefix(parts[0], "t=")
	at, err := strconv.ParseInt(t, 10, 64)
	if age := time.Now().Unix() - at; err != nil || age > 300 || age < -300 {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(append([]byte(t+"."), rawBody...))
	expected := []byte("v1=" + hex.EncodeToString(mac.Sum(nil)))
	for _, each := range parts[1:] {
		if hmac.Equal([]byte(each), expected) {
			return true
		}
	}
	return false
}`,
} as const;
