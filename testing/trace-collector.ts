import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export type ReceivedSpan = {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  /** OTLP's number: 2 is ERROR. */
  status: number;
  attributes: Record<string, string | number>;
  resource: Record<string, string | number>;
};

export type TraceCollector = { url: string; spans: ReceivedSpan[]; text: () => string; close: () => Promise<void> };

/** A collector that takes OTLP over HTTP in protobuf (OTLP 1.5, opentelemetry-proto trace/v1). */
export async function traceCollector(): Promise<TraceCollector> {
  const spans: ReceivedSpan[] = [];
  let raw = '';
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    raw += body.toString('latin1');
    if (request.url === '/v1/traces') spans.push(...spansIn(body));
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    text: () => raw,
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

type Field = { number: number; value: number | Buffer };

/** The fields of a protobuf message: bytes for those with a length, else a number. */
function fieldsIn(message: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++] ?? 0;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(value);
    }
  };
  while (at < message.length) {
    const tag = varint();
    const [number, type] = [tag >> 3, tag & 7];
    if (type === 0) fields.push({ number, value: varint() });
    else {
      const length = type === 2 ? varint() : type === 1 ? 8 : 4;
      fields.push({ number, value: message.subarray(at, at + length) });
      at += length;
    }
  }
  return fields;
}

const all = (message: Buffer, number: number): Buffer[] =>
  fieldsIn(message).flatMap((field) => (field.number === number && Buffer.isBuffer(field.value) ? [field.value] : []));
const one = (message: Buffer, number: number): Buffer => all(message, number)[0] ?? Buffer.alloc(0);
const numberIn = (message: Buffer, number: number): number =>
  (fieldsIn(message).find((field) => field.number === number)?.value as number | undefined) ?? 0;

function attributesIn(pairs: Buffer[]): Record<string, string | number> {
  const entries = pairs.map((pair) => {
    const value = fieldsIn(one(pair, 2))[0]?.value ?? '';
    return [one(pair, 1).toString(), Buffer.isBuffer(value) ? value.toString() : value];
  });
  return Object.fromEntries(entries);
}

function spansIn(request: Buffer): ReceivedSpan[] {
  return all(request, 1).flatMap((ofResource) => {
    const resource = attributesIn(all(one(ofResource, 1), 1));
    return all(ofResource, 2)
      .flatMap((ofScope) => all(ofScope, 2))
      .map((span) => ({
        traceId: one(span, 1).toString('hex'),
        spanId: one(span, 2).toString('hex'),
        parentSpanId: one(span, 4).toString('hex'),
        name: one(span, 5).toString(),
        status: numberIn(one(span, 15), 3),
        attributes: attributesIn(all(span, 9)),
        resource,
      }));
  });
}
