import { parseUrl } from './parse-url.ts';

/** A name as it was meant: plain letters for full-width ones (NFKC), no white space or invisible marks around it. */
export function typedName(text: string): string {
  return (
    text
      .normalize('NFKC')
      .replace(/^[\s\p{Default_Ignorable_Code_Point}]+/u, '')
      // The look behind keeps a text of many blanks cheap.
      .replace(/(?<![\s\p{Default_Ignorable_Code_Point}])[\s\p{Default_Ignorable_Code_Point}]+$/u, '')
  );
}

/** One `@` between texts of what an address may hold (RFC 5322 §3.2.3), and nothing that belongs around one. */
export function isEmailAddress(text: string): boolean {
  return /^(?!')[^\s@<>()[\]:;,"\\]+@[^\s@<>()[\]:;,"'\\]+$/u.test(typedName(text));
}

const fourPartDecimal = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const mappedIpv4 = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/**
 * The canonical text of an IPv4 or IPv6 address, or null unless the text is strictly one: no port, no zone, no leading
 * zeros, no hexadecimal IPv4. An IPv4-mapped IPv6 address becomes the IPv4 address; IPv6 is written as
 * in RFC 5952, by the URL parser that browsers and Node share.
 */
export function canonicalIpAddress(text: string): string | null {
  if (fourPartDecimal.test(text)) return text;
  if (!/^[0-9a-fA-F:.]{2,45}$/.test(text) || !text.includes(':')) return null;
  const url = parseUrl(`http://[${text}]/`);
  if (!url) return null;
  const address = url.hostname.slice(1, -1);
  const mapped = mappedIpv4.exec(address);
  if (!mapped) return address;
  const [high, low] = [Number.parseInt(mapped[1] as string, 16), Number.parseInt(mapped[2] as string, 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
