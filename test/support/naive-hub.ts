import type { Socket } from 'node:net';

/** A hub that answers from the head alone, as simple servers do, and takes what follows it for the next request. */
export type NaiveHub = {
  /** The lines of each head that arrived. */
  heads: string[][];
  serve: (socket: Socket) => void;
  /** Resolves once every connection is closed. */
  closed: () => Promise<void>;
};

/** A naive hub that begins once `mark` has arrived on a connection, so that it has seen everything that it could see. */
export function naiveHub(mark: string): NaiveHub {
  const heads: string[][] = [];
  const closes: Promise<unknown>[] = [];
  return {
    heads,
    async closed() {
      await Promise.all(closes);
    },
    serve(socket) {
      closes.push(new Promise((resolve) => socket.once('close', resolve)));
      let unread = '';
      let isOver = false;
      socket.on('data', (chunk) => {
        unread += chunk.toString('latin1');
        if (unread.includes(mark)) answer();
      });
      socket.on('end', answer);
      socket.on('error', () => {});

      function answer(): void {
        while (!isOver && unread.includes('\r\n\r\n')) {
          const [head = ''] = unread.split('\r\n\r\n', 1);
          unread = unread.slice(head.length + 4);
          heads.push(head.split('\r\n'));
          isOver = /^connection:.*\bclose\b/im.test(head);
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n${isOver ? 'Connection: close\r\n' : ''}\r\nok`);
        }
        socket.end();
      }
    },
  };
}
