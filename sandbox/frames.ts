// What goes over a pipe between the service and the sandbox process: frames of a small JSON header and a text that is only passed on.
//   u32 length of all that follows, u32 length of the header, the header, the text (UTF-8, little endian numbers)
import type { Socket } from 'node:net';

/** A larger frame is a bug of its sender. */
const MAX_FRAME_BYTES = 1 << 29;

export function writeFrame(socket: Socket, header: object, text: string): void {
  const headerText = JSON.stringify(header);
  const headerBytes = Buffer.byteLength(headerText);
  const textBytes = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(8 + headerBytes + textBytes);
  frame.writeUInt32LE(4 + headerBytes + textBytes, 0);
  frame.writeUInt32LE(headerBytes, 4);
  frame.write(headerText, 8);
  frame.write(text, 8 + headerBytes);
  socket.write(frame);
}

/**
 * Calls back for each frame as it becomes whole.
 * @returns what to give the chunks to; throws on a frame that can't be one
 */
export function frameReader<Header>(take: (header: Header, text: string) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let held = 0;
  let wanted = 4;
  return (chunk) => {
    chunks.push(chunk);
    held += chunk.length;
    if (held < wanted) return;
    let all = chunks.length === 1 ? chunk : Buffer.concat(chunks, held);
    while (all.length >= 4) {
      const length = all.readUInt32LE(0);
      if (length < 4 || length > MAX_FRAME_BYTES) throw new Error(`a frame of ${length} bytes`);
      if (all.length < 4 + length) break;
      const headerEnd = 8 + all.readUInt32LE(4);
      if (headerEnd > 4 + length) throw new Error('a frame without its header');
      const header = JSON.parse(all.toString('utf8', 8, headerEnd)) as Header;
      const text = all.toString('utf8', headerEnd, 4 + length);
      all = all.subarray(4 + length);
      take(header, text);
    }
    chunks = all.length > 0 ? [all] : [];
    held = all.length;
    wanted = held >= 4 ? 4 + all.readUInt32LE(0) : 4;
  };
}
