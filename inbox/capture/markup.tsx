// Drawing on a picture: with finger, mouse or keyboard. What comes out is one JPEG.
import { useEffect, useRef, useState } from 'preact/hooks';
import { useUi } from '../views/context.ts';
import { jpegOf } from './camera.ts';

interface Stroke {
  readonly color: string;
  readonly points: readonly (readonly [number, number])[];
}

const MOST_PIXELS_WIDE = 2_048;
const COLORS = ['#d00000', '#ffd400', '#0060d0', '#000000', '#ffffff'];
/** Share of the picture's width. */
const PEN = 1 / 120;
const STEP = 1 / 50;

interface MarkupProps {
  /** A photo, an address, or the name of a document. */
  readonly picture: Blob | string;
  readonly onDone: (blob: Promise<Blob>) => Promise<void>;
  /** The picture cannot be had, or is none. */
  readonly onBroken: () => void;
}

export function Markup({ picture, onDone, onBroken }: MarkupProps) {
  const { say, services } = useUi();
  const canvas = useRef<HTMLCanvasElement>(null);
  const image = useRef<ImageBitmap | null>(null);
  const isDrawing = useRef(false);
  const [strokes, setStrokes] = useState<readonly Stroke[]>([]);
  const [color, setColor] = useState(COLORS[0] as string);
  const [pen, setPen] = useState<{ x: number; y: number; isDown: boolean } | null>(null);
  const [isReady, setReady] = useState(false);

  useEffect(() => {
    let isOver = false;
    const load = async (): Promise<void> => {
      const blob = typeof picture !== 'string' ? picture : await bytesOf(picture, services.documentBytes);
      const bitmap = await createImageBitmap(blob);
      if (isOver) return bitmap.close();
      image.current = bitmap;
      setReady(true);
    };
    load().catch(() => isOver || onBroken());
    return () => {
      isOver = true;
      image.current?.close();
    };
  }, []);

  useEffect(() => {
    const [target, source] = [canvas.current, image.current];
    if (target && source) draw(target, source, strokes, pen);
  }, [isReady, strokes, pen]);

  const extend = (point: readonly [number, number], isNew: boolean): void =>
    setStrokes((before) => {
      const last = before.at(-1);
      if (isNew || !last) return [...before, { color, points: [point] }];
      return [...before.slice(0, -1), { ...last, points: [...last.points, point] }];
    });
  const pointOf = ({ clientX, clientY }: PointerEvent): [number, number] => {
    const { left, top, width, height } = (canvas.current as HTMLCanvasElement).getBoundingClientRect();
    return [(clientX - left) / width, (clientY - top) / height];
  };
  const key = (event: KeyboardEvent): void => {
    const at = pen ?? { x: 0.5, y: 0.5, isDown: false };
    if (event.key === ' ' || event.key === 'Enter') {
      event.preventDefault();
      if (!at.isDown) extend([at.x, at.y], true);
      return setPen({ ...at, isDown: !at.isDown });
    }
    const [dx, dy] = ARROWS[event.key] ?? [0, 0];
    if (dx === 0 && dy === 0) return;
    event.preventDefault();
    const [x, y] = [within(at.x + dx * STEP), within(at.y + dy * STEP)];
    if (at.isDown) extend([x, y], false);
    setPen({ ...at, x, y });
  };
  const finish = async (): Promise<void> => {
    const [target, source] = [canvas.current, image.current];
    if (!target || !source) return;
    draw(target, source, strokes, null);
    await onDone(jpegOf(target));
  };

  return (
    <>
      <p id="markup-hint">{say('markUpHint')}</p>
      <canvas
        ref={canvas}
        class="markup"
        role="application"
        tabIndex={0}
        aria-label={say('drawing')}
        aria-describedby="markup-hint"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          isDrawing.current = true;
          extend(pointOf(event), true);
        }}
        onPointerMove={(event) => isDrawing.current && extend(pointOf(event), false)}
        onPointerUp={() => {
          isDrawing.current = false;
        }}
        onPointerCancel={() => {
          isDrawing.current = false;
        }}
        onKeyDown={key}
      />
      <div class="row">
        <fieldset class="pens">
          <legend class="hidden">{say('penColor')}</legend>
          {COLORS.map((one) => (
            <label key={one} class="pen" style={{ background: one }}>
              <input type="radio" name="pen" aria-label={one} checked={one === color} onChange={() => setColor(one)} />
            </label>
          ))}
        </fieldset>
        <button type="button" class="button" disabled={strokes.length === 0} onClick={() => setStrokes(strokes.slice(0, -1))}>
          {say('undo')}
        </button>
        <button type="button" class="button primary" disabled={!isReady} onClick={() => void finish()}>
          {say('use')}
        </button>
      </div>
    </>
  );
}

const ARROWS: Record<string, readonly [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const within = (share: number): number => Math.min(1, Math.max(0, share));

/** Of other sites only what they give away (CORS): a drawing on it could not be read otherwise. */
async function bytesOf(source: string, documentBytes: (name: string) => Promise<Blob>): Promise<Blob> {
  if (!/^(?:https?:\/\/|\/)/i.test(source)) return documentBytes(source);
  const image = new globalThis.Image();
  image.crossOrigin = 'anonymous';
  image.src = source;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
  canvas.getContext('2d')?.drawImage(image, 0, 0);
  return jpegOf(canvas);
}

function draw(
  canvas: HTMLCanvasElement,
  image: ImageBitmap,
  strokes: readonly Stroke[],
  pen: { x: number; y: number; isDown: boolean } | null,
): void {
  const scale = Math.min(1, MOST_PIXELS_WIDE / image.width);
  const [width, height] = [Math.round(image.width * scale), Math.round(image.height * scale)];
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext('2d');
  if (!context) return;
  context.fillStyle = '#ffffff';
  context.fillRect(0, 0, width, height);
  context.drawImage(image, 0, 0, width, height);
  context.lineCap = 'round';
  context.lineJoin = 'round';
  context.lineWidth = Math.max(2, width * PEN);
  for (const { color, points } of strokes) {
    context.strokeStyle = color;
    context.beginPath();
    points.forEach(([x, y], at) => (at === 0 ? context.moveTo(x * width, y * height) : context.lineTo(x * width, y * height)));
    const [first] = points;
    if (first && points.length === 1) context.lineTo(first[0] * width + 0.1, first[1] * height);
    context.stroke();
  }
  if (!pen) return;
  context.strokeStyle = pen.isDown ? '#d00000' : '#0060d0';
  context.lineWidth = 2;
  context.strokeRect(pen.x * width - 8, pen.y * height - 8, 16, 16);
}
