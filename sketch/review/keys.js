// Single keys press the buttons that name them, unless someone types or has switched them off.
"use strict";
const key = "alike-review-keys";
const keep = (value) => { try { if (value !== undefined) localStorage.setItem(key, value); return localStorage.getItem(key); } catch { return null; } };
const label = document.getElementById("keys");
if (label) {
  const box = label.querySelector("input");
  label.hidden = false;
  box.checked = keep() !== "off";
  box.addEventListener("change", () => keep(box.checked ? "on" : "off"));
  document.addEventListener("keydown", (e) => {
    if (!box.checked || e.ctrlKey || e.altKey || e.metaKey || e.repeat || e.isComposing) return;
    if (e.target.closest("input:not([type=checkbox]), textarea, select")) return;
    const button = document.querySelector(`[data-key="${CSS.escape(e.key.toLowerCase())}"]`);
    if (button) { e.preventDefault(); button.click(); }
  });
}
