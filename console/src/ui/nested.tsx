// nested.tsx - a field of a form that is an object of its own, with a table of its own: <ContractForm custom={{ guardrails: nested(IntegrationGuardrails) }}>.
import { type Errors, FieldRow, type Form, type OwnControl, errorAt, errorsIn, typedOf, valueOf } from "./form";

function objectOf(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text || "{}") as Record<string, unknown> | null) ?? {};
  } catch {
    return {};
  }
}

type Own = Record<string, OwnControl>;

function Nested({ form, text, set, errors, custom }: { form: Form; text: string; set: (text: string) => void; errors: Errors; custom: Own }) {
  const now = objectOf(text);
  return (
    <div class="nested">
      {form.map((f) => {
        const put = (typed: string | boolean | string[]): void => {
          const next = { ...now };
          const value = typed === "" ? null : valueOf(f, typed);
          if (value === undefined || value === null || (Array.isArray(value) && !value.length)) delete next[f.name];
          else next[f.name] = value;
          set(Object.keys(next).length ? JSON.stringify(next) : "");
        };
        const typed = typedOf(f, now[f.name]);
        return <FieldRow key={f.name} field={f} value={typed} error={errorAt(errors, f.name)} set={put} control={custom[f.name]?.(typed, put, errorsIn(errors, f.name), {})} />;
      })}
    </div>
  );
}

/** The control for it; what is empty is left out, and so has its default. */
export function nested(form: Form, without: string[] = [], custom: Own = {}): OwnControl {
  const asked = form.filter((f) => !f.unused && !without.includes(f.name));
  return Object.assign(((value, set, errors) => <Nested form={asked} text={String(value)} set={set} errors={errors} custom={custom} />) satisfies OwnControl, { inside: asked.map((f) => f.name) });
}
