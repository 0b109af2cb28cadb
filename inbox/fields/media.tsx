// Fields whose value is a recording: audio, camera, markupImage, video; and the barcode. What records is loaded when it is first wanted.
import { lazy } from './lazy.tsx';
import { useEffect, useState } from 'preact/hooks';
import { type Field, textOf } from '../form/types.ts';
import type { Text } from '../texts/index.ts';
import { newUuid } from '../store/uuid.ts';
import { useUi } from '../views/context.ts';
import { controlAttributes, Framed, type FieldProps } from './label.tsx';

type Medium = 'audio' | 'camera' | 'markupImage' | 'video';

const NAMES: Record<Medium, { folder: string; extension: string; start: Text; shown: 'audio' | 'img' | 'video' }> = {
  audio: { folder: 'audio', extension: 'm4a', start: 'startRecording', shown: 'audio' },
  camera: { folder: 'image', extension: 'jpg', start: 'takePhoto', shown: 'img' },
  markupImage: { folder: 'image', extension: 'jpg', start: 'markUpPhoto', shown: 'img' },
  video: { folder: 'video', extension: 'mp4', start: 'startVideo', shown: 'video' },
};

const Capture = lazy(() => import('../capture/dialogs.tsx').then((module) => module.CaptureDialog));
const Scan = lazy(() => import('../capture/dialogs.tsx').then((module) => module.ScanDialog));

const startOf = (field: Field): Text => {
  const source = textOf(field.source, 'source', 'camera');
  return field.type === 'markupImage' && source !== 'camera' ? 'markUpImage' : NAMES[field.type as Medium].start;
};

export function MediaField({ field, value, problem, onChange }: FieldProps) {
  const { say, services } = useUi();
  const [isOpen, setOpen] = useState(false);
  const { folder, extension, shown } = NAMES[field.type as Medium];
  const keep = async (blob: Blob): Promise<void> => {
    const name = `rcs/${folder}/${newUuid()}.${extension}`;
    await services.keepMedium(name, blob);
    setOpen(false);
    onChange(name);
  };
  const name = typeof value === 'string' ? value : null;
  const { 'aria-required': _required, 'aria-invalid': _invalid, ...attributes } = controlAttributes(field, problem);
  return (
    <Framed field={field} problem={problem}>
      {name !== null && <Kept name={name} as={shown} />}
      <div class="row">
        <button type="button" class="button" {...attributes} onClick={() => setOpen(true)}>
          <span dir="auto">{name === null ? textOf(field.source, 'placeholder') || say(startOf(field)) : say('again')}</span>
        </button>
        {name !== null && (
          <button type="button" class="quiet-button" onClick={() => onChange(null)}>
            {say('clear')}
          </button>
        )}
      </div>
      {isOpen && <Capture field={field} onDone={keep} onClose={() => setOpen(false)} />}
    </Framed>
  );
}

/** What was recorded, from this device. */
function Kept({ name, as }: { name: string; as: 'audio' | 'img' | 'video' }) {
  const { say, services } = useUi();
  const [source, setSource] = useState<string | null>(null);
  useEffect(() => {
    let made: string | null = null;
    let isOver = false;
    void services.medium(name).then((blob) => {
      if (isOver || !blob) return;
      made = URL.createObjectURL(blob);
      setSource(made);
    });
    return () => {
      isOver = true;
      setSource(null);
      if (made !== null) URL.revokeObjectURL(made);
    };
  }, [name]);
  if (source === null) return <p class="quiet">{say('recorded')}</p>;
  if (as === 'img') return <img class="kept" src={source} alt={say('recorded')} />;
  return as === 'audio' ? (
    <audio class="kept" controls src={source} aria-label={say('recorded')} />
  ) : (
    <video class="kept" controls playsInline src={source} aria-label={say('recorded')} />
  );
}

export function Barcode({ field, value, problem, onChange }: FieldProps) {
  const { say } = useUi();
  const [isOpen, setOpen] = useState(false);
  return (
    <Framed field={field} problem={problem} control={field.key}>
      <div class="row">
        <input
          {...controlAttributes(field, problem)}
          type="text"
          autoComplete="off"
          dir="auto"
          value={typeof value === 'string' ? value : ''}
          onInput={({ currentTarget }) => onChange(currentTarget.value === '' ? null : currentTarget.value)}
        />
        <button type="button" class="button" onClick={() => setOpen(true)}>
          <span dir="auto">{textOf(field.source, 'placeholder') || say('scanBarcode')}</span>
        </button>
      </div>
      {isOpen && (
        <Scan
          onDone={(code) => {
            setOpen(false);
            onChange(code);
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </Framed>
  );
}
