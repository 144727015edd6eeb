// Numbers in cells of the table: shorter than those of layouts/format.py, which stand in sentences.

// Grid --------------------------------------------------------------------------------------------------------------

export const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

export function numberText(value, unit) {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (unit === "B" && value >= 1024) {
    const step = Math.min(Math.floor(Math.log2(value) / 10), UNITS.length - 1);
    return `${(value / 1024 ** step).toFixed(1)} ${UNITS[step]}`;
  }
  if (unit === "s") {
    const whole = Math.round(value);
    if (value < 60) return `${Number(value.toPrecision(3))} s`;
    if (whole < 3600) return `${Math.floor(whole / 60)} m ${String(whole % 60).padStart(2, "0")} s`;
    return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, "0")} m`;
  }
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) return value.toExponential(3).replace(/\.?0+e/, "e");
  return Number(value.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 10 });
}
