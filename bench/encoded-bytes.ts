import { get } from 'node:http';

/** The bytes of an English answer as they are sent, in brotli where it may be; fetch would decode them. */
export async function encodedBytes(url: string): Promise<Buffer> {
  const headers = { 'accept-encoding': 'br', accept: 'text/html', 'accept-language': 'en' };
  return await new Promise((resolve, reject) => {
    get(url, { headers }, async (answer) => resolve(Buffer.concat(await answer.toArray()))).on('error', reject);
  });
}
