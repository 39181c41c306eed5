// Turns each textarea with data-language into an editor. The textarea stays the
// field of the form and always holds the text, so that the page works the same
// when this file does not run.
import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { go } from "@codemirror/lang-go";
import { SQLite, sql } from "@codemirror/lang-sql";
import { HighlightStyle, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { autosave } from "./autosave.js";
import { notePastes } from "./paste.js";

// The colours are those of the stylesheet, which knows both schemes.
const colours = HighlightStyle.define([
	{ tag: tags.comment, color: "var(--c-comment)" },
	{ tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--c-keyword)" },
	{ tag: [tags.string, tags.special(tags.string), tags.character], color: "var(--c-string)" },
	{ tag: [tags.number, tags.bool, tags.null], color: "var(--c-number)" },
	{ tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName)), tags.typeName], color: "var(--c-name)" },
]);

// The marks of the linter are pictures in data: addresses, which the page's
// policy forbids; here they are signs and a wavy line.
const look = EditorView.theme({
	"&": { height: "100%", color: "var(--text)", backgroundColor: "var(--panel)", fontSize: ".875rem" },
	"&.cm-focused": { outline: "3px solid var(--accent)", outlineOffset: "-1px" },
	".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
	".cm-content": { caretColor: "var(--text)" },
	".cm-cursor": { borderLeftColor: "var(--text)" },
	"&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--selection)" },
	".cm-selectionMatch": { backgroundColor: "var(--sunken)" },
	".cm-gutters": { color: "var(--muted)", backgroundColor: "var(--sunken)", borderRight: "1px solid var(--line)" },
	".cm-activeLine": { backgroundColor: "transparent" },
	".cm-activeLineGutter": { color: "var(--text)", backgroundColor: "transparent" },
	"&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--hit)" },
	"&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--bad-soft)" },
	".cm-panels": { color: "var(--text)", backgroundColor: "var(--sunken)" },
	".cm-panels button, .cm-panels input": { color: "var(--text)", backgroundColor: "var(--panel)", backgroundImage: "none", border: "1px solid var(--edge)" },
	".cm-tooltip": { color: "var(--text)", backgroundColor: "var(--panel)", border: "1px solid var(--edge)" },
	".cm-lintRange": { backgroundImage: "none", textDecoration: "underline wavy var(--bad)" },
	".cm-lint-marker": { width: "1em", height: "1.5em" },
	".cm-lint-marker-error": { content: '"✗"', color: "var(--bad)" },
	".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
});

const languages = { go: () => go(), sql: () => sql({ dialect: SQLite }) };

// The Go compiler counts columns in bytes from 1, the editor in UTF-16 units
// from the start of the text.
function positionOf(doc, line, column) {
	const l = doc.line(Math.min(Math.max(line, 1), doc.lines));
	const before = new TextEncoder().encode(l.text).slice(0, Math.max(column - 1, 0));
	return Math.min(l.from + new TextDecoder().decode(before).length, l.to);
}

function diagnosticsOf(list, doc) {
	return list.map(({ line, column, message }) => {
		const from = positionOf(doc, line, column);
		const word = doc.sliceString(from, doc.lineAt(from).to).match(/^\w+/);
		return { from, to: Math.min(from + (word ? word[0].length : 1), doc.length), severity: "error", message };
	});
}

// The editor lives in a shadow root: there its styles are sheets of their own,
// and the page's policy needs no exception for them.
function mount(textarea, pastes) {
	const height = textarea.offsetHeight;
	const { form } = textarea;
	const host = document.createElement("div");
	host.className = "code";
	host.style.height = `${height}px`; // the size of the textarea: nothing moves
	const root = host.attachShadow({ mode: "open" });
	const view = new EditorView({
		root,
		parent: root,
		doc: textarea.value,
		extensions: [
			lineNumbers(), highlightActiveLineGutter(), highlightActiveLine(), highlightSpecialChars(), history(), drawSelection(),
			indentOnInput(), bracketMatching(), closeBrackets(), search({ top: true }), highlightSelectionMatches(), lintGutter(),
			languages[textarea.dataset.language](), syntaxHighlighting(colours), look,
			indentUnit.of("\t"), EditorState.tabSize.of(4),
			EditorState.phrases.of(JSON.parse(form.dataset.phrases || "{}")),
			keymap.of([{ key: "Mod-s", run: () => form.dispatchEvent(new Event("save")), preventDefault: true }]),
			keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...lintKeymap, indentWithTab]),
			EditorView.contentAttributes.of({ tabindex: "0", "aria-label": textarea.labels[0].textContent, "aria-description": textarea.dataset.keys }),
			pastes?.extensions ?? [],
			EditorView.updateListener.of((update) => {
				if (!update.docChanged) return;
				textarea.value = update.state.doc.toString();
				textarea.dispatchEvent(new Event("input", { bubbles: true }));
			}),
		],
	});
	pastes?.edits(textarea.dataset.file, view);
	textarea.after(host);
	textarea.hidden = true;
	textarea.labels[0].addEventListener("click", () => view.focus());
	const mark = (list) => view.dispatch(setDiagnostics(view.state, diagnosticsOf(list, view.state.doc)));
	const first = JSON.parse(textarea.dataset.diagnostics || "[]");
	if (first.length > 0) mark(first);
	form.addEventListener("checked", (event) => {
		mark(event.detail[textarea.name] ?? []);
		form.querySelector(`#${textarea.id}-diagnostics`)?.replaceChildren(); // it was of the text before
	});
}

const form = document.querySelector("form[data-drafts]");
if (form) autosave(form); // before the editors: it may bring a text back
const files = form?.querySelector(".files");
files?.classList.add("all-shown"); // a file that is not shown has no size to take over
const pastes = form?.dataset.pastes === undefined ? null : notePastes(form); // in a sitting
document.querySelectorAll("textarea[data-language]").forEach((textarea) => mount(textarea, pastes));
files?.classList.remove("all-shown");
