/** The format and size of a PNG, WebP or JPEG by its own header; null for anything else. */
export function rasterOf(bytes: Buffer): { type: 'png' | 'webp' | 'jpg'; width: number; height: number } | null {
  try {
    return pngOf(bytes) ?? webpOf(bytes) ?? jpegOf(bytes);
  } catch (error) {
    // It ends in the middle of its header.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** PNG (W3C, third edition) §5.2 and §11.2.1: the signature, then the header chunk. */
function pngOf(bytes: Buffer) {
  if (bytes.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n' || bytes.toString('latin1', 12, 16) !== 'IHDR')
    return null;
  return { type: 'png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) } as const;
}

/** WebP (RFC 9649) §2.5 to §2.7: lossy, lossless or extended. */
function webpOf(bytes: Buffer) {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP') return null;
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { type: 'webp', width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff } as const;
    case 'VP8L': {
      const packed = bytes.readUInt32LE(21);
      return { type: 'webp', width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 } as const;
    }
    case 'VP8X':
      return { type: 'webp', width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 } as const;
    default:
      return null;
  }
}

/** Start-of-frame markers (ITU-T T.81, table B.1), without those that are tables. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** JPEG (ITU-T T.81 §B.1): segments up to the frame that says how large it is. */
function jpegOf(bytes: Buffer) {
  if (bytes.readUInt16BE(0) !== 0xffd8) return null;
  for (let at = 2; bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    if (isFrame(bytes.readUInt8(at + 1)))
      return { type: 'jpg', width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) } as const;
  }
  return null;
}
