// nested.tsx - a field of a form that is an object of its own, with a table of its own: <ContractForm custom={{ guardrails: nested(IntegrationGuardrails) }}>.
import { type Errors, FieldRow, type Form, type OwnControl, errorAt, typedOf, valueOf } from "./form";

function objectOf(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text || "{}") as Record<string, unknown> | null) ?? {};
  } catch {
    return {};
  }
}

function Nested({ form, text, set, errors }: { form: Form; text: string; set: (text: string) => void; errors: Errors }) {
  const now = objectOf(text);
  return (
    <div class="nested">
      {form.map((f) => (
        <FieldRow key={f.name} field={f} value={typedOf(f, now[f.name])} error={errorAt(errors, f.name)} set={(typed) => {
          const next = { ...now };
          const value = typed === "" ? null : valueOf(f, typed);
          if (value === undefined || value === null || (Array.isArray(value) && !value.length)) delete next[f.name];
          else next[f.name] = value;
          set(Object.keys(next).length ? JSON.stringify(next) : "");
        }} />
      ))}
    </div>
  );
}

/** The control for it; what is empty is left out, and so has its default. */
export function nested(form: Form, without: string[] = []): OwnControl {
  const asked = form.filter((f) => !f.unused && !without.includes(f.name));
  return Object.assign(((value, set, errors) => <Nested form={asked} text={String(value)} set={set} errors={errors} />) satisfies OwnControl, { inside: asked.map((f) => f.name) });
}
