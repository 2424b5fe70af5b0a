/** Addresses inside, in every spelling that a URL, a resolver or a router may turn into one. */

/** The name of a test says what the spelling is. The port of a server on loopback follows. */
const LOCAL_SPELLINGS = [
  ...['127.0.0.1', '127.0.0.1.', '127.255.255.254', '0.0.0.0', '0'],
  // Short, decimal, octal, hexadecimal, and mixed.
  ...['127.1', '127.0.1', '2130706433', '0177.0.0.1', '017700000001', '0x7f000001', '0x7f.0.0.1', '0x7f.1', '0177.0x1'],
  // Full-width and circled digits, ideographic stops, percent-encoding.
  ...['127。0。0。1', '１２７.0.0.1', '①②⑦.0.0.1', '%31%32%37.0.0.1'],
  ...['localhost', 'LOCALHOST.', 'a.localhost', 'ⓛocalhost'],
  ...['[::1]', '[0:0:0:0:0:0:0:1]', '[::]'],
  // IPv4-mapped, -compatible and -translated.
  ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[::7f00:1]', '[::ffff:0:127.0.0.1]'],
  // NAT64, well-known and local, 6to4, Teredo.
  ...['[64:ff9b::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2001:0:7f00:1::1]'],
];

/** Private, link-local, metadata, multicast, documentation, reserved; and names that are for inside. */
const OTHER_INSIDE = [
  ...['10.0.0.1', '172.16.0.1', '192.168.0.1', '100.64.0.1', '169.254.169.254', '[::ffff:169.254.169.254]'],
  ...['168.63.129.16', '100.100.100.200', '192.0.0.192', '198.18.0.1', '203.0.113.1'],
  ...['224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...['[fe80::1]', '[fec0::1]', '[fc00::1]', '[fd00:ec2::254]', '[ff02::1]', '[100::1]', '[100:0:0:1::1]'],
  ...['[2001:db8::1]', '[4000::1]'],
  ...['metadata.google.internal', 'printer.local', 'router'],
];

export const INSIDE = [...LOCAL_SPELLINGS, ...OTHER_INSIDE];
